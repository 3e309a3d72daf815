"""Resamples: the draws, the runs that rows are joined into, and curves of many resamples at once."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aucuba._roc._curve import RocCurve, roc_curve
from aucuba._roc._loops import cumulate
from aucuba._roc._runs import Runs
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics import score_interval
from aucuba.metrics._loops import count_drawn
from aucuba.metrics._measures import bind
from aucuba.metrics._resampling import Draw, bootstrap

MEASURES = [
    bind("partial_auc", {}),
    bind("partial_auc", {"fpr_range": (0.05, 0.3)}),
    bind("partial_auc", {"fpr_range": (0.0, 0.4), "min_tpr": 0.3}),
    bind("partial_auc", {"fpr_range": (0.0, 0.2), "standardized": True}),
    bind("log_auc", {"fpr_range": (0.02, 0.5)}),
    bind("tpr_at_fpr", {"fpr": 0.1}),
    bind("tpr_at_fpr", {"fpr": 0.1, "attainable": True}),
    bind("fpr_at_tpr", {"tpr": 0.8}),
    bind("fpr_at_tpr", {"tpr": 0.8, "attainable": True}),
    bind("equal_error_rate", {}),
    bind("precision_at_recall", {"recall": 0.5}),
    bind("precision_at_recall", {"recall": 0.0}),
    bind("recall_at_precision", {"precision": 0.5}),
    bind("precision_at_k", {"k": 7}),
    bind("recall_at_k", {"k": 7}),
    bind("enrichment_factor", {"fraction": 0.1}),
    bind("rie", {"alpha": 5.0}),
    bind("bedroc", {"alpha": 5.0}),
    bind("auc_at_k", {"k": 7}),
    bind("binned_auc", {"bin_sizes": 5}),
    bind("aum", {}),
    bind("aum", {"rate": False}),
    bind("rate_at_threshold", {"rate": "precision", "threshold": 0.4}),
    bind("rate_at_threshold", {"rate": "tpr", "threshold": 0.4}),
]


def sample(seed, n_rows=80, *, digits=1, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.3
    y[:2] = True, False
    score = np.round(rng.normal(size=n_rows) + y, digits)
    return RankingSample.from_arrays(y, score, rng.uniform(0.5, 2, n_rows) if weighted else None)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.name)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), digits=st.integers(0, 9), weighted=st.booleans())
def test_joined_rows_have_the_values_of_single_ones(measure, seed, digits, weighted):
    """Any weights of the rows, zero among them: the curve of the runs has the same value."""
    rows = sample(seed, digits=digits, weighted=weighted)
    weight = np.random.default_rng(seed).integers(0, 3, rows.n_rows) * rows.weights
    weight[:2] = 1.0
    runs = Runs.from_sample(rows, measure.cuts)
    curve = runs.curves(np.bincount(runs.slot, weight, 2 * runs.n_runs))
    want = measure.of_curve(roc_curve(replace(rows, weight=weight)), rows.n_rows)
    assert measure.of_curve(curve, rows.n_rows) == pytest.approx(want, abs=1e-12, nan_ok=True)
    assert runs.n_runs <= np.unique(rows.score).size


@pytest.mark.parametrize("threshold", [0.3, 0.35, 0.4, 2.0, -1.0])
def test_runs_end_at_a_threshold(threshold):
    """Negatives alone around the threshold: those at it are flagged, those below are not."""
    y = np.array([1, 0, 0, 0, 0, 1])
    rows = RankingSample.from_arrays(y, np.array([0.9, 0.5, 0.4, 0.3, 0.2, 0.1]))
    measure = bind("rate_at_threshold", {"rate": "fpr", "threshold": threshold})
    runs = Runs.from_sample(rows, measure.cuts)
    curve = runs.curves(np.bincount(runs.slot, minlength=2 * runs.n_runs).astype(float))
    want = np.mean(rows.score[y == 0] >= threshold)
    assert float(measure.of_curve(curve, 6)) == want
    assert runs.n_runs <= 4


def test_runs_are_few_where_one_class_is_rare():
    rng = np.random.default_rng(0)
    y = np.arange(5000) < 20
    runs = Runs.from_sample(RankingSample.from_arrays(y, rng.normal(size=y.size)))
    assert runs.n_runs <= 2 * 20 + 1
    apart = Runs.from_sample(RankingSample.from_arrays(y, rng.normal(size=y.size)), None)
    assert apart.n_runs == 5000


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.name)
def test_many_curves_at_once_are_those_one_by_one(measure):
    rows, rng = sample(1, weighted=True), np.random.default_rng(2)
    runs = Runs.from_sample(rows, measure.cuts)
    totals = np.array(
        [
            np.bincount(runs.slot, rng.integers(0, 4, rows.n_rows) + 1e-3, 2 * runs.n_runs)
            for _ in range(12)
        ]
    ).reshape(3, 4, -1)
    together = measure.of_curve(runs.curves(totals), rows.n_rows)
    assert together.shape == (3, 4)
    for place in np.ndindex(3, 4):
        one = measure.of_curve(runs.curves(totals[place]), rows.n_rows)
        assert together[place] == pytest.approx(float(one), abs=1e-13)


def brute_rows(seed, n_rows):
    """SplitMix64 in Python's integers, as places among n rows."""
    mask, state, places = 2**64 - 1, int(seed), []
    for _ in range(n_rows):
        state = (state + 0x9E3779B97F4A7C15) & mask
        bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & mask
        places.append(int(((bits ^ (bits >> 31)) >> 11) / 2**53 * n_rows))
    return np.array(places)


@pytest.mark.parametrize("n_rows", [1, 2047, 2048, 5000])
def test_counts_of_drawn_rows_are_those_of_the_plain_loop(n_rows):
    """Draws come in pieces: none is lost or taken twice where one ends."""
    seeds, counts = np.array([7, 2**63 + 5], dtype=np.uint64), np.full((2, n_rows), 9, np.uint8)
    count_drawn(seeds, counts)
    for seed, count in zip(seeds, counts, strict=True):
        np.testing.assert_array_equal(
            count, np.bincount(brute_rows(seed, n_rows), minlength=n_rows)
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_scorers_share_the_rows_drawn(weighted):
    """Sums by slot of two scorers are those of the weights of the rows of one and the same draw."""
    rows, rng = sample(5, weighted=weighted), np.random.default_rng(0)
    slots = [(rng.integers(0, n, rows.n_rows), n) for n in (7, 30)]
    draw, seeds = Draw(rows, by_class=True), np.array([3, 2**64 - 1], dtype=np.uint64)
    for (slot, n_slots), totals in zip(slots, draw.summed_by(slots)(seeds), strict=True):
        want = [np.bincount(slot, draw.weights(seed), n_slots) for seed in seeds]
        np.testing.assert_allclose(totals, want, rtol=1e-14)


def test_running_sums_are_those_of_numpy_bit_for_bit():
    totals = np.random.default_rng(0).exponential(size=(3, 1000))
    found = np.full((3, 1001), np.nan)
    cumulate(totals, found)
    np.testing.assert_array_equal(found[:, 0], 0.0)
    np.testing.assert_array_equal(found[:, 1:], np.cumsum(totals, axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_drawn_rows_are_the_plain_loops(weighted):
    rows, seed = sample(3, weighted=weighted), np.uint64(2**63 + 12345)
    drawn = Draw(rows, by_class=False).weights(seed)
    count = np.bincount(brute_rows(seed, rows.n_rows), minlength=rows.n_rows)
    np.testing.assert_allclose(drawn, count * rows.weights)
    by_class = Draw(rows, by_class=True).weights(seed)
    places = np.flatnonzero(rows.positive)[brute_rows(seed, int(rows.positive.sum()))]
    want = np.bincount(places, minlength=rows.n_rows) * rows.weights
    np.testing.assert_allclose(by_class[rows.positive], want[rows.positive])


def test_groups_are_drawn_whole_and_a_still_class_stays():
    rows = sample(4, weighted=True)
    group = np.arange(rows.n_rows) % 9
    weight = Draw(rows, by_class=False, group=group).weights(np.uint64(5)) / rows.weights
    count = np.array([weight[group == one] for one in range(9)], dtype=object)
    assert all(np.ptp(one) < 1e-12 for one in count)
    assert sum(one[0] for one in count) == pytest.approx(9)
    still = Draw(rows, by_class=True, still=True).weights(np.uint64(5))
    np.testing.assert_allclose(still[rows.positive], rows.weights[rows.positive])
    assert np.any(still[~rows.positive] == 0)


def test_multiplicities_have_the_law_of_a_multinomial():
    """Over many draws of 50 rows: each row Binomial(50, 1/50), neighbours in seed independent."""
    draw = Draw(Sample(np.arange(50) < 25), by_class=False)
    counts = np.array([draw.weights(np.uint64(seed)) for seed in range(4000)])
    seen = np.bincount(counts.astype(int).ravel(), minlength=7)[:6]
    expected = stats.binom.pmf(np.arange(6), 50, 1 / 50) * counts.size
    # Counts of one draw depend on each other a little, which makes the statistic smaller.
    assert np.sum((seen - expected) ** 2 / expected) < stats.chi2.ppf(0.9999, 5)
    totals = counts.sum(axis=0)
    assert np.sum((totals - 4000) ** 2 / 4000) < stats.chi2.ppf(0.9999, 49)
    assert abs(np.corrcoef(counts[:-1].ravel(), counts[1:].ravel())[0, 1]) < 0.01


@pytest.mark.parametrize("name", ["rie", "bedroc"])
@pytest.mark.parametrize("digits", [0, 6])
def test_effects_are_derivatives_by_the_weights(name, digits):
    rows, measure, step = (
        sample(5, 60, digits=digits, weighted=True),
        bind(name, {"alpha": 5.0}),
        1e-6,
    )

    def moved(row, by):
        weight = rows.weights * np.where(np.arange(rows.n_rows) == row, 1 + by, 1.0)
        return measure.of_query(replace(rows, weight=weight))

    want = [(moved(row, step) - moved(row, -step)) / (2 * step) for row in range(rows.n_rows)]
    np.testing.assert_allclose(measure.effects(rows), want, atol=1e-8)


def test_resamples_follow_random_state():
    rows, measure = sample(6), MEASURES[1]
    draw = Draw(rows, by_class=True)
    first, again, other = (bootstrap(measure, [rows], draw, 40, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    # What a resample is does not depend on how many are taken, nor on a second scorer.
    np.testing.assert_array_equal(bootstrap(measure, [rows], draw, 15, 0), first[:, :15])
    paired = bootstrap(measure, [rows, sample(6, digits=3)], draw, 40, 0)
    np.testing.assert_array_equal(paired[:1], first)


def test_resamples_of_one_class_only_are_refused():
    rows = RankingSample(np.array([True, False]), np.array([1.0, 1.0]), score=np.array([1.0, 0.0]))
    draw = Draw(rows, by_class=False, group=np.array([0, 1]))
    assert bootstrap(MEASURES[0], [rows], draw, 5, 0).shape == (1, 5)
    alone = Draw(rows, by_class=False, group=np.array([0, 0]))
    assert bootstrap(MEASURES[0], [rows], alone, 5, 0).tolist() == [[1.0] * 5]
    never = replace(draw, sample=Sample(np.array([True, True])))
    with pytest.raises(ValueError, match="rows of one class only"):
        bootstrap(MEASURES[0], [replace(rows, positive=np.array([True, True]))], never, 5, 0)


def test_bca_in_groups_of_one_row_is_that_of_rows():
    """With one row per group the acceleration is that of rows; random rows are then drawn."""
    rng = np.random.default_rng(7)
    y = np.arange(300) < 60
    score = rng.normal(size=300) + y
    options = {"method": "bca", "alpha": 20.0, "random_state": 0, "n_resamples": 200}
    rows = score_interval("rie", y, score, **options)
    groups = score_interval("rie", y, score, groups=np.arange(300), **options)
    # Student's t with 299 degrees of freedom is a little wider than the normal law.
    assert (groups.low, groups.high) == pytest.approx((rows.low, rows.high), rel=0.01)
    assert groups.low < rows.low < rows.high < groups.high
    assert groups.sampling == "groups"


def test_memory_stays_that_of_a_few_vectors():
    """A million rows: the peak does not grow with the number of resamples, and is far below 1 GB."""
    rng = np.random.default_rng(8)
    y = np.arange(1_000_000) < 200_000
    rows = RankingSample.from_arrays(y, rng.normal(size=y.size) + y)
    draw, peaks = Draw(rows, by_class=True), []
    bootstrap(MEASURES[0], [sample(1)], Draw(sample(1), by_class=True), 2, 0)
    for n_resamples in (2, 6):
        tracemalloc.start()
        bootstrap(MEASURES[0], [rows], draw, n_resamples, 0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert max(peaks) < 5e8
    assert peaks[1] < 1.1 * peaks[0]


def test_a_curve_keeps_its_rates():
    curve = RocCurve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 3.0, 4.0]), np.array([2.0, 1.0]))
    assert curve.fpr is curve.fpr
    assert curve.tpr.tolist() == [0.0, 0.75, 1.0]
