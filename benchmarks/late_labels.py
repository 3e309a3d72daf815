"""RateMonitor with labels that come late or never, in simulated worlds with known truth.

Every day brings rows of which each counts against the rate or in its favour, with labels that come
after a number of days that depends on which. A stream is counts per day; whether the monitor says
"ok" or "broken" after n rows with s against is read off a table, since both are monotone in s. The
first streams of every world are also fed to RateMonitor itself, day by day, and must agree. Results of
worlds are kept in ``results/late_labels.json``; finished ones are not simulated again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aucuba.threshold import RateMonitor
from aucuba.threshold._sequences import log_evidence_above, log_evidence_below
from reproductions.tables import markdown_table, write_signed

NAME = "late_labels"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
STORE = RESULT.with_suffix(".json")
DAYS, PER_DAY, HORIZON = 365, 40, 90
LEVEL = np.log(20.0)
CHUNK, N_CHECKED = 250, 3
NEVER = HORIZON + 1
EARLY, LATE = (0, 5), (20, 90)


@dataclass(frozen=True)
class World:
    """A rate over time, and the days until labels of rows against it and in its favour.

    ``lost`` is the part of the labels that come after the horizon or never, of rows against the rate
    and in its favour.
    """

    words: str
    rate: str
    limit: float
    loss: tuple[float, float]
    unlabelled: str = "worst"
    against: tuple[int, int] = LATE
    favour: tuple[int, int] = EARLY
    lost: tuple[float, float] = (0.0, 0.0)
    changes_on: int = 100

    @property
    def allowed(self):
        return self.limit if self.rate == "fpr" else round(1 - self.limit, 12)

    @property
    def losses(self):
        """Probability that a row of each day counts against the rate."""
        return np.where(np.arange(DAYS) < self.changes_on, *self.loss)

    @property
    def truth(self):
        """The rate against which a statement about the rows of each number of days is judged."""
        losses, rows = self.losses, np.ones(DAYS)
        if self.unlabelled == "negative" and self.rate == "tpr":
            # Among the positives that are reported.
            losses, rows = (1 - self.lost[0]) * losses, 1 - self.lost[0] * losses
        elif self.unlabelled == "negative" and self.rate == "precision":
            # A positive that is not reported counts as a negative.
            losses = losses + self.lost[1] * (1 - losses)
        return np.cumsum(losses) / np.cumsum(rows)


# Of the rows that "negative" counts as positives a tenth of the misses is missing: this rate of misses
# among all positives is one of 0.2 among those that are reported.
REPORTED = 0.25 / (0.25 + 0.9)
# Of the flagged positives a tenth is not reported: this rate of negatives is one of 0.5 with them.
UNREPORTED = 1 - 0.5 / 0.9
# Worlds in which every statement is false; in the others "broken" is true.
GOOD = "at the limit"
FALSE_ALARMS = {"against": EARLY, "favour": LATE}
WORLDS = (
    World("at the limit", "tpr", 0.8, (0.2, 0.2)),
    World("0.70 throughout", "tpr", 0.8, (0.3, 0.3)),
    World("0.90, after 100 days 0.65", "tpr", 0.8, (0.1, 0.35)),
    World("at the limit, 10 % of misses never labelled", "tpr", 0.8, (0.2, 0.2), lost=(0.1, 0.0)),
    World(
        *("at the limit among the reported, 10 % of misses never labelled", "tpr", 0.8),
        *((REPORTED, REPORTED), "negative"),
        lost=(0.1, 0.0),
    ),
    World(
        *("at the limit, 10 % of all never labelled", "tpr", 0.8, (0.2, 0.2), "drop"),
        lost=(0.1, 0.1),
    ),
    World("0.70, 10 % of misses never labelled", "tpr", 0.8, (0.3, 0.3), lost=(0.1, 0.0)),
    World("at the limit", "precision", 0.5, (0.5, 0.5)),
    World("0.40 throughout", "precision", 0.5, (0.6, 0.6)),
    World("at the limit", "fpr", 0.05, (0.05, 0.05), **FALSE_ALARMS),
    World("0.075 throughout", "fpr", 0.05, (0.075, 0.075), **FALSE_ALARMS),
    World(
        *("at the limit among those not reported, 10 % of them never labelled", "fpr", 0.05),
        *((0.05, 0.05), "negative", *FALSE_ALARMS.values(), (0.1, 0.1)),
    ),
    World(
        *("at the limit, 10 % of all never labelled", "fpr", 0.05, (0.05, 0.05), "drop"),
        *(*FALSE_ALARMS.values(), (0.1, 0.1)),
    ),
    World(
        *("at the limit of the reported, 10 % of positives never labelled", "precision", 0.5),
        *((UNREPORTED, UNREPORTED), "negative"),
        lost=(0.0, 0.1),
    ),
    World(
        *("at the limit, 10 % of all never labelled", "precision", 0.5, (0.5, 0.5), "drop"),
        lost=(0.1, 0.1),
    ),
)


def tables(allowed, most):
    """For every n the fewest losses that make "broken", and the most that still make "ok"."""
    n = np.arange(1.0, most + 1)
    found = []
    for evidence, grows in ((log_evidence_above, True), (log_evidence_below, False)):
        low, high = np.full(n.size, -1.0), n + 1.0
        while np.any(high - low > 1):
            middle = np.floor((low + high) / 2)
            passed = evidence(n, middle, allowed) >= LEVEL
            low, high = (
                np.where(passed == grows, low, middle),
                np.where(passed == grows, middle, high),
            )
        found.append(high if grows else low)
    broken, ok = found
    return np.append(np.inf, np.where(broken > n, np.inf, broken)), np.append(-1.0, ok)


def drawn(world, rng, n_streams):
    """Rows by day and days until their label, against the rate and in its favour."""
    against = rng.binomial(PER_DAY, world.losses, size=(n_streams, DAYS))
    delays = []
    for count, (first, last), lost in zip(
        (against, PER_DAY - against), (world.against, world.favour), world.lost, strict=True
    ):
        chance = np.zeros(NEVER + 1)
        chance[first : last + 1] = (1 - lost) / (last + 1 - first)
        chance[NEVER] = lost
        delays.append(rng.multinomial(count, chance))
    return delays


def first_day(happened):
    """The first day on which something is so, infinite if never."""
    return np.where(happened.any(axis=1), happened.argmax(axis=1), np.inf)


def counted(world, against, favour, lost_against, lost_favour):
    """(n, s) for "ok" and for "broken" of rows by whether their labels have come."""
    # Rows without a label, as they count: for ok against (+1, +1) or not, for broken in favour or not.
    n, s = against + favour, against
    if world.unlabelled == "negative" and world.rate != "tpr":
        # Negatives are counted, and only flagged ones of them against.
        n = n + lost_against + lost_favour
        s = s + lost_against + (lost_favour if world.rate == "precision" else 0)
    if world.unlabelled != "worst":
        return (n, s), (n, s)
    if world.rate == "precision":
        every = n + lost_against + lost_favour
        return (every, s + lost_against + lost_favour), (every, s)
    return (n + lost_against, s + lost_against), (n + lost_favour, s)


def judged(world, against, favour, broken_at, ok_at):
    """First days of every statement, and whether "ok" was false, for streams of one chunk."""
    known = [np.cumsum(one[..., :NEVER], axis=2) for one in (against, favour)]
    all_of = [one.sum(axis=2) for one in (against, favour)]
    mature = counted(
        world,
        *(one[..., -1] for one in known),
        *(a - k[..., -1] for a, k in zip(all_of, known, strict=True)),
    )
    (n_ok, s_ok), (n_broken, s_broken) = (
        tuple(np.cumsum(x, axis=1) for x in pair) for pair in mature
    )
    # The cohort of day i is mature from day i + 1 + HORIZON on.
    says_ok = s_ok <= ok_at[n_ok]
    waits = np.maximum.accumulate(s_broken >= broken_at[n_broken], axis=1)
    # With labels on the day of the row: whole days in order, every label known.
    n_now, s_now = np.cumsum(all_of[0] + all_of[1], axis=1), np.cumsum(all_of[0], axis=1)
    now = first_day(s_now >= broken_at[n_now])
    # Labels as they come, in no order: what a monitor without a horizon is fed.
    came = [np.stack([_arrivals(stream) for stream in one]) for one in (against, favour)]
    n_came, s_came = np.cumsum(came[0] + came[1], axis=1), np.cumsum(came[0], axis=1)
    early = early_broken(world, against, favour, known, all_of, mature[1], broken_at)
    before = (world.truth > world.allowed - 1e-9)[None, :]
    return {
        "false ok": (says_ok & before).any(axis=1),
        "naive ok": ((s_came <= ok_at[n_came]) & before).any(axis=1),
        "broken": np.minimum(first_day(waits) + HORIZON + 1, early),
        "waits": first_day(waits) + HORIZON + 1,
        "now": now,
        "naive broken": first_day(s_came >= broken_at[n_came]),
        "first ok": first_day(says_ok) + HORIZON + 1,
    }


def _arrivals(delays):
    """Numbers of labels of a stream that come on each day."""
    day, delay = np.nonzero(delays[:, :NEVER])
    come = np.bincount(day + delay, delays[day, delay], minlength=DAYS + NEVER)
    return come[:DAYS].astype(int)


def early_broken(world, against, favour, known, all_of, mature, broken_at):
    """The first day on which some prefix of days is broken, waiting rows at their least harmful."""
    n_streams = against.shape[0]
    total = [np.cumsum(np.pad(one, ((0, 0), (1, 0))), axis=1) for one in mature]
    first = np.full(n_streams, np.inf)
    for today in range(1, DAYS):
        oldest = max(today - HORIZON, 0)
        # The present day is not over.
        days = np.arange(oldest, today)
        labelled = [one[:, days, today - days] for one in known]
        waiting = [a[:, days] - k for a, k in zip(all_of, labelled, strict=True)]
        best = counted(World("", world.rate, world.limit, world.loss), *labelled, *waiting)[1]
        n, s = (t[:, [oldest]] + np.cumsum(b, axis=1) for t, b in zip(total, best, strict=True))
        broken = (s >= broken_at[n]).any(axis=1)
        first = np.where(broken, np.minimum(first, today), first)
    return first


def check(world, against, favour, found, stream):
    """Feed one stream to RateMonitor and compare what it says, day by day."""
    labels = {"tpr": (1, 1), "fpr": (0, 0), "precision": (0, 1)}[world.rate]
    flags = {"tpr": (0, 1), "fpr": (1, 0), "precision": (1, 1)}[world.rate]
    monitor = RateMonitor(
        *(world.limit, world.rate),
        label_horizon=HORIZON,
        unlabelled=world.unlabelled,
        average_run_length=1e300,
    )
    first = {"broken": np.inf, "ok": np.inf}
    rows = [
        np.array([(d, k, c) for d in range(DAYS) for k, c in enumerate(one[stream, d]) if c])
        for one in (against, favour)
    ]
    for today in range(DAYS):
        for place, one in enumerate(rows):
            late = one[(one[:, 0] + one[:, 1] == today) & (one[:, 1] > 0) & (one[:, 1] < NEVER)]
            event = np.repeat(late[:, 0], late[:, 2])
            size = event.size
            monitor.update_labels(
                np.full(size, labels[place]),
                np.full(size, flags[place]),
                event_time=event,
                label_time=np.full(size, today),
                as_of=today,
            )
            new = one[one[:, 0] == today]
            y = np.repeat(np.where(new[:, 1] == 0, float(labels[place]), np.nan), new[:, 2])
            flag = np.full(y.size, flags[place])
            monitor.update(y, flag, event_time=np.full(y.size, today), as_of=today)
        if monitor.log_evidence >= LEVEL:
            first["broken"] = min(first["broken"], today)
        if monitor._state.evidence.is_ok:
            first["ok"] = min(first["ok"], today)
    for name, key in (("broken", "broken"), ("ok", "first ok")):
        expected = found[key][stream] if found[key][stream] < DAYS else np.inf
        if first[name] != expected:
            raise AssertionError(
                f"{world}: stream {stream} {name} on {first[name]}, not {expected}"
            )


def simulated(world, place, n_streams):
    broken_at, ok_at = tables(world.allowed, DAYS * PER_DAY)
    parts = []
    for chunk in range(0, n_streams, CHUNK):
        rng = np.random.default_rng([0, place, chunk])
        against, favour = drawn(world, rng, min(CHUNK, n_streams - chunk))
        found = judged(world, against, favour, broken_at, ok_at)
        if chunk == 0:
            for stream in range(N_CHECKED):
                check(world, against, favour, found, stream)
        parts.append(found)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    seen = joined["broken"] < DAYS
    both = seen & (joined["now"] < DAYS)
    slowest = np.max(joined["broken"][both] - joined["now"][both], initial=0)
    return {
        "streams": n_streams,
        "false ok": float(joined["false ok"].mean()),
        "naive ok": float(joined["naive ok"].mean()),
        "broken": float(seen.mean()),
        "broken now": float((joined["now"] < DAYS).mean()),
        "naive broken": float((joined["naive broken"] < DAYS).mean()),
        "median now": _median(joined["now"]),
        "median broken": _median(joined["broken"]),
        "median waits": _median(joined["waits"]),
        "slowest": float(slowest),
        "gained": None
        if not seen.any()
        else _median(joined["waits"][seen] - joined["broken"][seen]),
    }


def _median(days):
    middle = float(np.quantile(days, 0.5, method="higher"))
    return middle if middle < DAYS else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=5_000)
    options = parser.parse_args()
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for place, world in enumerate(WORLDS):
        key = f"{world.rate}: {world.words} ({world.unlabelled})"
        known = store.get(key, {})
        if known.get("streams", 0) < options.streams or not (GOOD in key or "gained" in known):
            store[key] = simulated(world, place, options.streams)
            STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
            print(key, store[key], flush=True)
    write(store)


def _days(value):
    return "not seen" if value is None else f"{value:.0f}"


def write(store):
    false, delays = [], []
    for key, one in store.items():
        is_good = GOOD in key
        rates = [f"{one[name]:.2%}" for name in ("naive ok", "false ok")]
        alarms = [f"{one[name]:.2%}" for name in ("naive broken", "broken")]
        n_streams = one["streams"]
        bar = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_streams)
        alarms = alarms if is_good else ["(true)", "(true)"]
        false.append([key, f"{n_streams:,}", *rates, *alarms, f"{bar:.2%}"])
        if not is_good:
            medians = [_days(one[f"median {name}"]) for name in ("now", "waits", "broken")]
            seen = [f"{one[name]:.1%}" for name in ("broken now", "broken")]
            delays.append([key, *seen, *medians, _days(one["gained"]), f"{one['slowest']:.0f}"])
    text = [
        "# RateMonitor with late labels",
        f"Streams of {DAYS} days with {PER_DAY} counted rows each; confidence "
        f"0.95, horizon {HORIZON} days, a look every day. Labels of hits (for precision: of rows in "
        f"its favour) come after {EARLY[0]} to {EARLY[1]} days and those of misses after {LATE[0]} to "
        f"{LATE[1]}; for FPR those of false alarms come early and the others late. `ok` is false on a "
        "day on which the true mean rate of the rows counted by then is beyond the limit or at it; "
        "that may happen in 5 % of the streams (the bar adds three standard errors), and so may a "
        "false `broken`. Labels as they come: the evidence of a monitor without a horizon. How rows "
        "without a label count is in brackets; for `negative` a positive is one that is reported "
        f"within the horizon, in the truth too. The first {N_CHECKED} streams of every world were also "
        "fed to RateMonitor, which said the same on the same days.",
        markdown_table(
            [
                *("world", "streams", "false `ok`, labels as they come", "false `ok`"),
                *("false `broken`, labels as they come", "false `broken`", "bar"),
            ],
            false,
        ),
        f"Streams with `broken` within {DAYS} days, and its median day: with all labels on the day of "
        "their rows, with whole days at the horizon alone, and by RateMonitor, which also has early "
        "evidence. Days gained by that: the median over streams of the difference of the last two. The "
        "last column is the largest number of days between the first and the last of the three in any "
        "stream with both; where all labels come within the horizon it may be "
        f"{HORIZON + 1}.",
        markdown_table(
            [
                *("world", "broken, labels at once", "broken, RateMonitor", "day, labels at once"),
                *("day, at the horizon", "day, RateMonitor", "days gained", "largest delay"),
            ],
            delays,
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
