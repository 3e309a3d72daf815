import numpy as np
import pytest
from sklearn.utils import check_random_state

from aucuba._rows._sample import RankingSample
from aucuba.metrics import (
    _methods,
    binned_auc_score,
    compare_scores,
    partial_auc_score,
    score_interval,
)
from aucuba.metrics._measures import bind
from aucuba.metrics._resampling import Draw, bootstrap

BAND = (0.0, 0.2)


def draw(rng, n_pos=60, n_neg=200, shift=1.0):
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=y.size) + shift * y


def test_resamples_equal_resampled_rows():
    """The weights of a resample give what scoring the repeated rows gives."""
    rng = np.random.default_rng(0)
    y, score = draw(rng, 8, 15)
    score = np.round(score, 1)
    weight = rng.uniform(0.5, 2, size=y.size)
    sample = RankingSample.from_arrays(y, score, weight)
    measure = bind("partial_auc", {"fpr_range": (0.1, 0.4)})
    got = bootstrap(measure, [sample], Draw(sample, by_class=True), 30, 0)[0]
    draws, state = Draw(sample, by_class=True), check_random_state(0)
    for value in got:
        count = np.round(draws.weights(state.randint(2**64, dtype=np.uint64)) / weight).astype(int)
        assert (count[y == 1].sum(), count[y == 0].sum()) == (8, 15)
        repeated = np.repeat(np.arange(y.size), count)
        want = partial_auc_score(
            y[repeated], score[repeated], fpr_range=(0.1, 0.4), sample_weight=weight[repeated]
        )
        assert value == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("credit", [0.5, 1.0])
def test_resamples_of_bins_equal_resampled_rows(weighted, credit):
    """Bins of given sizes are scaled to the weight of the resample."""
    rng = np.random.default_rng(5)
    y, score = draw(rng, 8, 15)
    score = np.round(score, 1)
    weight = rng.uniform(0.5, 2, size=y.size) if weighted else np.ones(y.size)
    sample = RankingSample.from_arrays(y, score, weight if weighted else None)
    sizes = np.array([1.0, 2.0, 5.0, 15.0]) * weight.sum() / 23
    measure = bind("binned_auc", {"bin_sizes": sizes, "in_bin_credit": credit})
    got = bootstrap(measure, [sample], Draw(sample, by_class=False), 20, 0)[0]
    draws, state = Draw(sample, by_class=False), check_random_state(0)
    for value in got:
        drawn = draws.weights(state.randint(2**64, dtype=np.uint64))
        repeated = np.repeat(np.arange(y.size), np.round(drawn / weight).astype(int))
        # One row of the lightest weight of a block counts as one row, whether it was drawn or not.
        want = binned_auc_score(
            y[repeated],
            score[repeated],
            bin_sizes=sizes * weight[repeated].sum() / weight.sum(),
            in_bin_credit=credit,
            sample_weight=weight[repeated],
        )
        assert value == pytest.approx(want, abs=1e-12 if credit == 0.5 or not weighted else 0.01)


def test_interval_covers_at_about_its_level():
    rng = np.random.default_rng(1)
    y, score = draw(rng, 20_000, 50_000)
    truth = partial_auc_score(y, score, fpr_range=BAND)
    hits = 0
    for seed in range(200):
        y, score = draw(rng)
        got = score_interval(
            "partial_auc",
            y,
            score,
            fpr_range=BAND,
            confidence=0.9,
            n_resamples=200,
            random_state=seed,
        )
        assert got.low <= got.value <= got.high
        hits += got.low <= truth <= got.high
    # 200 trials at .9: four standard errors are .085; the percentile interval is a little short.
    assert 0.80 <= hits / 200 <= 0.97


def test_queries_are_resampled_whole():
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(30), 10)
    y = np.tile([1, 1, 1] + [0] * 7, 30)
    score = rng.normal(size=300) + y
    got = score_interval("partial_auc", y, score, fpr_range=BAND, qid=qid, random_state=0)
    assert got.value == pytest.approx(partial_auc_score(y, score, fpr_range=BAND, qid=qid))
    values = [partial_auc_score(y[qid == q], score[qid == q], fpr_range=BAND) for q in range(30)]
    standard_error = np.std(values, ddof=1) / np.sqrt(30)
    assert (got.high - got.low) / 3.92 == pytest.approx(standard_error, rel=0.2)


def test_comparison_of_equal_and_of_different_scorers():
    rng = np.random.default_rng(4)
    y, score = draw(rng, shift=2.0)
    same = compare_scores("partial_auc", y, score, 2 * score + 1, fpr_range=BAND, random_state=0)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    noise = rng.normal(size=y.size)
    far = compare_scores("partial_auc", y, score, noise, fpr_range=BAND, random_state=0)
    assert far.low > 0
    assert far.p_value < 0.01
    back = compare_scores("partial_auc", y, noise, score, fpr_range=BAND, random_state=0)
    assert back.difference == -far.difference
    assert back.p_value == far.p_value
    assert (back.low, back.high) == pytest.approx((-far.high, -far.low))


def test_p_value_counts_one_extra_resample_and_is_never_zero():
    y, score = draw(np.random.default_rng(8), shift=6.0)
    far = compare_scores(
        "partial_auc", y, score, -score, fpr_range=BAND, n_resamples=99, random_state=0
    )
    assert far.p_value == pytest.approx(2 / 100)


def test_resampled_rows_keep_their_weights():
    """Half of the positives score at the top and weigh almost everything."""
    rng = np.random.default_rng(9)
    y, score = draw(rng, shift=0.0)
    top = np.flatnonzero(y)[::2]
    score[top] += 8.0
    weight = np.ones(y.size)
    weight[top] = 50.0
    got = score_interval(
        "partial_auc", y, score, fpr_range=BAND, sample_weight=weight, random_state=0
    )
    assert got.low <= got.value <= got.high
    plain = score_interval("partial_auc", y, score, fpr_range=BAND, random_state=0)
    assert plain.high < got.low


def test_p_value_is_honest_under_the_null():
    rng = np.random.default_rng(5)
    rejected = 0
    for seed in range(100):
        y, signal = draw(rng, shift=0.0)
        a = signal + y + rng.normal(size=y.size)
        b = signal + y + rng.normal(size=y.size)
        rejected += (
            compare_scores(
                "partial_auc", y, a, b, fpr_range=BAND, n_resamples=150, random_state=seed
            ).p_value
            < 0.1
        )
    assert 0.02 <= rejected / 100 <= 0.2


def test_pairing_helps():
    """Two scorers that share their noise are compared far more sharply than each is measured."""
    rng = np.random.default_rng(6)
    y, score = draw(rng)
    near = score + 0.05 * rng.normal(size=y.size)
    pair = compare_scores("partial_auc", y, score, near, fpr_range=BAND, random_state=0)
    alone = score_interval("partial_auc", y, score, fpr_range=BAND, random_state=0)
    assert pair.high - pair.low < 0.5 * (alone.high - alone.low)


def test_they_print_as_a_sentence():
    y, score = draw(np.random.default_rng(7))
    assert "95% interval" in str(
        score_interval("partial_auc", y, score, random_state=0, n_resamples=20)
    )
    assert "p = 1" in str(
        compare_scores("partial_auc", y, score, score, random_state=0, n_resamples=20)
    )


@pytest.mark.parametrize("limits", [(0.0, 1.0), (0.0, 0.1), (0.05, 0.3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_normal_approximation_agrees_with_the_bootstrap(limits, weighted):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [3000, 600])
    first = np.round(rng.normal(size=3600) + y, 1)
    second = first + rng.normal(size=3600)
    # Only relations of weights matter.
    weight = 1e-4 * rng.uniform(0.2, 3.0, 3600) if weighted else None
    shared = {"fpr_range": limits, "sample_weight": weight, "random_state": 0}
    boot, quick = (
        score_interval("partial_auc", y, first, method=name, **shared)
        for name in ("bootstrap", "normal")
    )
    assert quick.value == pytest.approx(boot.value, abs=1e-9)
    assert quick.high - quick.low == pytest.approx(boot.high - boot.low, rel=0.15)
    assert (boot.n_resamples, quick.n_resamples) == (2000, 0)
    boot, quick = (
        compare_scores("partial_auc", y, first, second, method=name, **shared)
        for name in ("bootstrap", "normal")
    )
    assert quick.difference == pytest.approx(boot.difference, abs=1e-9)
    assert quick.high - quick.low == pytest.approx(boot.high - boot.low, rel=0.15)


def test_the_normal_p_value_is_honest_under_the_null():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [400, 100])
    below = 0
    for _ in range(400):
        one, other = rng.normal(size=(2, 500)) + y
        below += (
            compare_scores(
                "partial_auc", y, one, other, fpr_range=(0, 0.2), method="normal"
            ).p_value
            < 0.1
        )
    # 40 expected, standard deviation 6.
    assert 22 <= below <= 58


def test_large_samples_are_not_resampled_unless_a_class_is_small(monkeypatch):
    monkeypatch.setattr(_methods, "_ROWS_FOR_NORMAL", 2000)
    rng = np.random.default_rng(3)
    for n_positives, fpr_range, resamples in (
        (300, (0.0, 0.2), 0),
        (100, (0.0, 0.2), 30),
        (300, (0.0, 0.02), 30),
    ):
        y = np.repeat([0, 1], [3000, n_positives])
        shared = {"fpr_range": fpr_range, "n_resamples": 30, "random_state": 0}
        score = rng.normal(size=y.size) + y
        assert score_interval("partial_auc", y, score, **shared).n_resamples == 0
        assert (
            compare_scores("partial_auc", y, score, -score, **shared).pair.n_resamples == resamples
        )
    group = np.repeat(np.arange(33), 100)
    y = np.tile([0] * 80 + [1] * 20, 33)
    by_query = score_interval("partial_auc", y, rng.normal(size=3300), qid=group, method="normal")
    assert (by_query.n_resamples, by_query.sampling) == (0, "queries")
    with pytest.raises(ValueError, match="method"):
        score_interval("partial_auc", y, rng.normal(size=3300), method="jackknife")


@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_equal_rankings_differ_by_nothing():
    y = np.repeat([0, 1], [50, 50])
    score = np.arange(100.0)
    same = compare_scores("partial_auc", y, score, 2 * score, method="normal")
    assert (same.difference, same.p_value) == (0.0, 1.0)
    best = score_interval("partial_auc", y, score, method="normal")
    # No row of 50 is misplaced: the limit is that of 50 successes in 50 trials.
    assert (best.low, best.high) == pytest.approx((0.025 ** (1 / 50), 1.0))


def test_the_normal_value_is_the_metric_to_the_last_digit():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [200, 100])
    score = np.round(rng.normal(size=300) + y, 1)
    # Light negatives make pieces of the ROC curve that are almost vertical.
    weight = np.where(y == 0, rng.choice([1e-13, 1.0], size=300), 1.0)
    for limits in ((0.0, 1.0), (0.0, 0.1)):
        want = partial_auc_score(y, score, fpr_range=limits, sample_weight=weight)
        got = score_interval(
            "partial_auc", y, score, fpr_range=limits, sample_weight=weight, method="normal"
        )
        assert got.value == want
