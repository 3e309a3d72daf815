"""Precision promised at a prevalence other than that of the held-out rows."""

import numpy as np
import pytest
from scipy.stats import beta, norm

from aucuba._roc._prevalence import fpr_per_tpr
from aucuba._rows._sample import RankingSample
from aucuba.threshold import FixedPrecisionClassifier, rows_needed
from aucuba.threshold._precision_rule import lowest_at_prevalence
from aucuba.threshold._units import Units
from tests.threshold.bases import prefit


def drawn(rng, n, distance, prevalence=0.3):
    y = rng.uniform(size=n) < prevalence
    return (rng.normal(size=n) + distance * y)[:, None], y.astype(int)


def promised(X, y, **options):
    options = {"min_precision": 0.9, "target_prevalence": 0.05, "random_state": 0} | options
    return FixedPrecisionClassifier(prefit(), cv="prefit", **options).fit(X, y)


def precision_at(threshold, distance, prevalence):
    tpr, fpr = norm.sf(threshold - distance), norm.sf(threshold)
    return prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)


def test_the_condition_is_bayes_rule():
    rng = np.random.default_rng(0)
    for allowed, prevalence, tpr, fpr in rng.uniform(0.01, 0.99, size=(200, 4)):
        flagged = prevalence * tpr + (1 - prevalence) * fpr
        kept = prevalence * tpr / flagged >= 1 - allowed
        assert kept == (fpr <= fpr_per_tpr(allowed, prevalence) * tpr)


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_those_of_the_exact_limits(seed):
    rng = np.random.default_rng(seed)
    X, y = drawn(rng, 5000, 3.5)
    score, positive = X[:, 0], y == 1
    is_placing = np.zeros(5000, dtype=bool)
    is_placing[np.flatnonzero(positive)[:90]] = True
    units = [
        Units(RankingSample(positive[rows], score=score[rows]), 1.0, "rows")
        for rows in (is_placing, ~is_placing)
    ]
    odds, error = fpr_per_tpr(0.1, 0.05), 0.05
    found = lowest_at_prevalence(*units, odds, error)
    negatives, others = score[~positive], score[positive & ~is_placing]
    # One by one, from the strictest: limits by SciPy's beta law, until the first that fails.
    expected = np.nan
    for place, level in enumerate(np.sort(score[is_placing])[::-1]):
        k, m = np.sum(negatives > level), np.sum(others > level)
        fpr = beta.ppf(1 - 0.9 * error, k + 1, negatives.size - k)
        tpr = beta.ppf(0.1 * error, m, others.size - m + 1) if m else 0.0
        fewest, most = np.log(1 / (0.9 * error)), odds * negatives.size
        if most * place / 90 < min(1.8 * fewest, (fewest + most) / 2):
            continue
        if fpr > odds * tpr:
            break
        expected = level
    assert np.isfinite(expected)
    assert found == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:The held-out rows cannot carry")
@pytest.mark.parametrize(("distance", "target"), [(3.0, 0.05), (2.5, 0.1), (3.5, 0.02)])
def test_the_promise_holds_in_simulated_worlds(distance, target):
    rng = np.random.default_rng(0)
    broken, plain, n_worlds = 0, 0, 300
    for _ in range(n_worlds):
        X, y = drawn(rng, 2000, distance)
        options = {"target_prevalence": target, "on_failure": "trivial"}
        shifted = promised(X, y, **options).threshold_
        broken += np.isfinite(shifted) and precision_at(shifted, distance, target) < 0.9
        same = promised(X, y, target_prevalence=None).threshold_
        plain += precision_at(same, distance, target) < 0.9
    assert broken <= n_worlds * (0.05 + 3 * np.sqrt(0.05 * 0.95 / n_worlds))
    # At the prevalence of the held-out rows it is another promise.
    assert plain > 0.9 * n_worlds


def test_an_interval_is_tested_at_its_lower_end():
    X, y = drawn(np.random.default_rng(0), 5000, 3.5)
    alone, within = promised(X, y), promised(X, y, target_prevalence=(0.05, 0.2))
    assert within.threshold_ == alone.threshold_
    assert within.threshold_ > promised(X, y, target_prevalence=0.2).threshold_
    assert "precision at least 0.9 at a prevalence of 0.05 to 0.2" in within.promise_.lower()
    assert "at a prevalence of 0.05, with confidence" in alone.promise_


def test_the_prevalence_of_the_held_out_rows_does_not_matter():
    rng = np.random.default_rng(0)
    score = np.append(rng.normal(size=4000), rng.normal(size=4000) + 4)
    few = np.append(np.arange(4000), 4000 + np.arange(1000))
    y = np.repeat([0, 1], 4000)
    thresholds = [
        promised(score[rows, None], y[rows]).threshold_ for rows in (np.arange(8000), few)
    ]
    assert thresholds[0] == pytest.approx(thresholds[1], abs=0.3)


def test_errors():
    X, y = drawn(np.random.default_rng(0), 2000, 3.0)
    for target in (0.0, 1.0, "x", (0.1,), (0.2, 0.1), (0.1, 0.2, 0.3)):
        with pytest.raises(ValueError, match="target_prevalence"):
            promised(X, y, target_prevalence=target)
    with pytest.raises(ValueError, match="single rows of equal weight"):
        FixedPrecisionClassifier(prefit(), cv="prefit", target_prevalence=0.1).fit(
            X, y, groups=np.arange(2000) // 2
        )
    with pytest.raises(
        ValueError, match=r"takes at least 27\d\d\d negatives of which none is flagged"
    ):
        promised(X, y, target_prevalence=0.001)


def test_rows_needed():
    assert rows_needed("precision", 0.9, target_prevalence=0.005) == 5553
    assert rows_needed("precision", 0.9, target_prevalence=(0.005, 0.1)) == 5553
    assert rows_needed("precision", 0.9, prevalence=0.1, target_prevalence=0.005) == 6170
    with pytest.raises(ValueError, match="applies only to promise='precision'"):
        rows_needed("fpr", 0.1, target_prevalence=0.1)
    # With one negative less, none flagged and all positives found, the promise fails.
    for n, passes in ((5553, True), (5552, False)):
        fpr = beta.ppf(1 - 0.9 * 0.05, 1, n)
        assert (fpr <= fpr_per_tpr(0.1, 0.005)) == passes
