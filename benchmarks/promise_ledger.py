"""PromiseLedger over simulated years with known truth: the union of its errors, and days to an alarm.

Scores of negatives are normal with a mean that moves, so the true rate of every threshold is known on
every day. All worlds go through the weeks together: thresholds are order statistics, and what a
monitor says follows from counts. The first worlds of every kind also go through PromiseLedger,
FixedFPRClassifier and RateMonitor themselves, which must say the same on the same days. Results are
kept in ``results/promise_ledger.json``; finished cells are not run again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import norm

from aucuba.threshold import FixedFPRClassifier, PromiseLedger, RateMonitor
from aucuba.threshold._order_statistic import joint_ranks
from aucuba.threshold._sequences import (
    CHANGES,
    advance_detector_by_counts,
    log_average,
    log_evidence_above,
    log_evidence_below,
)
from benchmarks._promise_worlds import FirstColumn
from reproductions.tables import markdown_table, write_signed

NAME = "promise_ledger"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
STORE = RESULT.with_suffix(".json")
LIMIT, CONFIDENCE, RUN_LENGTH = 0.05, 0.95, 730
WEEK, COLLECTED, N_CHECKED = 7, 3, 3
YEAR = 52 * WEEK
DAYS, PER_DAY = 3 * YEAR, 100
# Weeks begin on Mondays, and day 4 is the first one.
MONDAY = 4
FACTORS, SIZES = (1.2, 1.5, 2.0), (100, 1_000)
# How the mean moves. "held at the limit" moves it so that the rate of every threshold in use is the
# limit, where false statements are most likely.
DRIFTS = ("none", "steps", "slow", "seasons", "held at the limit")


def means_of_days(drift, n_worlds, rng):
    """Mean score of the negatives, of every world on every day."""
    shape = (n_worlds, DAYS)
    if drift == "steps":
        return np.cumsum(
            (rng.random(shape) < 1 / YEAR) * rng.normal(scale=0.25, size=shape), axis=1
        )
    if drift == "slow":
        return np.cumsum(rng.normal(scale=0.012, size=shape), axis=1)
    if drift == "seasons":
        phase = rng.random((n_worlds, 1))
        return 0.15 * np.sin(2 * np.pi * (np.arange(DAYS) / YEAR + phase))
    return np.zeros(shape)


def error_of(k):
    """The error of the k-th calibration, and of its monitor."""
    return (1 - CONFIDENCE) / (2 * k * (k + 1))


def threshold_of(scores, k):
    """The threshold that the k-th calibration sets on scores of negatives."""
    rank = joint_ranks(scores.size, [LIMIT], error_of(k))[0]
    return np.partition(scores, rank - 1)[rank - 1]


@dataclass
class Monitors:
    """What the monitors of some worlds have counted, and what they say."""

    k: np.ndarray
    n: np.ndarray = field(init=False)
    s: np.ndarray = field(init=False)

    def __post_init__(self):
        self.n, self.s = np.zeros(self.k.shape), np.zeros(self.k.shape)
        self.detector = np.full((self.k.size, len(CHANGES)), -np.inf)
        self.top = np.full(self.k.size, -np.inf)
        self.is_broken = np.zeros(self.k.size, dtype=bool)

    def restart(self, worlds):
        """Begin new monitors of the next calibrations."""
        self.k[worlds] += 1
        self.n[worlds] = self.s[worlds] = 0
        self.is_broken[worlds] = False
        self.acknowledge(worlds)

    def acknowledge(self, worlds):
        self.detector[worlds], self.top[worlds] = -np.inf, -np.inf

    def add(self, worlds, n, s, days):
        """Count a cohort of so many days."""
        self.n[worlds] += n
        self.s[worlds] += s
        above = log_evidence_above(self.n[worlds], self.s[worlds], LIMIT)
        self.is_broken[worlds] |= above >= self._level(worlds)
        found = advance_detector_by_counts(self.detector[worlds], n, s, LIMIT, float(days))
        self.detector[worlds] = found
        self.top[worlds] = np.maximum(self.top[worlds], log_average(found))

    def _level(self, worlds):
        return -np.log(error_of(self.k[worlds]) / 2)

    def is_ok(self, worlds):
        below = log_evidence_below(self.n[worlds], self.s[worlds], LIMIT)
        return below >= self._level(worlds)

    @property
    def changed(self):
        return self.top >= np.log(RUN_LENGTH)


@dataclass
class Record:
    """What happened in one world, to be repeated by the library."""

    # (day, scores of the rows by day) of every calibration, and (day, rows against) of every week.
    calibrations: list = field(default_factory=list)
    weeks: list = field(default_factory=list)


def worlds(drift, n_worlds, rng):
    """Three years in which every alarm is followed by a calibration on rows after it."""
    means, monitors = means_of_days(drift, n_worlds, rng), Monitors(np.zeros(n_worlds, dtype=int))
    threshold, begin = np.zeros(n_worlds), np.zeros(n_worlds, dtype=int)
    watching = np.zeros(n_worlds, dtype=bool)
    # The sum and the largest value so far of the running means of the true rate.
    total, days, largest = (np.zeros(n_worlds) for _ in range(3))
    wrong = {name: np.zeros(n_worlds, dtype=bool) for name in ("calibration", "ok", "broken")}
    records = [Record() for _ in range(min(N_CHECKED, n_worlds))]
    for today in range(0, DAYS, WEEK):
        ready = np.flatnonzero(~watching & (today - begin == COLLECTED * WEEK))
        for world in ready:
            of_day = means[world, begin[world] : today]
            scores = rng.normal(size=(of_day.size, PER_DAY)) + of_day[:, None]
            threshold[world] = threshold_of(scores.ravel(), monitors.k[world] + 1)
            wrong["calibration"][world] |= norm.sf(threshold[world] - of_day).mean() > LIMIT
            if world < len(records):
                records[world].calibrations.append((int(begin[world]), scores))
        monitors.restart(ready)
        watching[ready] = True
        total[ready] = days[ready] = largest[ready] = 0
        seen = np.flatnonzero(watching)
        rates = norm.sf(threshold[seen, None] - means[seen, today : today + WEEK])
        if drift == "held at the limit":
            rates = np.full(rates.shape, LIMIT)
        against = rng.binomial(PER_DAY, rates)
        monitors.add(seen, float(PER_DAY * WEEK), against.sum(axis=1), WEEK)
        running = (total[seen, None] + np.cumsum(rates, axis=1)) / (
            days[seen, None] + np.arange(1, WEEK + 1)
        )
        total[seen] += rates.sum(axis=1)
        days[seen] += WEEK
        largest[seen] = np.maximum(largest[seen], running.max(axis=1))
        is_ok = np.zeros(n_worlds, dtype=bool)
        is_ok[seen] = monitors.is_ok(seen)
        # At the limit itself both count as false.
        wrong["ok"][seen] |= is_ok[seen] & (running[:, -1] >= LIMIT - 1e-12)
        alarm = monitors.is_broken | monitors.changed
        wrong["broken"] |= watching & monitors.is_broken & (largest <= LIMIT + 1e-12)
        for world, counts in zip(seen, against, strict=True):
            if world < len(records):
                said = [bool(of[world]) for of in (monitors.is_broken, monitors.changed, is_ok)]
                records[world].weeks.append((today, counts, said, float(threshold[world])))
        stopped = watching & alarm
        watching[stopped] = False
        # Rows of the day on which the monitor was asked may not calibrate.
        begin[stopped] = today + 2 * WEEK
    for record in records:
        check(record)
    return [list(map(int, one)) for one in zip(monitors.k, *wrong.values(), strict=True)]


def check(record):
    """Repeat a world with the library, and compare thresholds and what the monitors say."""
    ledger, weeks = PromiseLedger(CONFIDENCE), list(record.weeks)
    for place, (first, scores) in enumerate(record.calibrations):
        X, time = scores.reshape(-1, 1), MONDAY + first + np.repeat(np.arange(len(scores)), PER_DAY)
        model = FixedFPRClassifier(FirstColumn(), LIMIT, cv="prefit")
        options = {"average_run_length": f"{RUN_LENGTH} days", "cohort": "week"}
        fitted = ledger.calibrate(model, X, np.zeros(len(X), dtype=int), time=time, **options)
        last = place + 1 == len(record.calibrations)
        until = DAYS if last else record.calibrations[place + 1][0]
        while weeks and weeks[0][0] < until:
            day, counts, said, threshold = weeks.pop(0)
            assert np.isclose(threshold, fitted.threshold_, rtol=0, atol=1e-9)
            compare(ledger.monitor, MONDAY + day, counts, PER_DAY, said)
    assert not weeks
    assert ledger.is_guaranteed


def compare(monitor, first, counts, per_day, said):
    """Feed some days to a monitor, and compare what it says."""
    flagged = np.arange(per_day) < np.asarray(counts)[:, None]
    event = first + np.repeat(np.arange(len(flagged)), per_day)
    y, as_of = np.zeros(event.size, dtype=int), first + len(flagged)
    monitor.update(y, flagged.ravel(), event_time=event, as_of=as_of)
    found = [monitor.status == "broken", monitor.changed, monitor._state.evidence.is_ok]
    if found[: len(said)] != said:
        raise AssertionError(f"day {first}: the library says {found}, not {said}")


def delays(factor, per_day, n_worlds, rng):
    """Days from a drift after one good year to "changed" and to "broken"; None if not seen."""
    scores = rng.normal(size=(n_worlds, COLLECTED * WEEK * per_day))
    before = np.minimum(norm.sf([threshold_of(one, 1) for one in scores]), LIMIT)
    every, monitors = np.arange(n_worlds), Monitors(np.ones(n_worlds, dtype=int))
    found = {"changed": np.full(n_worlds, np.inf), "broken": np.full(n_worlds, np.inf)}
    options = {"average_run_length": f"{RUN_LENGTH} days", "label_horizon": 0}
    repeated = RateMonitor(LIMIT, confidence=1 - error_of(1) / 2, **options)
    for day in range(3 * YEAR):
        if day == YEAR:
            monitors.acknowledge(every)
            repeated.acknowledge(day)
        rate = before if day < YEAR else np.full(n_worlds, factor * LIMIT)
        against = rng.binomial(per_day, rate)
        monitors.add(every, float(per_day), against, 1)
        if not monitors.is_broken[0]:
            said = [False, bool(monitors.changed[0])]
            compare(repeated, day, against[:1], per_day, said)
        if day >= YEAR:
            for name, said in (("changed", monitors.changed), ("broken", monitors.is_broken)):
                found[name][said] = np.minimum(found[name][said], day + 1 - YEAR)
    return [
        [None if np.isinf(one) else int(one) for one in pair]
        for pair in zip(*found.values(), strict=True)
    ]


def cells(n_worlds, n_delays):
    """Every cell: its key, its number of worlds, and what is run."""
    for drift in DRIFTS:
        yield f"drift: {drift}", n_worlds, lambda rng, drift=drift: worlds(drift, n_worlds, rng)
    for per_day in SIZES:
        for factor in FACTORS:
            key = f"delay: {factor:g} {per_day}"
            yield key, n_delays, lambda rng, f=factor, n=per_day: delays(f, n, n_delays, rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1_000, help="worlds per kind of drift")
    parser.add_argument("--delays", type=int, default=500, help="worlds per drift of a known size")
    options = parser.parse_args()
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for place, (key, n_worlds, run) in enumerate(cells(options.worlds, options.delays)):
        if len(store.get(key, ())) != n_worlds:
            store[key] = run(np.random.default_rng([0, place]))
            STORE.write_text(json.dumps(store, separators=(",", ":")) + "\n", encoding="utf-8")
    write(store, options)


def write(store, options) -> None:
    errors, delays = [], []
    for key, _, _ in cells(options.worlds, options.delays):
        found = store[key]
        if key.startswith("drift"):
            table = np.array(found, dtype=float)
            shares = [f"{one:.1%}" for one in table[:, 1:].mean(axis=0)]
            union = f"{table[:, 1:].any(axis=1).mean():.1%}"
            many = f"{table[:, 0].mean():.2f}", f"{table[:, 0].max():.0f}"
            errors.append([key.partition(": ")[2], len(found), *many, *shares, union])
            continue
        _, factor, per_day = key.split()
        days = np.array(found, dtype=float)
        columns = np.column_stack([days, np.fmin(days[:, 0], days[:, 1])])
        columns[np.isnan(columns)] = np.inf
        row = [factor, f"{int(per_day):,}", len(found)]
        for column in columns.T:
            row += [_shown(np.quantile(column, part, method="higher")) for part in (0.5, 0.9)]
        delays.append(row)
    bar = 0.05 + 3 * np.sqrt(0.05 * 0.95 / options.worlds)
    text = [
        "# PromiseLedger over three years",
        f"FixedFPRClassifier with max_fpr {LIMIT}, {PER_DAY} negatives per day with labels, confidence "
        f"{CONFIDENCE} for everything, weekly cohorts, a look every week for three years of 52 weeks, "
        f"average_run_length '{RUN_LENGTH} days'. From the second Monday after `broken` or `changed` "
        f"the negatives of {COLLECTED * WEEK} days set a new threshold. Drifts of the mean score, in "
        "standard deviations: steps of sd 0.25, one per year on average; a random walk of sd 0.012 per "
        "day; seasons of amplitude 0.15; and rows whose rate is held at the limit, whatever the "
        "threshold. "
        "A calibration is broken if the rate of its threshold on the days of its rows is above the "
        "limit; `ok` is false if the mean rate of the rows counted by then is not below it, `broken` "
        "if no running mean was above it. The last column, worlds with any of these, may reach 5 % "
        f"({bar:.1%} with three standard errors). The first {N_CHECKED} worlds of every kind also went "
        "through the library, which set the same thresholds and said the same in the same weeks.",
        markdown_table(
            [
                *("drift", "worlds", "calibrations, mean", "most", "a calibration broken"),
                *("a false `ok`", "a false `broken`", "any of these"),
            ],
            errors,
        ),
        "Days from a drift to the alarm (median and 90 % quantile): a year at the rate of the fresh "
        "threshold (or the limit, if lower), then a rate of so many times the limit for two years, "
        "cohorts of a day and a look every day. A `changed` that was raised in the good year is "
        "acknowledged on the day of the drift.",
        markdown_table(
            [
                *("rate / limit", "negatives per day", "worlds", "`changed`", "90 %"),
                *("`broken`", "90 %", "either", "90 %"),
            ],
            delays,
        ),
    ]
    given = f"--worlds {options.worlds} --delays {options.delays}"
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME} {given}")


def _shown(days):
    return "not seen" if np.isinf(days) else f"{days:.0f}"


if __name__ == "__main__":
    main()
