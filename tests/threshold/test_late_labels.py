"""RateMonitor with labels that come late or never: beside a recount of all rows, row by row."""

import json
from datetime import timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba.threshold import RateMonitor
from aucuba.threshold._sequences import log_evidence_above, log_evidence_below

COUNTED = {
    "fpr": lambda y, f: (not y, f),
    "tpr": lambda y, f: (y, not f),
    "precision": lambda y, f: (f, not y),
}


def evidence(pairs, allowed):
    """The largest evidence for broken after any cohort, from (counted, against) of each."""
    n, s = np.cumsum(np.reshape(pairs, (-1, 2)), axis=0).T
    return max(0.0, float(log_evidence_above(n, s, allowed).max(initial=0.0)))


def pair_of(rate, rows):
    """Counted rows and rows against; ``rows`` are pairs (label, flag)."""
    known = [COUNTED[rate](y, f) for y, f in rows]
    return sum(c for c, _ in known), sum(c and a for c, a in known)


def by_cohort(rows, days):
    """Lists of the rows (day, flag, label) of every cohort that has any, in order."""
    cohorts = sorted({day // days for day, *_ in rows})
    return [[row for row in rows if row[0] // days == one] for one in cohorts]


row = st.tuples(
    st.integers(0, 5),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 9)),
)


@settings(max_examples=60)
@given(st.lists(row, min_size=1, max_size=12), st.sampled_from(list(COUNTED)), st.integers(0, 12))
def test_early_evidence_is_below_that_of_every_completion(rows, rate, today):
    horizon, limit = 4, 0.3 if rate == "fpr" else 0.7
    seen = [r for r in rows if r[0] <= today]
    monitor = RateMonitor(limit, rate=rate, label_horizon=horizon)
    for day in range(today + 1):
        feed(monitor, seen, day)
    open_rows = [k for k, r in enumerate(seen) if r[3] is None or r[0] + r[3] > today]
    lowest = np.inf
    for labels in product([False, True], repeat=min(len(open_rows), 7)):
        known = dict(zip(open_rows, labels, strict=False))
        full = [(day, f, known.get(k, y)) for k, (day, f, y, _) in enumerate(seen)]
        pairs = [pair_of(rate, [(y, f) for _, f, y in part]) for part in by_cohort(full, 1)]
        lowest = min(lowest, evidence(pairs, 0.3))
    assert monitor.log_evidence <= lowest + 1e-9


def feed(monitor, rows, today):
    """One day: register its rows, with the labels that come at once, and add those that come now."""
    new = [r for r in rows if r[0] == today]
    monitor.update(
        np.array([float(y) if delay == 0 else np.nan for _, _, y, delay in new]),
        np.array([f for _, f, _, _ in new], dtype=bool),
        event_time=np.full(len(new), today),
        label_time=np.full(len(new), today),
        as_of=today,
    )
    late = [r for r in rows if r[3] not in (None, 0) and r[0] + r[3] == today]
    monitor.update_labels(
        np.array([y for _, _, y, _ in late], dtype=bool),
        np.array([f for _, f, _, _ in late], dtype=bool),
        event_time=[float(day) for day, *_ in late],
        label_time=np.full(len(late), float(today)),
        as_of=today,
    )


def completed(rows, rate, horizon, unlabelled, today, statement):
    """(counted, against) per mature cohort, each unlabelled row set by brute force."""
    pairs = []
    for part in by_cohort([r for r in rows if r[0] + 1 + horizon <= today], 1):
        total = np.zeros(2)
        for _, flag, label, delay in part:
            if delay is not None and delay <= horizon:
                total += pair_of(rate, [(label, flag)])
                continue
            either = [pair_of(rate, [(one, flag)]) for one in (False, True)]
            # The statement is least favoured by a row against, then by none, then by one in favour.
            worst_first = sorted(either, key=lambda pair: 2 * pair[1] - pair[0], reverse=True)
            total += {
                "negative": either[0],
                "drop": (0, 0),
                "worst": worst_first[0] if statement == "ok" else worst_first[-1],
            }[unlabelled]
        pairs.append(total)
    return pairs


@settings(max_examples=60)
@given(
    st.lists(row, min_size=1, max_size=30),
    st.sampled_from(list(COUNTED)),
    st.sampled_from(["worst", "negative", "drop"]),
)
def test_counts_are_those_of_a_recount(rows, rate, unlabelled):
    horizon, limit, today = 3, 0.3 if rate == "fpr" else 0.7, 20
    monitor = RateMonitor(limit, rate=rate, label_horizon=horizon, unlabelled=unlabelled)
    for day in range(today + 1):
        feed(monitor, rows, day)
    for name, pair in (
        ("ok", monitor._state.evidence.for_ok),
        ("broken", monitor._state.evidence.for_broken),
    ):
        expected = completed(rows, rate, horizon, unlabelled, today, name)
        assert pair == pytest.approx(np.sum(expected, axis=0))
    assert monitor.log_evidence == pytest.approx(evidence(expected, 0.3), abs=1e-9)
    assert monitor.n_late == sum(d is not None and d > horizon for *_, d in rows)
    assert monitor.n_waiting == 0
    # The calendar of updates does not matter: all rows at once, with the times of their labels.
    once = RateMonitor(limit, rate=rate, label_horizon=horizon, unlabelled=unlabelled)
    once.update(
        [None if d is None else y for _, _, y, d in rows],
        np.array([f for _, f, _, _ in rows]),
        event_time=[day for day, *_ in rows],
        label_time=[0 if d is None else day + d for day, _, _, d in rows],
        as_of=today,
    )
    assert once.log_evidence == pytest.approx(monitor.log_evidence, abs=1e-9)
    assert (once.status, once.interval) == (monitor.status, pytest.approx(monitor.interval))


def stream(n_days=120, per_day=50, miss=0.3, delays=(0, 60), seed=0):
    """Positives only; hits are labelled at once, misses later."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(n_days), per_day)
    missed = rng.uniform(size=day.size) < miss
    delay = np.where(missed, rng.integers(*delays, size=day.size, endpoint=True), 0)
    return day, ~missed, delay


def watched(day, flagged, delay, **options):
    """Every status of daily looks."""
    monitor = RateMonitor(0.8, rate="tpr", **options)
    said = []
    for today in range(int(day.max()) + 1):
        new = day == today
        monitor.update(
            np.where(delay[new] == 0, 1.0, np.nan), flagged[new], event_time=day[new], as_of=today
        )
        late = (day + delay == today) & (delay > 0)
        monitor.update_labels(
            np.ones(late.sum()),
            flagged[late],
            event_time=day[late],
            label_time=np.full(late.sum(), today),
            as_of=today,
        )
        said.append(monitor.status)
    return monitor, said


def test_misses_that_are_labelled_late_do_not_make_ok():
    day, flagged, delay = stream(delays=(20, 90))
    naive = RateMonitor(0.8, rate="tpr")
    said = set()
    for today in range(120):
        known = day + delay == today
        said.add(naive.update(np.ones(known.sum()), flagged[known]).status)
    assert "ok" in said
    _, said = watched(day, flagged, delay, label_horizon=90)
    assert "ok" not in said


def test_broken_comes_before_the_horizon():
    _, said = watched(*stream(miss=0.5, delays=(0, 20)), label_horizon=90)
    assert said.index("broken") < 60
    _, said = watched(*stream(miss=0.1, delays=(0, 20)), label_horizon=20)
    assert said[-1] == "ok"
    assert said.index("ok") > 20


def test_early_evidence_comes_with_the_end_of_a_day_and_with_labels():
    monitor = RateMonitor(0.1, label_horizon=30)
    monitor.update([0] * 5 + [None] * 5, [1] * 10, event_time=[0] * 10, as_of=0)
    assert monitor.log_evidence == 0
    five = monitor.update([], [], event_time=[], as_of=1).log_evidence
    assert five == pytest.approx(log_evidence_above(5.0, 5.0, 0.1))
    monitor.update_labels([0] * 5, [1] * 5, event_time=[0] * 5, label_time=[1] * 5, as_of=1)
    assert monitor.log_evidence == pytest.approx(log_evidence_above(10.0, 10.0, 0.1))


def test_dates_as_text_are_those_of_numbers():
    rng = np.random.default_rng(0)
    day, flagged = rng.integers(0, 9, size=90), rng.random(90) < 0.3
    first = np.datetime64("2026-01-05")
    by_number = RateMonitor(0.1, label_horizon=4)
    by_number.update(np.zeros(90), flagged, event_time=day, as_of=9)
    for dates in ((first + day).astype(str), (first + day).astype(object), first + day):
        by_date = RateMonitor(0.1, label_horizon=4)
        by_date.update(np.zeros(90), flagged, event_time=dates, as_of=str(first + 9))
        assert by_date.n_counted == by_number.n_counted == np.sum(day < 5)
        assert by_date.log_evidence == by_number.log_evidence > 0


def test_the_order_of_registration_within_a_day_does_not_matter():
    monitor = RateMonitor(0.1, label_horizon=9)
    flagged = np.arange(200) < 20
    for rows in (flagged, ~flagged):
        monitor.update(
            np.zeros(rows.sum()), flagged[rows], event_time=np.zeros(rows.sum()), as_of=0.9
        )
        assert monitor.log_evidence == 0
    monitor.update([], [], event_time=[], as_of=1)
    assert monitor.status == "unsure"


def test_rows_cannot_join_a_day_that_was_looked_at():
    """Rows that are registered with their labels come in the order of these, not of their events."""
    monitor = RateMonitor(0.05, label_horizon=25)
    monitor.update([0], [1], event_time=[0], as_of=1)
    with pytest.raises(ValueError, match=r"1 rows from before day 1 .* treated those days"):
        monitor.update([0], [0], event_time=[0], as_of=20)
    # Yesterday's rows may follow its labels' update, as long as nothing looked at that day.
    monitor = RateMonitor(0.05, label_horizon=25)
    monitor.update([np.nan], [0], event_time=[0], as_of=0)
    monitor.update_labels([0], [0], event_time=[0], label_time=[2], as_of=2)
    monitor.update([np.nan], [0], event_time=[1], as_of=2)
    again = RateMonitor.from_json(monitor.to_json())
    with pytest.raises(ValueError, match="1 rows from before day 2 "):
        again.update([np.nan], [0], event_time=[1], as_of=2)
    again.update([np.nan], [0], event_time=[2], as_of=2)


def test_labels_that_miss_their_cohort_are_a_warning():
    monitor = RateMonitor(0.8, "tpr", label_horizon=3)
    monitor.update([None], [0], event_time=[0], as_of=7)
    state = monitor.to_json()
    with pytest.warns(UserWarning, match="1 labels were made in time, .* update_labels before"):
        monitor.update_labels([1], [0], event_time=[0], label_time=[3], as_of=7)
    assert monitor.n_late == 1
    # As an error it changes nothing.
    monitor = RateMonitor.from_json(state)
    with pytest.raises(UserWarning, match="made in time"):
        monitor.update_labels([1], [0], event_time=[0], label_time=[3], as_of=7)
    assert monitor.to_json() == state
    # Made after the horizon, it is late by itself.
    monitor.update_labels([1], [0], event_time=[0], label_time=[4], as_of=7)
    assert monitor.n_late == 1


def test_weeks_begin_on_mondays():
    monitor = RateMonitor(0.5, label_horizon=timedelta(days=2), cohort="week")
    # 2 March 2026 is a Monday.
    days = ["2026-03-01", "2026-03-02"] * 9
    monitor.update(np.zeros(18), np.zeros(18), event_time=days, as_of="2026-03-03")
    assert monitor.n_counted == 0
    monitor.update([], [], event_time=[], as_of="2026-03-04")
    assert monitor.n_counted == 9
    monitor.update([], [], event_time=[], as_of="2026-03-10")
    assert monitor.n_counted == 9
    monitor.update([], [], event_time=[], as_of="2026-03-11")
    assert monitor.n_counted == 18
    assert "ok over all counted rows since 2026-02-23, 0 observed in 18" in repr(monitor)


def test_groups_count_once_in_their_cohort():
    monitor = RateMonitor(0.5, label_horizon=1)
    monitor.update(
        [0, np.nan, 0, 0], [1, 0, 0, 1], groups=["a", "a", "b", "b"], event_time=[0.0] * 4, as_of=0
    )
    labels = {"event_time": [0.5], "label_time": [1], "as_of": 1}
    with pytest.raises(ValueError, match=r"of the group 'b' come for the day .* 0 such rows wait"):
        monitor.update_labels([0], [0], groups=["b"], **labels)
    monitor.update_labels([0], [0], groups=["a"], **labels)
    monitor.update([], [], event_time=[], as_of=2)
    assert (monitor.n_counted, monitor.n_against) == (2, 1.0)


@settings(max_examples=40)
@given(st.lists(st.tuples(row, st.integers(0, 2)), min_size=1, max_size=30), st.booleans())
def test_groups_are_those_of_a_recount(rows, by_text):
    """Groups of a day, given in parts, as a sum over each by hand; with dates as text too."""
    horizon, today = 9, 30
    first = np.datetime64("2026-01-01") if by_text else 0

    def when(days):
        found = first + np.array(days, dtype=int)
        return found.astype(str) if by_text else found

    monitor = RateMonitor(0.3, label_horizon=horizon)
    for day in range(today + 1):
        new = [(r, f"{r[0]}/{group}") for r, group in rows if r[0] == day]
        for part in (new[::2], new[1::2]):
            monitor.update(
                [float(y) if delay == 0 else None for (_, _, y, delay), _ in part],
                [f for (_, f, _, _), _ in part],
                [name for _, name in part],
                event_time=when([day] * len(part)),
                as_of=when([day])[0],
            )
        late = [(r, f"{r[0]}/{g}") for r, g in rows if r[3] and r[0] + r[3] == day]
        monitor.update_labels(
            [y for (_, _, y, _), _ in late],
            [f for (_, f, _, _), _ in late],
            [name for _, name in late],
            event_time=when([r[0] for r, _ in late]),
            label_time=when([day] * len(late)),
            as_of=when([day])[0],
        )
        monitor = RateMonitor.from_json(monitor.to_json())
        waiting = [r for r, _ in rows if r[0] <= day < r[0] + 1 + horizon]
        assert monitor.n_waiting == sum(r[3] is None or r[0] + r[3] > day for r in waiting)
    for name, pair in (
        ("ok", monitor._state.evidence.for_ok),
        ("broken", monitor._state.evidence.for_broken),
    ):
        expected = np.zeros(2)
        for group in {(r[0], g) for r, g in rows}:
            own = [r for r, g in rows if (r[0], g) == group]
            n, s = np.sum(completed(own, "fpr", horizon, "worst", today, name), axis=0)
            expected += (1, s / n) if n else (0, 0)
        assert pair == pytest.approx(expected)


def test_labels_of_an_unknown_group_change_nothing():
    monitor = RateMonitor(0.5, label_horizon=9)
    monitor.update([None] * 3, [1, 1, 0], ["a", "b", "b"], event_time=[0] * 3, as_of=1)
    before = monitor.to_json()
    for name, flag, n_waiting in (("c", 1, 0), ("a", 0, 0), ("b", 1, 1)):
        with pytest.raises(
            ValueError, match=f"2 labels .* group '{name}' .* which {n_waiting} such"
        ):
            monitor.update_labels(
                *([0, 0, 0], [1, flag, flag], ["a", name, name]),
                event_time=[0] * 3,
                label_time=[1] * 3,
                as_of=1,
            )
        assert monitor.to_json() == before


def test_only_flagged_rows_with_labels_say_nothing():
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(50), 40)
    for rate in ("fpr", "tpr", "precision"):
        for unlabelled in ("worst", "negative", "drop"):
            monitor = RateMonitor(0.4, rate=rate, label_horizon=5, unlabelled=unlabelled)
            flagged = rng.uniform(size=2000) < 0.5
            monitor.update(
                np.where(flagged, 1.0, np.nan), flagged, event_time=day, label_time=day, as_of=60
            )
            if rate == "precision":
                assert monitor.status == "ok"
            else:
                assert (monitor.status, monitor.reason) == ("unsure", "flagged_only")
            monitor.update([0], [0], event_time=[60], as_of=60)
            assert monitor.reason != "flagged_only"


def test_the_status_says_what_it_assumes():
    day = np.repeat(np.arange(50), 40)
    for unlabelled, reason in (
        ("worst", ""),
        ("negative", "reported_within_horizon"),
        ("drop", "missing_at_random"),
    ):
        monitor = RateMonitor(0.2, label_horizon=5, unlabelled=unlabelled)
        monitor.update(np.zeros(2000), np.zeros(2000), event_time=day, as_of=60)
        assert (monitor.status, monitor.reason) == ("ok", reason)


class TestRestarts:
    def test_ok_is_withheld_until_a_change_is_acknowledged(self):
        monitor = RateMonitor(0.1, average_run_length=50)
        monitor.update(np.zeros(600), np.arange(600) % 50 == 0)
        assert monitor.status == "ok"
        monitor.update(np.zeros(20), np.arange(20) < 6)
        assert (monitor.status, monitor.reason, monitor.changed) == ("unsure", "changed", True)
        monitor.acknowledge()
        assert (monitor.status, monitor.reason, monitor.changed) == ("ok", "", False)
        assert monitor.history[-1]["event"] == "acknowledged"
        assert RateMonitor.from_json(monitor.to_json()).history == monitor.history

    def test_a_window_forgets_the_good_years(self):
        def until_not_ok(**options):
            monitor = RateMonitor(0.1, average_run_length=1e300, **options)
            rng = np.random.default_rng(0)
            for _ in range(100):
                monitor.update(np.zeros(500), rng.uniform(size=500) < 0.05)
            assert monitor.status == "ok"
            for look in range(1000):
                if monitor.update(np.zeros(500), rng.uniform(size=500) < 0.15).status != "ok":
                    return look
            return np.inf

        assert until_not_ok(ok_window=5000) < 15 < until_not_ok()

    def test_every_run_has_its_part_of_the_error(self):
        monitor = RateMonitor(0.2, confidence=0.9, ok_window=100)
        errors = [monitor._state.evidence.ok_error(run) for run in range(1, 2000)]
        assert errors[:3] == pytest.approx([0.05, 0.1 / 6, 0.1 / 12])
        assert sum(errors) < 0.1 < sum(errors) + 1e-3
        for n_before in (0, 100, 200):
            found = None
            for n in range(1, 101):
                monitor.update([0], [0])
                if found is None and monitor.status == "ok":
                    found = n
            run = n_before // 100 + 1
            level = -np.log(0.1 / (run * (run + 1)))
            needed = next(n for n in range(1, 101) if log_evidence_below(n, 0, 0.2) >= level)
            assert found == needed

    def test_windows_of_days(self):
        day = np.repeat(np.arange(100), 30)
        monitor = RateMonitor(0.2, label_horizon=3, ok_window=timedelta(days=30))
        monitor.update(np.zeros(3000), np.zeros(3000), event_time=day, as_of=200)
        assert monitor._state.evidence.run == 4
        assert monitor._state.evidence.since == 90
        assert monitor._state.evidence.for_ok == [300, 0]
        assert monitor.n_counted == 3000

    def test_a_run_length_in_days_does_not_depend_on_the_rows_per_day(self):
        # Of a state M that starts one bet per day, M less the days never grows on average.
        for per_day in (5, 80):
            monitor = RateMonitor(0.2, label_horizon=0, average_run_length="40 days")
            rng = np.random.default_rng(0)
            sums = []
            for _ in range(300):
                monitor = RateMonitor(0.2, label_horizon=0, average_run_length=timedelta(40))
                day = np.repeat(np.arange(10), per_day)
                flagged = rng.uniform(size=day.size) < 0.2
                monitor.update(np.zeros(day.size), flagged, event_time=day, as_of=11)
                sums.append(np.exp(monitor._state.evidence.detector[:2]))
            assert np.mean(sums) < 10 * 1.3
        assert monitor.average_run_length == "40 days"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"event_time": None}, "event_time and as_of are needed"),
        ({"as_of": None}, "event_time and as_of are needed"),
        ({"as_of": 3}, "must follow the calendar"),
        ({"as_of": "2026-01-01"}, "must follow the calendar"),
        ({"event_time": [9, 12]}, "event_time lies after as_of in 1 rows"),
        ({"event_time": [9]}, "event_time has 1 entries for 2 rows"),
        ({"event_time": ["2026-01-01"] * 2}, "must both be dates, or both numbers"),
        ({"event_time": [9, np.nan]}, "event_time has 1 missing"),
        ({"event_time": [2, 9]}, "1 rows from before day 6 .* treated those days as complete"),
        ({"event_time": [20260109, 9]}, "has 20260109, but numbers count days"),
        ({"label_time": [9, 12]}, "label_time lies after as_of in 1 rows"),
        ({"label_time": [8, 9]}, "label_time lies before event_time"),
        ({"y_true": [0, 2]}, "y_true has the values"),
    ],
)
def test_bad_updates_change_nothing(change, match):
    monitor = RateMonitor(0.2, label_horizon=3)
    monitor.update([0, np.nan], [0, 1], event_time=[4, 9], as_of=9)
    before = monitor.to_json()
    good = {"y_true": [0, 1], "y_flag": [0, 1], "event_time": [9, 10], "as_of": 10}
    with pytest.raises(ValueError, match=match):
        monitor.update(**(good | change))
    assert monitor.to_json() == before
    monitor.update(**good)


def test_bad_labels_change_nothing():
    monitor = RateMonitor(0.2, label_horizon=3)
    monitor.update([np.nan, np.nan], [0, 1], event_time=[8, 8], as_of=9)
    before = monitor.to_json()
    times = {"event_time": [8, 8], "label_time": [9, 9], "as_of": 9}
    with pytest.raises(
        ValueError, match=r"2 labels of flagged rows come for the day .* 1 such rows wait"
    ):
        monitor.update_labels([0, 1], [1, 1], **times)
    with pytest.raises(ValueError, match="y_true has 1 missing labels"):
        monitor.update_labels([0, None], [0, 1], **times)
    assert monitor.to_json() == before
    monitor.update_labels([0, 1], [0, 1], **times)
    with pytest.raises(ValueError, match="0 such rows wait"):
        monitor.update_labels([0, 1], [0, 1], **times)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"label_horizon": -1}, "label_horizon must be a number of at least 0, or a timedelta"),
        ({"label_horizon": "soon"}, "label_horizon must be"),
        ({"label_horizon": 3, "rate": "alerts"}, "needs no labels"),
        ({"cohort": "month"}, "cohort must be one of"),
        ({"unlabelled": "best"}, "unlabelled must be one of"),
        ({"ok_window": 0}, "ok_window must be"),
        ({"average_run_length": "3 days"}, "need label_horizon"),
        ({"average_run_length": "long"}, "must be a number or '730 days'"),
    ],
)
def test_bad_parameters(options, match):
    with pytest.raises(ValueError, match=match):
        RateMonitor(0.1, **options)


def test_without_a_horizon_there_are_no_times():
    monitor = RateMonitor(0.1)
    with pytest.raises(ValueError, match="need RateMonitor"):
        monitor.update([0], [0], event_time=[1], as_of=1)
    with pytest.raises(ValueError, match="needs RateMonitor"):
        monitor.update_labels([0], [0], event_time=[1], label_time=[1], as_of=1)


def test_json_and_frame_and_picture():
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(0)
    monitor = RateMonitor(0.2, label_horizon=3, average_run_length="365 days", ok_window=20)
    for day in range(40):
        today = np.datetime64("2026-01-01") + day
        flagged = rng.uniform(size=30) < (0.1 if day < 25 else 0.9)
        y = np.where(rng.uniform(size=30) < 0.3, np.nan, 0.0)
        monitor.update(y, flagged, event_time=np.full(30, today), as_of=today)
        monitor = RateMonitor.from_json(monitor.to_json())
    json.loads(monitor.to_json(), parse_constant=lambda name: pytest.fail(name))
    assert monitor.status == "broken"
    frame = monitor.to_frame()
    assert frame["as_of"].iloc[0] == "2026-01-01"
    assert frame["n_waiting"].iloc[-1] > 0
    ax = monitor.plot()
    assert "waiting" not in ax.get_ylabel()
    shaded = [other for other in ax.figure.axes if other is not ax]
    assert "wait for a label" in shaded[0].get_ylabel()
    plt.close("all")


def test_very_many_looks_are_thinned_and_every_change_is_kept():
    monitor = RateMonitor(0.2, average_run_length=30)
    rng = np.random.default_rng(0)
    said, now = [], None
    for look in range(12_000):
        monitor.update(np.zeros(1), rng.uniform(size=1) < (0.1 if look % 3000 < 2800 else 0.25))
        if monitor.changed and look % 7 == 0:
            monitor.acknowledge()
        if (monitor.status, monitor.changed) != now:
            now = (monitor.status, monitor.changed)
            said.append((monitor.n_counted, *now))
    history = monitor.history
    assert len(history) <= 2000
    kept = {(row["n_counted"], row["status"], row["changed"]) for row in history}
    assert set(said) <= kept
    assert history[-1]["n_counted"] == 12_000
    assert len(monitor.to_json()) < 100_000


def test_the_state_of_years_stays_small():
    monitor = RateMonitor(0.2, label_horizon=90)
    rng = np.random.default_rng(0)
    for day in range(1000):
        flagged = rng.uniform(size=200) < 0.15
        y = np.where(rng.uniform(size=200) < 0.5, np.nan, 0.0)
        when = np.full(200, np.datetime64("2020-01-01") + day)
        monitor.update(y, flagged, event_time=when, as_of=when[0])
    assert len(monitor._state.cohorts.cells) == 91
    assert len(monitor.to_json()) < 100_000


@pytest.mark.parametrize("together", [False, True])
def test_a_group_lies_within_a_cohort(together):
    monitor = RateMonitor(0.1, label_horizon=30, cohort="week")
    # Days 4 to 10 are the first whole week.
    monitor.update([0, 0], [0, 1], ["a", "a"], event_time=[4, 10], as_of=10)
    days, names = ([11, 18], ["b", "b"]) if together else ([11, 12], ["c", "a"])
    before = monitor.to_json()
    with pytest.raises(
        ValueError, match=r"The group '[ab]' has rows of the weeks that begin on days"
    ):
        monitor.update([0, 0], [0, 0], names, event_time=days, as_of=20)
    assert RateMonitor.from_json(before).n_waiting == 0
    monitor.update([0, 0], [0, 0], ["c", "d"], event_time=[11, 18], as_of=20)
    # Once its cohort is counted a name may come again.
    monitor.update([0], [0], ["a"], event_time=[60], as_of=60)
    assert monitor.n_counted == 3
    # Names of counted cohorts are forgotten, so that the state does not grow.
    assert set(monitor._state.cohorts._homes) == {"a"}
