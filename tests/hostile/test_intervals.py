"""Intervals and tests that were once too narrow, had no width, or said more than they could."""

import numpy as np
import pytest
from scipy import stats

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import compare_scores, score_interval
from aucuba.metrics._study import Study


@pytest.mark.parametrize(
    ("name", "n_positives", "distance", "value"),
    [
        ("partial_auc", 30, 3.3, stats.norm.cdf(3.3 / np.sqrt(2))),
        ("partial_auc", 60, 3.3, stats.norm.cdf(3.3 / np.sqrt(2))),
        ("partial_auc", 30, 4.2, stats.norm.cdf(4.2 / np.sqrt(2))),
        ("equal_error_rate", 30, 3.3, stats.norm.sf(1.65)),
    ],
)
def test_very_good_scorers_are_covered(name, n_positives, distance, value):
    """Percentiles of 30 positives and AUC .99 hold the value in 80 % of samples, in favour of it."""
    rng, held, n_samples = np.random.default_rng(0), 0, 60
    y = np.arange(n_positives + 1_000) < n_positives
    for _ in range(n_samples):
        score = rng.normal(size=y.size) + distance * y
        found = score_interval(name, y, score, n_resamples=100, random_state=0)
        held += found.low <= value <= found.high
    assert held >= 0.92 * n_samples


def test_methods_that_rest_on_what_was_seen_say_so():
    rng = np.random.default_rng(1)
    y = np.arange(1_200) < 200
    score = rng.normal(size=y.size) + 4 * y
    for method in ("bca", "delong"):
        with pytest.warns(FewRowsWarning, match=f"'{method}' are too narrow .* method='auto'"):
            score_interval("partial_auc", y, score, method=method, n_resamples=20)


def test_weights_and_groups_count_as_effective_rows():
    """Forty positives of which two carry the weight are two, and so are groups around a large one."""
    rng = np.random.default_rng(2)
    y = np.arange(440) < 40
    score = rng.normal(size=440) + 2 * y
    weight = np.ones(440)
    weight[:2] = 1000.0
    with pytest.warns(FewRowsWarning, match="rests on 2.08 positives"):
        score_interval("partial_auc", y, score, sample_weight=weight)
    groups = np.where(np.arange(440) % 11 > 2, 0, 1 + np.arange(440) % 39)
    with pytest.warns(FewRowsWarning, match=r"Only 1.88 groups are drawn, counted as if of equal"):
        score_interval("partial_auc", y, score, groups=groups)


def test_counts_name_the_class():
    rng = np.random.default_rng(6)
    y = np.arange(320) < 20
    score, names = rng.normal(size=320) + y, np.where(y, "fraud", "ok")
    with pytest.warns(FewRowsWarning, match=r"rests on 20 positives \('fraud'\) and 300 negatives"):
        score_interval("partial_auc", names, score, pos_label="fraud")
    with pytest.warns(FewRowsWarning, match=r"20 positives \('fraud'\)"):
        compare_scores("partial_auc", names, score, -score, pos_label="fraud", method="delong")


@pytest.mark.parametrize("method", ["auto", "delong", "bootstrap"])
def test_a_difference_without_spread_is_open(method):
    """A perfect scorer against a constant: no resample differs, yet 30 positives do not prove it."""
    y = np.arange(330) < 30
    options = {"method": method, "n_resamples": 200, "random_state": 0}
    found = compare_scores("partial_auc", y, y * 1.0, np.zeros(330), **options)
    assert found.difference == 0.5
    open_part = 1 - 0.025 ** (1 / 30)
    assert found.low == pytest.approx(0.5 - 1.5 * open_part)
    assert found.high == pytest.approx(0.5 + 0.5 * open_part)
    few = np.arange(8) < 3
    with pytest.warns(FewRowsWarning):
        tiny = compare_scores("partial_auc", few, few * 1.0, np.zeros(8), **options)
    # Three rows that agree do not make a difference of a half significant.
    assert tiny.p_value == pytest.approx(2 * (1 - 0.5 / 1.5) ** 3)
    assert tiny.low < 0 < tiny.high
    one = compare_scores("partial_auc", y, y * 1.0, y * 2.0, **options)
    assert (one.low, one.difference, one.high, one.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_bootstrap_tests_of_few_groups_have_students_tails():
    """The p-value of a difference that lies q resampling errors from 0 is that of Student's t."""
    rng = np.random.default_rng(3)
    y, groups = np.arange(600) % 4 == 0, np.arange(600) % 12
    base = rng.normal(size=600) + y
    a, b = base + rng.normal(size=600), base + rng.normal(size=600)
    params = {"rate": "tpr", "threshold": 1.0, "n_resamples": 2000, "random_state": 0}
    grouped = compare_scores("rate_at_threshold", y, a, b, groups=groups, **params)
    study = Study.resampled
    kept = {}

    def keep(self, n_resamples, random_state):
        kept["draws"] = study(self, n_resamples, random_state)
        return kept["draws"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "resampled", keep)
        compare_scores("rate_at_threshold", y, a, b, groups=groups, **params)
    gaps = kept["draws"][0] - kept["draws"][1]
    n_beyond = min(np.sum(gaps <= 0), np.sum(gaps >= 0)) + 1
    q = stats.norm.isf(n_beyond / 2001)
    assert grouped.p_value == pytest.approx(2 * stats.t.sf(q / np.sqrt(12 / 11), 11))
    level = stats.norm.cdf(np.sqrt(12 / 11) * stats.t.ppf(0.025, 11))
    assert (grouped.low, grouped.high) == pytest.approx(
        tuple(np.quantile(gaps, [level, 1 - level]))
    )


def test_many_scorers_share_one_set_of_resamples(monkeypatch):
    rng = np.random.default_rng(4)
    y = np.arange(400) < 60
    scores = {name: rng.normal(size=400) + y for name in "abcd"}
    calls, study = [], Study.resampled
    monkeypatch.setattr(
        Study, "resampled", lambda self, n, seed: calls.append(n) or study(self, n, seed)
    )
    found = compare_scores("tpr_at_fpr", y, scores, fpr=0.1, n_resamples=50, random_state=0)
    assert len(found) == 6
    assert calls == [50]
    alone = compare_scores(
        "tpr_at_fpr", y, scores["b"], scores["d"], fpr=0.1, n_resamples=50, random_state=0
    )
    assert (alone.low, alone.high, alone.p_value) == (found[4].low, found[4].high, found[4].p_value)


def test_limits_are_called_what_they_are():
    rng = np.random.default_rng(5)
    y = np.arange(1_000) < 200
    a, b = rng.normal(size=(2, 1_000)) + 1.5 * y
    both = compare_scores("partial_auc", y, a, b, method="delong")
    error = (both.high - both.difference) / stats.norm.ppf(0.975)
    equal = compare_scores(
        "partial_auc", y, a, b, method="delong", alternative="equivalent", margin=0.1
    )
    assert equal.high == pytest.approx(both.difference + stats.norm.ppf(0.95) * error)
    assert "(90% interval, margin 0.1, delong)" in str(equal)
    assert equal.level == pytest.approx(0.05)
    worse = compare_scores(
        "partial_auc", y, a, b, method="delong", alternative="non-inferior", margin=0.1
    )
    assert worse.low == pytest.approx(both.low)
    assert "(limit of the 95% interval, margin 0.1, delong)" in str(worse)
    assert worse.level == pytest.approx(0.025)
    # The limit crosses the margin exactly where the p-value crosses the level.
    edge = compare_scores(
        "partial_auc", y, a, b, method="delong", alternative="non-inferior", margin=-both.low + 1e-9
    )
    assert edge.p_value == pytest.approx(0.025, abs=1e-6)
    above = compare_scores("partial_auc", y, a, b, method="delong", alternative="greater")
    assert above.low == pytest.approx(both.difference - stats.norm.ppf(0.95) * error)
    assert "(one-sided 95% limit, delong)" in str(above)
    one = score_interval("partial_auc", y, a)
    assert str(one).endswith("(95% interval, wilson)")
    bound = score_interval("partial_auc", y, a, alternative="greater")
    assert f"> {bound.low:.4f} (one-sided 95% limit, wilson)" in str(bound)
