"""Intervals, differences, operating points and the largest gap by segment, and rows from counts."""

from itertools import permutations

import numpy as np
import pytest

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import _segment_gap as gap_module
from aucuba.metrics import (
    compare_scores,
    from_counts,
    largest_gap,
    operating_point,
    partial_auc_score,
    rates_at_threshold,
    score_interval,
)
from aucuba.metrics._segment_gap import _Permutations, _Spread
from aucuba.metrics._segments import Segments
from aucuba.metrics._study import make_study
from tests.measure_cases import PARAMS, suited


def rows(seed=0, n=600, shift=1.5):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 4 == 0).astype(int)
    segment = rng.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    return y, np.round(rng.normal(size=n) + shift * y, 1), segment


def segments_of(metric, y, score, by, *, groups=None, weight=None, params=None, b=None):
    scores = [score] if b is None else [score, b]
    study = make_study(metric, params or {}, y, scores, groups=groups, sample_weight=weight)
    return Segments.split(study, by, weight)


@pytest.mark.filterwarnings(
    "ignore:The segments b, c have too few", "ignore:The uncertainty rests on"
)
@pytest.mark.parametrize("name", PARAMS)
def test_a_segment_has_the_interval_of_its_rows_at_the_joint_level(name):
    y, score, by = rows()
    score = suited(name, score)
    options = {"n_resamples": 40, "random_state": 0, **PARAMS[name]}
    table = score_interval(name, y, score, by=by, confidence=0.9, **options)
    assert [one.name for one in table] == ["a", "b", "c"]
    for one in table:
        inside = by == one.name
        alone = score_interval(name, y[inside], score[inside], confidence=0.9 ** (1 / 3), **options)
        assert (one.value, one.low, one.high) == (alone.value, alone.low, alone.high)
        assert (one.n_rows, one.n_positives) == (inside.sum(), y[inside].sum())
        assert one.method == alone.method


def test_groups_that_cross_segments_take_bonferronis_level():
    y, score, by = rows()
    crossing = np.arange(y.size) // 5
    inside = np.unique(by, return_inverse=True)[1] * 1000 + crossing
    for groups, level in ((inside, 0.95 ** (1 / 3)), (crossing, 1 - 0.05 / 3)):
        table = score_interval("auc", y, score, by=by, groups=groups)
        assert table[0].confidence == pytest.approx(level, abs=1e-15)
        alone = score_interval(
            "auc",
            y[by == "a"],
            score[by == "a"],
            groups=groups[by == "a"],
            confidence=table[0].confidence,
        )
        assert table[0].low == alone.low


def test_small_segments_stay_with_their_width():
    y, score, by = rows()
    by = by.astype(object)
    by[:8] = "none positive"
    y[:8] = 0
    by[8] = "one row"
    with pytest.warns(FewRowsWarning, match="none positive, one row") as caught:
        table = {one.name: one for one in score_interval("auc", y, score, by=by)}
    assert len(caught) == 1
    for name, n in (("none positive", 8), ("one row", 1)):
        assert np.isnan(table[name].value)
        assert (table[name].low, table[name].high, table[name].n_rows) == (0.0, 1.0, n)
    # A false positive rate needs no positives.
    with pytest.warns(FewRowsWarning):
        rates = score_interval(
            "rate_at_threshold", y, score, by=by, rate="fpr", threshold=0.5, method="exact"
        )
    found = {one.name: one for one in rates}["none positive"]
    assert found.value == np.mean(score[:8] >= 0.5)
    assert 0 < found.high - found.low < 1
    # Nor does an operating point that all segments share; groups of one segment are known.
    with pytest.warns(FewRowsWarning):
        points = operating_point(y, score, by=by, fpr=0.1, groups=np.arange(y.size) // 2)
    limits = {one.name: one for one in points}["none positive"].intervals["fpr"]
    assert (limits.low, limits.high) == (0.0, 1.0)
    with pytest.warns(FewRowsWarning):
        own = operating_point(y, score, by=by, fpr=0.1, thresholds="per_stratum", random_state=0)
    assert np.isnan({one.name: one.threshold for one in own}["one row"])
    with pytest.raises(ValueError, match="groups enter the intervals by segment; give by="):
        operating_point(y, score, fpr=0.1, groups=np.arange(y.size) // 2)


def test_weights_are_replication_and_zero_weights_absence():
    y, score, by = rows()
    copies = np.random.default_rng(1).integers(0, 4, y.size)
    whole = [np.repeat(one, copies) for one in (y, score, by)]
    weighted = {"sample_weight": copies, "weight_kind": "frequency"}
    got = score_interval("partial_auc", y, score, by=by, fpr_range=(0, 0.3), **weighted)
    want = score_interval("partial_auc", *whole[:2], by=whole[2], fpr_range=(0, 0.3))
    for one, other in zip(got, want, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)
        assert (one.n_rows, one.n_positives) == (other.n_rows, other.n_positives)
    options = {"n_permutations": 20, "random_state": 0}
    got = largest_gap("auc", y, score, by=by, **weighted, **options)
    assert got == largest_gap("auc", *whole[:2], by=whole[2], **options)


def test_tables_print_and_become_frames():
    pd = pytest.importorskip("pandas")
    y, score, by = rows()
    tables = {
        "value": score_interval("auc", y, score, by=by),
        "difference": compare_scores("auc", y, score, -score, by=by, n_resamples=50),
        "fpr high": operating_point(y, score, fpr=0.1, by=by),
    }
    for column, table in tables.items():
        frame = table.to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert list(frame["segment"]) == ["a", "b", "c"]
        assert list(frame.columns[:3]) == ["segment", "rows", "positives"]
        assert column in frame
        assert table._repr_html_().count("<tr>") == 4
        assert str(table).splitlines()[1].startswith("a ")


def test_a_comparison_by_segment_is_that_of_the_segments_rows():
    y, score, by = rows()
    other = score + np.random.default_rng(2).normal(size=y.size)
    scorers = {"x": score, "y": other, "z": -score}
    table = compare_scores("auc", y, scorers, reference="x", by=by, method="delong")
    assert [(one.segment, *one.names) for one in table[:3]] == [
        ("a", "y", "x"),
        ("a", "z", "x"),
        ("b", "y", "x"),
    ]
    for one in table:
        inside = by == one.segment
        pair = (scorers[name][inside] for name in one.names)
        alone = compare_scores("auc", y[inside], *pair, method="delong", confidence=0.95 ** (1 / 3))
        assert (one.low, one.high, one.p_value) == (alone.low, alone.high, alone.p_value)
    p = np.sort([one.p_value for one in table])
    assert max(one.p_holm for one in table) == pytest.approx(
        np.maximum.accumulate(np.minimum(1, p * np.arange(6, 0, -1)))[-1]
    )


def test_a_comparison_keeps_a_segment_of_one_class():
    y, score, by = rows()
    by[y == 0] = np.where(by[y == 0] == "c", "a", by[y == 0])
    with pytest.warns(FewRowsWarning, match="The segments c have"):
        table = compare_scores("auc", y, score, -score, by=by, n_resamples=50)
    last = table[2]
    assert (last.segment, last.low, last.high, last.p_value) == ("c", -1.0, 1.0, 1.0)
    assert np.isnan(last.difference)


@pytest.mark.parametrize("limit", [{"fpr": 0.1}, {"tpr": 0.7}, {"precision": 0.5}, {"k": 40}])
def test_operating_points_share_a_threshold_or_have_their_own(limit):
    y, score, by = rows()
    shared = operating_point(y, score, by=by, random_state=0, **limit)
    whole = operating_point(y, score, **limit)
    assert {one.threshold for one in shared} == {whole.threshold}
    assert sum(one.n_flagged for one in shared) == whole.n_flagged
    own = operating_point(y, score, by=by, thresholds="per_stratum", random_state=0, **limit)
    for one, other in zip(shared, own, strict=True):
        inside = by == one.name
        rates = rates_at_threshold(y[inside], score[inside], threshold=whole.threshold)
        assert (one.fpr, one.tpr) == pytest.approx((rates.fpr, rates.tpr), abs=1e-15)
        for rate in ("fpr", "tpr", "precision"):
            assert one.intervals[rate].low <= getattr(one, rate) <= one.intervals[rate].high
        alone = operating_point(y[inside], score[inside], **limit)
        assert (other.threshold, other.tpr) == (alone.threshold, alone.tpr)
        ((rate, interval),) = other.intervals.items()
        assert rate not in limit
        assert interval.low <= interval.value <= interval.high


def brute_force_statistic(y, score, by):
    """Studentised gap of two segments' AUC from pairs, with the shared spread written out."""
    values, squares, sizes = [], [], []
    for name in np.unique(by):
        pos, neg = (score[(by == name) & (y == one)] for one in (1, 0))
        above = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
        values.append(above.mean())
        parts = above.mean(1), above.mean(0)
        squares.append([np.sum((part - part.mean()) ** 2) for part in parts])
        sizes.append([pos.size, neg.size])
    squares, sizes = np.array(squares), np.array(sizes)
    shared = squares.sum(0) / (sizes - 1).sum(0)
    c = gap_module._SHARED_ROWS
    variance = np.sum((squares + c * shared) / (sizes - 1 + c) / sizes, axis=1)
    apart = [
        abs(values[k] - values[j]) / np.sqrt(variance[k] + variance[j])
        for k in range(len(values))
        for j in range(k)
    ]
    return max(apart)


def test_the_statistic_is_that_of_pairs_of_rows():
    y, score, by = rows(3, n=80)
    got = largest_gap("auc", y, score, by=by, n_permutations=1, random_state=0)
    assert got.statistic == pytest.approx(brute_force_statistic(y, score, by), abs=1e-12)
    values = {name: partial_auc_score(y[by == name], score[by == name]) for name in "abc"}
    assert got.values == tuple(values[name] for name in got.segments)
    assert got.difference == got.values[0] - got.values[1] > 0


def test_the_p_value_is_that_of_all_permutations():
    y, by = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    score = np.array([3.0, 4.0, 1.0, 2.5, 2.0, 0.5, 1.5, 2.2])
    seen, beyond = brute_force_statistic(y, score, by), []
    for first in set(permutations(by[:4])):
        for second in set(permutations(by[4:])):
            drawn = brute_force_statistic(y, score, np.array(first + second))
            beyond.append(drawn >= seen - 1e-9)
    got = largest_gap("auc", y, score, by=by, n_permutations=1000, random_state=0)
    assert 0.05 < np.mean(beyond) < 0.9
    assert got.p_value == pytest.approx(np.mean(beyond), abs=0.05)


def test_only_counted_rows_are_permuted_and_classes_stay():
    y, score, by = rows()
    drawn = _Permutations(segments_of("auc", y, score, by)).draw(np.random.RandomState(0))
    first = np.unique(by, return_inverse=True)[1]
    assert not np.array_equal(drawn, first)
    for one in (0, 1):
        assert np.array_equal(np.bincount(drawn[y == one]), np.bincount(first[y == one]))
    params = {"rate": "fpr", "threshold": 0.5}
    segments = segments_of("rate_at_threshold", y, score, by, params=params)
    drawn = _Permutations(segments).draw(np.random.RandomState(0))
    assert np.array_equal(drawn[y == 1], first[y == 1])
    assert not np.array_equal(drawn[y == 0], first[y == 0])


def test_groups_move_whole_or_permute_inside():
    y, score, _ = rows()
    groups = np.arange(600) // 6
    by = groups % 3
    drawn = _Permutations(segments_of("auc", y, score, by, groups=groups)).draw(
        np.random.RandomState(0)
    )
    assert not np.array_equal(drawn, by)
    assert all(np.unique(drawn[groups == one]).size == 1 for one in range(100))
    assert np.array_equal(np.bincount(drawn), np.bincount(by))
    crossing = np.arange(600) % 3
    drawn = _Permutations(segments_of("auc", y, score, crossing, groups=groups)).draw(
        np.random.RandomState(0)
    )
    assert not np.array_equal(drawn, crossing)
    for one in range(100):
        assert sorted(drawn[groups == one]) == sorted(crossing[groups == one])


def test_the_spread_of_a_rate_and_of_groups_by_hand():
    y, score, by = rows()
    params = {"rate": "tpr", "threshold": 1.0}
    spread = _Spread(segments_of("rate_at_threshold", y, score, by, params=params))
    hit = [score[(y == 1) & (by == name)] >= 1.0 for name in "abc"]
    n, p = np.array([one.size for one in hit]), np.array([one.mean() for one in hit])
    shared = np.sum(n * p * (1 - p)) / np.sum(n - 1)
    c = gap_module._SHARED_ROWS
    assert spread.values == pytest.approx(p, abs=1e-15)
    assert spread._variances == pytest.approx(
        (n * p * (1 - p) + c * shared) / (n - 1 + c) / n, abs=1e-12
    )
    groups = np.arange(600) // 2
    spread = _Spread(segments_of("rate_at_threshold", y, score, by, params=params, groups=groups))
    assert np.all(spread._variances > 0)


def test_a_gap_is_found_and_a_lead_that_differs_too():
    rng = np.random.default_rng(0)
    y, by = np.arange(600) % 3 == 0, np.repeat([0, 1, 2], 200)
    good = rng.normal(size=600) + np.where(by == 2, 0.0, 1.5) * y
    flat = rng.normal(size=600) + y
    options = {"by": by, "n_permutations": 99, "random_state": 0}
    found = largest_gap("auc", y, good, **options)
    assert found.p_value == 0.01
    assert found.segments[1] == 2
    assert largest_gap("auc", y, flat, **options).p_value > 0.05
    lead = largest_gap("auc", y, good, flat, **options)
    assert lead.p_value <= 0.02
    assert lead.segments[1] == 2
    assert str(lead).endswith("(99 permutations)")
    params = {"rate": "tpr", "threshold": 1.0}
    assert largest_gap("rate_at_threshold", y, good, **params, **options).p_value == 0.01
    assert largest_gap("bedroc", y, good, **options).p_value <= 0.02
    assert largest_gap("tpr_at_fpr", y, good, fpr=0.2, **options).p_value <= 0.02


@pytest.mark.parametrize("name", PARAMS)
def test_counts_give_what_the_rows_give(name):
    rng = np.random.default_rng(0)
    score = suited(name, np.arange(8.0))
    positives, negatives = rng.integers(0, 30, 8), rng.integers(0, 90, 8)
    positives[0], negatives[7] = 0, 0
    y, value, weight = from_counts(score, positives, negatives)
    assert weight.min() > 0
    whole = np.repeat(y, weight.astype(int)), np.repeat(value, weight.astype(int))
    options = {"n_resamples": 30, "random_state": 0, **PARAMS[name]}
    got = score_interval(name, y, value, sample_weight=weight, weight_kind="frequency", **options)
    want = score_interval(name, *whole, **options)
    assert got.value == pytest.approx(want.value, abs=1e-12)
    if got.n_resamples == 0:
        assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-9)


def test_what_does_not_fit_is_refused():
    y, score, by = rows()
    with pytest.raises(ValueError, match="by= does not take qid"):
        score_interval("auc", y, score, by=by, qid=np.arange(600) // 60)
    with pytest.raises(ValueError, match="by has 5 entries for 600 rows"):
        score_interval("auc", y, score, by=by[:5])
    ids = np.arange(600) // 4
    with pytest.raises(
        ValueError, match="by has 150 different values in 600 rows, too many for seg"
    ):
        score_interval("auc", y, score, by=ids)
    copies = {"sample_weight": np.full(600, 2), "weight_kind": "frequency"}
    with pytest.warns(FewRowsWarning, match="and 145 more"):
        assert len(score_interval("auc", y, score, by=ids, **copies)) == 150
    with pytest.raises(ValueError, match="by names one segment"):
        largest_gap("auc", y, score, by=np.zeros(600))
    with pytest.raises(ValueError, match="Fewer than two segments"):
        largest_gap("auc", y, score, by=(y + 1) * (np.arange(600) < 40))
    with pytest.raises(ValueError, match="without by"):
        compare_scores("auc", y, score, score, y_true_b=y, by=by)
    with pytest.raises(ValueError, match="target_prevalence is about all rows"):
        operating_point(y, score, fpr=0.1, by=by, target_prevalence=0.1)
    with pytest.raises(ValueError, match="thresholds must be one of 'shared', 'per_stratum'"):
        operating_point(y, score, fpr=0.1, by=by, thresholds="own")
    with pytest.raises(ValueError, match=r"positives must be whole numbers of rows, got 1\.5"):
        from_counts([1, 2], [1.5, 2], [3, 4])
    with pytest.raises(ValueError, match="negatives must be non-negative"):
        from_counts([1, 2], [1, 2], [3, -4])
