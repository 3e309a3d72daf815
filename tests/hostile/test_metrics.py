"""Inputs of metrics, intervals and tests that once gave wrong or doubtful answers."""

from fractions import Fraction

import numpy as np
import pytest

from aucuba.metrics import (
    compare_scores,
    partial_auc_score,
    score_interval,
    tpr_at_fpr_score,
)


def exact_partial_auc(y, score, weight, low, high):
    """The area under straight segments in rational numbers, divided by the width of the range."""
    weight = [Fraction(w) for w in weight]
    positives = sum(w for w, one in zip(weight, y, strict=True) if one)
    negatives = sum(w for w, one in zip(weight, y, strict=True) if not one)
    low, high = Fraction(low), Fraction(high)
    x = h = area = Fraction(0)
    for level in sorted(set(score), reverse=True):
        block = [k for k, s in enumerate(score) if s == level]
        right = x + sum(weight[k] for k in block if not y[k]) / negatives
        top = h + sum(weight[k] for k in block if y[k]) / positives
        a, b = max(x, low), min(right, high)
        if b > a:
            slope = (top - h) / (right - x)
            area += (b - a) * (h + slope * ((a + b) / 2 - x))
        x, h = right, top
    return area / (high - low)


def check_exact_partial_auc(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    score = rng.integers(0, 5, n).astype(float)
    weight = rng.choice([0.1, 1.0, 3.0, 1e-3, 0.7], n)
    low = rng.choice([0.0, 0.1, 0.3])
    width = rng.choice([1e-9, 1e-3, 0.2, 0.7])
    got = partial_auc_score(y, score, fpr_range=(low, low + width), sample_weight=weight)
    want = exact_partial_auc(y, score, weight, low, low + width)
    # Limits that differ by rounding move a step of the curve across the end of the band.
    assert float(want) == pytest.approx(got, abs=1e-9 if width > 1e-6 else 1e-5)


def test_partial_auc_in_rational_numbers():
    for seed in range(300):
        check_exact_partial_auc(seed)


@pytest.mark.slow
def test_partial_auc_of_many_samples_in_rational_numbers():
    for seed in range(300, 30_300):
        check_exact_partial_auc(seed)


@pytest.mark.parametrize("seed", range(100))
def test_perfect_scorers_are_worth_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y = rng.random(n) < 0.5
    y[:2] = [True, False]
    low, width = rng.uniform(0, 0.9), rng.choice([1e-9, 1e-4, 0.05])
    weight = rng.uniform(0.1, 2.0, n)
    options = {"fpr_range": (low, low + width), "sample_weight": weight}
    got = partial_auc_score(y, y + 0.1 * rng.random(n), **options)
    assert got <= 1.0
    assert got == pytest.approx(1.0, abs=1e-12)


def test_one_query_is_no_evidence():
    rng = np.random.default_rng(0)
    y = rng.random(250) < 0.3
    a, b = rng.normal(size=(2, 250))
    with pytest.raises(ValueError, match="qid names one query"):
        compare_scores("partial_auc", y, a, b, fpr_range=(0, 0.2), qid=np.zeros(250))


def test_a_perfect_scorer_against_an_inverted_one():
    y = np.repeat([0, 1], [40, 30])
    found = compare_scores("partial_auc", y, y, -y, method="normal", random_state=0)
    assert found.p_value < 0.01
    assert found.method == "bootstrap"


def test_few_rows_are_named_and_intervals_have_width():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [300, 10])
    score = rng.normal(size=310) + 4 * y
    with pytest.warns(UserWarning, match="rests on 10 positives"):
        got = score_interval("partial_auc", y, score, fpr_range=(0, 0.2), random_state=0)
    assert got.low < got.value == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_of_any_size(scale):
    y, score = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    weight = np.array([1.0, 2.0, 3.0, 1.0])
    want = partial_auc_score(y, score, sample_weight=weight)
    assert partial_auc_score(y, score, sample_weight=scale * weight) == pytest.approx(want)
    at = tpr_at_fpr_score(y, score, fpr=0.5, sample_weight=weight)
    assert tpr_at_fpr_score(y, score, fpr=0.5, sample_weight=scale * weight) == pytest.approx(at)


def test_weights_whose_sum_overflows_are_one_error():
    weight = np.full(4, 1e308)
    with pytest.raises(ValueError, match="sample_weight adds up to infinity"):
        partial_auc_score([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=weight)


@pytest.mark.parametrize("name", ["y_true", "qid"])
@pytest.mark.parametrize("missing", [None, "pd.NA", float("nan")])
def test_missing_labels_and_queries_are_one_error(name, missing):
    pd = pytest.importorskip("pandas")
    missing = pd.NA if missing == "pd.NA" else missing
    given = {"y_true": [0, 1, 0, 1], "qid": ["a", "a", "b", "b"]}
    given[name] = [*given[name][:3], missing]
    with pytest.raises(ValueError, match=f"{name} .*missing"):
        partial_auc_score(given["y_true"], [1.0, 2.0, 3.0, 4.0], qid=given["qid"])


def test_mixed_kinds_of_labels_are_one_error():
    with pytest.raises(ValueError, match="y_true mixes"):
        partial_auc_score([0, "a", 0, "a"], [1.0, 2.0, 3.0, 4.0])


def test_masked_rows_are_refused():
    score = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], mask=[0, 0, 1, 0])
    with pytest.raises(ValueError, match="y_score has 1 masked"):
        partial_auc_score([0, 1, 0, 1], score)
    whole = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], mask=False)
    assert partial_auc_score([0, 1, 0, 1], whole) == 0.75


def test_integers_beyond_doubles_are_told_apart_or_refused():
    score = np.array([2**53, 2**53 + 1, 5, 7])
    with pytest.raises(ValueError, match="y_score holds integers above 2"):
        partial_auc_score([0, 1, 0, 1], score)
    assert partial_auc_score([0, 1, 0, 1], score - 2**53 + 10) == 0.75


def test_a_p_value_is_never_below_what_resamples_resolve():
    y = np.repeat([0, 1], [200, 50])
    rng = np.random.default_rng(3)
    score = rng.normal(size=250) + 5 * y
    found = compare_scores("tpr_at_fpr", y, score, -score, fpr=0.1, n_resamples=99, random_state=0)
    assert found.p_value == pytest.approx(2 / 100)
    lower = score_interval("tpr_at_fpr", y, score, fpr=0.1, alternative="greater", random_state=0)
    assert lower.high == 1.0
