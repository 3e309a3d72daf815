"""Measures at points and tops of the ranking, against counting row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from aucuba.metrics import (
    bedroc_score,
    enrichment_factor_score,
    equal_error_rate_score,
    fpr_at_tpr_score,
    log_auc_score,
    operating_point,
    partial_auc_score,
    precision_at_k_score,
    precision_at_recall_score,
    rates_at_threshold,
    recall_at_k_score,
    recall_at_precision_score,
    rie_score,
    tpr_at_fpr_score,
)

# Every measure with one setting, for the invariances.
MEASURES = {
    "fpr_at_tpr": (fpr_at_tpr_score, {"tpr": 0.7}),
    "fpr_at_tpr attainable": (fpr_at_tpr_score, {"tpr": 0.7, "attainable": True}),
    "tpr_at_fpr attainable": (tpr_at_fpr_score, {"fpr": 0.3, "attainable": True}),
    "equal_error_rate": (equal_error_rate_score, {}),
    "precision_at_recall": (precision_at_recall_score, {"recall": 0.6}),
    "recall_at_precision": (recall_at_precision_score, {"precision": 0.6}),
    "precision_at_k": (precision_at_k_score, {"k": 5}),
    "recall_at_k": (recall_at_k_score, {"k": 5}),
    "enrichment_factor": (enrichment_factor_score, {"fraction": 0.2}),
    "rie": (rie_score, {"alpha": 10.0}),
    "bedroc": (bedroc_score, {"alpha": 10.0}),
    "log_auc": (log_auc_score, {"fpr_range": (0.01, 0.5)}),
    "standardized": (partial_auc_score, {"fpr_range": (0.1, 0.4), "standardized": True}),
}


@st.composite
def samples(draw, weighted=True):
    n_rows = draw(st.integers(2, 16))
    y = np.array(draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    y[:2] = [True, False]
    numbers = st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows)
    score = np.array(draw(numbers), dtype=float)
    weight = np.array(draw(numbers)) + 1.0 if weighted else np.ones(n_rows)
    return y, score, weight


def thresholds(y, score, weight):
    """(threshold, flagged, hits, false alarms) for every threshold that exists."""
    for cut in np.unique(score)[::-1]:
        flagged = score >= cut
        yield cut, weight @ flagged, weight @ (flagged & y), weight @ (flagged & ~y)


@given(sample=samples(), tenth=st.integers(1, 10))
def test_points_by_counting(sample, tenth):
    y, score, weight = sample
    limit = tenth / 10
    positives, negatives = weight @ y, weight @ ~y
    rows = list(thresholds(y, score, weight))
    found = [hits / positives for _, _, hits, alarms in rows if alarms / negatives <= limit + 1e-12]
    want = max(found, default=0.0)
    options = {"sample_weight": weight}
    got = tpr_at_fpr_score(y, score, fpr=limit, attainable=True, **options)
    assert got == pytest.approx(want)
    point = operating_point(y, score, fpr=limit, **options)
    assert point.tpr == pytest.approx(want)
    assert point.fpr <= limit + 1e-12

    alarms = [alarm / negatives for _, _, hits, alarm in rows if hits / positives >= limit - 1e-12]
    got = fpr_at_tpr_score(y, score, tpr=limit, attainable=True, **options)
    assert got == pytest.approx(min(alarms))
    point = operating_point(y, score, tpr=limit, **options)
    assert point.fpr == pytest.approx(min(alarms))
    assert point.tpr >= limit - 1e-12

    precise = [hits / flagged for _, flagged, hits, _ in rows if hits / positives >= limit - 1e-12]
    got = precision_at_recall_score(y, score, recall=limit, **options)
    assert got == pytest.approx(max(precise))

    recalls = [hits / positives for _, flagged, hits, _ in rows if hits / flagged >= limit - 1e-12]
    got = recall_at_precision_score(y, score, precision=limit, **options)
    assert got == pytest.approx(max(recalls, default=0.0))
    point = operating_point(y, score, precision=limit, **options)
    assert point.tpr == pytest.approx(max(recalls, default=0.0))


@given(sample=samples(), k=st.integers(1, 60))
def test_operating_point_within_a_budget(sample, k):
    y, score, weight = sample
    point = operating_point(y, score, k=k, sample_weight=weight)
    flagged = [rows for _, rows, _, _ in thresholds(y, score, weight) if rows <= k]
    assert point.n_flagged == max(flagged, default=0)
    if not flagged:
        assert point.threshold == np.inf
        assert np.isnan(point.precision)


@given(sample=samples())
def test_rates_at_every_threshold(sample):
    y, score, weight = sample
    for cut, flagged, hits, alarms in thresholds(y, score, weight):
        for threshold in (cut, cut - 0.25):
            rates = rates_at_threshold(y, score, threshold=threshold, sample_weight=weight)
            assert rates.sensitivity == pytest.approx(hits / (weight @ y))
            assert rates.specificity == pytest.approx(1 - alarms / (weight @ ~y))
            assert rates.precision == pytest.approx(hits / flagged)
            assert rates.alert_rate == pytest.approx(flagged / weight.sum())
            kept = weight.sum() - flagged
            negatives = weight @ ~y - alarms
            assert rates.npv == pytest.approx(negatives / kept if kept else np.nan, nan_ok=True)
    above = rates_at_threshold(y, score, threshold=score.max() + 1)
    assert (above.tpr, above.fpr, above.alert_rate) == (0, 0, 0)
    assert np.isnan(above.precision)


def over_orders(y, score, statistic, rng, n_orders=4000):
    """Mean of a statistic of the ranked labels over random orders of equal scores."""
    values = []
    for _ in range(n_orders):
        order = np.lexsort((rng.random(y.size), -score))
        values.append(statistic(y[order]))
    return np.mean(values), np.std(values) / np.sqrt(n_orders)


@pytest.mark.parametrize("seed", range(3))
def test_tops_by_random_orders_of_ties(seed):
    rng = np.random.default_rng(seed)
    y, score = rng.random(20) < 0.4, rng.integers(0, 5, 20).astype(float)
    decay = np.exp(-10.0 * np.arange(1, 21) / 20)
    chance = decay.mean()
    cases = {
        "hits": (lambda r: r[:5].mean(), precision_at_k_score(y, score, k=5)),
        "recall": (lambda r: r[:5].sum() / r.sum(), recall_at_k_score(y, score, k=5)),
        "ef": (
            lambda r: (r[:4].sum() / 4) / r.mean(),
            enrichment_factor_score(y, score, fraction=0.2),
        ),
        "rie": (lambda r: decay[r].mean() / chance, rie_score(y, score, alpha=10.0)),
    }
    for statistic, got in cases.values():
        want, error = over_orders(y, score, statistic, rng)
        assert got == pytest.approx(want, abs=5 * error + 1e-12)


def test_bedroc_limits_and_published_form():
    rng = np.random.default_rng(4)
    y, score = rng.random(200) < 0.1, rng.normal(size=200)
    n, m, alpha = 200, int(y.sum()), 20.0
    ranks = 1 + np.flatnonzero(y[np.argsort(-score)])
    # Truchon and Bayly 2007, equation 36.
    fraction = m / n
    rie = np.exp(-alpha * ranks / n).sum() / (
        fraction * (1 - np.exp(-alpha)) / (np.exp(alpha / n) - 1)
    )
    factor = (
        fraction * np.sinh(alpha / 2) / (np.cosh(alpha / 2) - np.cosh(alpha / 2 - alpha * fraction))
    )
    want = rie * factor + 1 / (1 - np.exp(alpha * (1 - fraction)))
    assert rie_score(y, score, alpha=alpha) == pytest.approx(rie)
    assert bedroc_score(y, score, alpha=alpha) == pytest.approx(want)
    assert bedroc_score(y, y.astype(float)) == pytest.approx(1.0)
    assert bedroc_score(y, -y.astype(float)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("high", [0.05, 0.3, 1.0])
def test_standardized_is_scikit_learns(high):
    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.3
    score = np.round(rng.normal(size=300) + y, 1)
    got = partial_auc_score(y, score, fpr_range=(0.0, high), standardized=True)
    # scikit-learn interpolates its curve after dropping no point that matters.
    assert got == pytest.approx(roc_auc_score(y, score, max_fpr=high if high < 1 else None))
    assert partial_auc_score(
        y, 0 * score, fpr_range=(0.2, high + 0.0) if high > 0.2 else (0.0, high), standardized=True
    ) == pytest.approx(0.5)


def test_equal_error_rate_by_hand():
    # One negative above both positives of three: the curve rises to (1/2, 0), then climbs.
    assert equal_error_rate_score([0, 0, 1, 1, 1], [1, 4, 2, 3, 5]) == pytest.approx(0.5)
    assert equal_error_rate_score([0, 1], [0, 1]) == 0.0
    assert equal_error_rate_score([0, 1], [1, 0]) == 1.0
    assert equal_error_rate_score([0, 1], [1, 1]) == 0.5


@pytest.mark.parametrize("name", MEASURES)
@given(data=st.data())
def test_invariances(name, data):
    function, params = MEASURES[name]
    y, score, weight = data.draw(samples())
    got = function(y, score, sample_weight=weight, **params)
    low, high = (0.0, np.inf) if name in ("rie", "enrichment_factor") else (0.0, 1.0)
    if name == "standardized":
        low = 0.5 * (1 - 0.25 / 0.75)
    assert low - 1e-12 <= got <= high + 1e-12
    order = np.random.default_rng(0).permutation(y.size)
    again = function(y[order], score[order], sample_weight=weight[order], **params)
    assert again == pytest.approx(got, rel=1e-12, abs=1e-14)
    mapped = function(y, np.exp(score / 3) - 7, sample_weight=weight, **params)
    assert mapped == pytest.approx(got, rel=1e-12, abs=1e-14)
    copies = np.repeat(np.arange(y.size), weight.astype(int))
    repeated = function(y[copies], score[copies], **params)
    assert repeated == pytest.approx(got, rel=1e-9, abs=1e-12)
    flipped = function(np.where(y, "a", "b"), score, sample_weight=weight, pos_label="a", **params)
    assert flipped == got


@pytest.mark.parametrize("name", MEASURES)
def test_queries_are_means(name):
    function, params = MEASURES[name]
    rng = np.random.default_rng(6)
    y, score, qid = rng.random(60) < 0.5, rng.normal(size=60), np.repeat([5, 7, 9], 20)
    want = np.mean([function(y[qid == q], score[qid == q], **params) for q in (5, 7, 9)])
    assert function(y, score, qid=qid, **params) == pytest.approx(want)


def test_queries_without_positives():
    y, score, qid = [1, 0, 0, 0], [2, 1, 4, 3], [0, 0, 1, 1]
    assert precision_at_k_score(y, score, k=1, qid=qid) == 0.5
    with pytest.warns(UserWarning, match="1 of 2 queries have no positive row"):
        assert recall_at_k_score(y, score, k=1, qid=qid) == 1.0
    assert precision_at_k_score([1, 0], [2, 1], k=10) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, s: fpr_at_tpr_score(y, s, tpr=1.2), "tpr must lie in"),
        (lambda y, s: precision_at_k_score(y, s, k=0), "k must be a whole number of at least 1"),
        (lambda y, s: recall_at_k_score(y, s, k=3.0), r"whole number of at least 1, got 3\.0"),
        (lambda y, s: operating_point(y, s, k=3.0), r"whole number of at least 1, got 3\.0"),
        (
            lambda y, s: enrichment_factor_score(y, s, fraction=0.0),
            r"fraction must lie in \(0, 1\]",
        ),
        (lambda y, s: rie_score(y, s, alpha=-1), "alpha must be a number above 0"),
        (lambda y, s: log_auc_score(y, s, fpr_range=(0, 0.1)), "must start above 0"),
        (lambda y, s: operating_point(y, s), "exactly one of fpr, tpr, precision and k, got none"),
        (lambda y, s: operating_point(y, s, fpr=0.1, k=3), r"got \['fpr', 'k'\]"),
        (
            lambda y, s: partial_auc_score(y, s, min_tpr=0.5, standardized=True),
            "without min_tpr and fpr_weight",
        ),
    ],
)
def test_bad_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call([0, 1], [0.0, 1.0])
