"""Intervals and tests of every measure: methods, units, weights, alternatives."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from aucuba._base._warnings import FewRowsWarning
from aucuba._rows._sample import RankingSample
from aucuba.metrics import (
    ScoreComparison,
    compare_scores,
    operating_point,
    power_of,
    precision_at_recall_score,
    sample_size_for,
    score_interval,
)
from aucuba.metrics._measures import bind
from aucuba.metrics._steps import Spread, spread_of_steps
from aucuba.metrics._study import make_study
from tests.measure_cases import PARAMS, suited


def sample(seed=0, n_pos=60, n_neg=300, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=y.size) + shift * y


@pytest.mark.parametrize("name", PARAMS)
def test_every_measure_has_an_interval_and_a_test(name):
    y, score = sample()
    # Scores that are high for the negatives are as far apart.
    opposed = np.random.default_rng(9).normal(size=y.size) if "kolm" in name else -score
    score, opposed = suited(name, score), suited(name, opposed)
    options = {"n_resamples": 60, "random_state": 0, **PARAMS[name]}
    got = score_interval(name, y, score, **options)
    assert got.low <= got.value <= got.high
    assert got.low < got.high
    assert got.value == bind(name, PARAMS[name]).value(
        make_study(
            name,
            PARAMS[name],
            y,
            [score],
            sample_weight=None,
            qid=None,
            groups=None,
            pos_label=None,
            sampling="auto",
            weight_kind="sampling",
        ).samples[0]
    )
    worse = compare_scores(name, y, score, opposed, **options)
    assert worse.p_value < 0.1
    assert (worse.difference > 0) != worse.pair.smaller_is_better
    assert score_interval(name, y, score, **options) == got
    lower = score_interval(name, y, score, alternative="greater", **options)
    assert got.low <= lower.low <= lower.value
    assert lower.high == bind(name, PARAMS[name]).limits[1]


@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_delong_is_hanley_and_mcneils_formula_by_hand():
    """Structural components of two positives and three negatives, divisors m - 1 and n - 1."""
    y, score = np.array([1, 1, 0, 0, 0]), np.array([5.0, 2.0, 3.0, 1.0, 0.0])
    v10, v01 = np.array([1.0, 2 / 3]), np.array([0.5, 1.0, 1.0])
    error = np.sqrt(v10.var(ddof=1) / 2 + v01.var(ddof=1) / 3)
    with pytest.warns(UserWarning, match="rests on 2 positives and 3 negatives"):
        got = score_interval("partial_auc", y, score, method="delong")
    assert got.value == pytest.approx(5 / 6)
    assert got.low == pytest.approx(5 / 6 - stats.norm.ppf(0.975) * error)


def test_paired_and_independent_tests_by_components():
    y, a = sample(1)
    b = a + np.random.default_rng(2).normal(size=y.size)

    def parts(score):
        pos, neg = score[y == 1], score[y == 0]
        above = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
        return above.mean(1), above.mean(0)

    (v_a, w_a), (v_b, w_b) = parts(a), parts(b)
    error = np.sqrt((v_a - v_b).var(ddof=1) / 60 + (w_a - w_b).var(ddof=1) / 300)
    got = compare_scores("partial_auc", y, a, b, method="delong")
    difference = v_a.mean() - v_b.mean()
    assert got.difference == pytest.approx(difference)
    assert got.p_value == pytest.approx(2 * stats.norm.sf(abs(difference) / error))

    squares = [v.var(ddof=1) / 60 + w.var(ddof=1) / 300 for v, w in ((v_a, w_a), (v_b, w_b))]
    df = sum(squares) ** 2 / sum(s**2 / 359 for s in squares)
    apart = compare_scores("partial_auc", y, a, b, y_true_b=y, method="delong")
    t = abs(difference) / np.sqrt(sum(squares))
    assert apart.p_value == pytest.approx(2 * stats.t.sf(t, df))
    boot = compare_scores("partial_auc", y, a, b, y_true_b=y, method="bootstrap", random_state=0)
    assert boot.high - boot.low == pytest.approx(apart.high - apart.low, rel=0.15)


@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_groups_widen_and_equal_rows_do_not():
    rng = np.random.default_rng(3)
    y, score = sample(3)
    rows = score_interval("partial_auc", y, score, method="delong")
    alone = score_interval("partial_auc", y, score, groups=np.arange(y.size), method="delong")
    assert alone.sampling == "groups"
    assert alone.high - alone.low == pytest.approx(rows.high - rows.low, rel=0.02)
    five = np.tile(np.arange(y.size), 5)
    copied = score_interval("partial_auc", y[five], score[five], groups=five, method="delong")
    assert copied.high - copied.low == pytest.approx(rows.high - rows.low, rel=0.02)
    naive = score_interval("partial_auc", y[five], score[five], method="delong")
    assert naive.high - naive.low < 0.5 * (copied.high - copied.low)
    boot = score_interval(
        "partial_auc", y[five], score[five], groups=five, method="bootstrap", random_state=0
    )
    assert boot.high - boot.low == pytest.approx(copied.high - copied.low, rel=0.15)
    with pytest.warns(UserWarning, match="Only 4 groups are drawn"):
        score_interval("partial_auc", y, score, groups=rng.integers(0, 4, y.size))


@pytest.mark.filterwarnings("ignore:Only . queries are drawn")
def test_few_queries_keep_their_size():
    """Scorers without information on few queries: Student's t rejects at its level."""
    y = np.tile([1] * 5 + [0] * 20, 3)
    with pytest.warns(UserWarning, match="Only 3 queries are drawn"):
        compare_scores("partial_auc", y, y, -y, qid=np.repeat([0, 1, 2], 25), random_state=0)
    rng = np.random.default_rng(4)
    for n_queries in (3, 9):
        rejected = 0
        for _ in range(200):
            y = np.tile([1] * 5 + [0] * 20, n_queries)
            a, b = rng.normal(size=(2, y.size))
            qid = np.repeat(np.arange(n_queries), 25)
            found = compare_scores("partial_auc", y, a, b, qid=qid, fpr_range=(0, 0.2))
            rejected += found.p_value < 0.05
        # 5 % plus three standard errors of 200 trials.
        assert rejected / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_one_query_is_refused():
    y, score = sample()
    with pytest.raises(ValueError, match="qid names one query"):
        score_interval("partial_auc", y, score, qid=np.zeros(y.size))
    with pytest.raises(ValueError, match="groups names one group"):
        score_interval("partial_auc", y, score, groups=np.zeros(y.size))
    with pytest.raises(ValueError, match="Give qid or groups, not both"):
        score_interval("partial_auc", y, score, groups=y, qid=y)


@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_weights_as_frequencies_are_copies():
    rng = np.random.default_rng(5)
    y, score = sample(5)
    weight = rng.integers(1, 5, size=y.size).astype(float)
    copies = np.repeat(np.arange(y.size), weight.astype(int))
    for method in ("delong", "bootstrap"):
        options = {"method": method, "random_state": 0, "fpr_range": (0, 0.3)}
        heavy = score_interval(
            "partial_auc", y, score, sample_weight=weight, weight_kind="frequency", **options
        )
        plain = score_interval("partial_auc", y[copies], score[copies], **options)
        assert heavy.value == pytest.approx(plain.value)
        tolerance = 2e-3 if method == "delong" else 0.1
        assert heavy.high - heavy.low == pytest.approx(plain.high - plain.low, rel=tolerance)
    units = score_interval(
        "partial_auc", y, score, sample_weight=weight, fpr_range=(0, 0.3), method="delong"
    )
    assert units.high - units.low > 1.3 * (plain.high - plain.low)
    with pytest.raises(ValueError, match="whole-number weights"):
        score_interval("partial_auc", y, score, sample_weight=weight / 3, weight_kind="frequency")


def test_rates_at_a_fixed_threshold():
    y, score = sample(6)
    hits = int(np.sum(score[y == 1] >= 1.0))
    options = {"rate": "tpr", "threshold": 1.0}
    exact = score_interval("rate_at_threshold", y, score, method="exact", **options)
    want = stats.binomtest(hits, 60).proportion_ci(method="exact")
    assert (exact.low, exact.high) == pytest.approx((want.low, want.high))
    assert score_interval("rate_at_threshold", y, score, **options).method == "exact"
    wilson = score_interval("rate_at_threshold", y, score, method="wilson", **options)
    want = stats.binomtest(hits, 60).proportion_ci(method="wilson")
    assert (wilson.low, wilson.high) == pytest.approx((want.low, want.high))


def test_conservative_limits_contain_the_binomial_ones():
    y, score = sample(7)
    point = operating_point(y, score, fpr=0.1)
    careful = score_interval("tpr_at_fpr", y, score, fpr=0.1, method="conservative")
    hits = round(point.tpr * 60)
    fixed = stats.binomtest(hits, 60).proportion_ci(method="exact")
    assert careful.low < fixed.low
    assert careful.high > fixed.high


@pytest.mark.parametrize("shift", [3.0, 0.0])
def test_acceleration_has_the_sign_of_the_skewness(shift):
    """Near 1 the estimate is skewed to the left, at chance hardly at all."""
    y, score = sample(8, 200, 200, shift)
    study = make_study(
        "partial_auc",
        {},
        y,
        [score],
        sample_weight=None,
        qid=None,
        groups=None,
        pos_label=None,
        sampling="auto",
        weight_kind="sampling",
    )
    found = study.acceleration()
    draws = study.resampled(4000, 0)[0]
    # For a mean the skewness is six times the acceleration; second-order terms add to it near 1.
    assert 6 * found == pytest.approx(stats.skew(draws), abs=0.2)
    assert found < -0.03 or shift == 0.0


def test_non_inferiority_equivalence_and_sides():
    y, a = sample(9)
    b = a + 0.1 * np.random.default_rng(10).normal(size=y.size)
    shared = {"method": "delong"}
    assert compare_scores("partial_auc", y, b, a, **shared).p_value > 0.01
    not_worse = compare_scores(
        "partial_auc", y, b, a, alternative="non-inferior", margin=0.05, **shared
    )
    assert not_worse.p_value < 0.001
    assert not_worse.high == np.inf
    same = compare_scores("partial_auc", y, b, a, alternative="equivalent", margin=0.05, **shared)
    assert same.p_value < 0.001
    # The one-sided tests at margin m are those of the interval at 1 - 2 alpha.
    assert -0.05 < same.low < same.high < 0.05
    up = compare_scores("partial_auc", y, a, -a, alternative="greater", **shared)
    down = compare_scores("partial_auc", y, a, -a, alternative="less", **shared)
    assert up.p_value == pytest.approx(1 - down.p_value)
    turned = compare_scores(
        "equal_error_rate", y, a, b, alternative="non-inferior", margin=0.1, random_state=0
    )
    assert turned.pair.smaller_is_better
    assert turned.low == -np.inf
    assert turned.p_value < 0.01
    for wrong in ({"alternative": "non-inferior"}, {"margin": 0.1}):
        with pytest.raises(ValueError, match="margin"):
            compare_scores("partial_auc", y, a, b, **wrong)


def test_scorers_without_spread_are_resampled():
    y = np.repeat([1, 0], [30, 60])
    found = compare_scores(
        "partial_auc", y, y, -y, method="delong", random_state=0, n_resamples=199
    )
    assert found.method == "bootstrap"
    assert found.p_value == pytest.approx(2 / 200)


def test_tables_of_several_scorers():
    y, a = sample(11)
    rng = np.random.default_rng(12)
    scores = {"a": a, "near": a + 0.1 * rng.normal(size=a.size), "noise": rng.normal(size=a.size)}
    rows = compare_scores("partial_auc", y, scores, method="delong")
    assert [row.names for row in rows] == [("a", "near"), ("a", "noise"), ("near", "noise")]
    p = sorted(row.p_value for row in rows)
    by_name = {row.names: row for row in rows}
    smallest = min(rows, key=lambda row: row.p_value)
    assert smallest.p_holm == pytest.approx(min(1.0, 3 * p[0]))
    assert by_name["a", "near"].p_holm == pytest.approx(max(by_name["a", "near"].p_value, 2 * p[1]))
    some = compare_scores("partial_auc", y, scores, reference="noise", method="delong")
    assert [row.names for row in some] == [("a", "noise"), ("near", "noise")]
    assert "a - noise: " in str(some)
    assert "corrected p = " in str(some)
    with pytest.raises(ValueError, match="2 pairs were compared"):
        _ = some.p_value
    with pytest.raises(ValueError, match="reference must be one of"):
        compare_scores("partial_auc", y, scores, reference="other")


def test_two_scorers_and_many_have_one_type():
    y, a = sample(11)
    alone = compare_scores("partial_auc", y, a, -a, method="delong")
    table = compare_scores("partial_auc", y, {"a": a, "b": -a}, method="delong")
    apart = compare_scores("partial_auc", y, a, -a, y_true_b=y, method="delong")
    assert type(alone) is type(table) is type(apart) is ScoreComparison
    assert alone == table
    assert (len(alone), alone.pair.p_holm) == (1, alone.p_value)
    assert pickle.loads(pickle.dumps(table)) == table


def test_a_measure_of_ones_own():
    def mean_gap(y_true, y_score, *, sample_weight, power):
        up = np.average(y_score[y_true == 1] ** power, weights=sample_weight[y_true == 1])
        return up - np.average(y_score[y_true == 0] ** power, weights=sample_weight[y_true == 0])

    y, score = sample(13)
    got = score_interval(mean_gap, y, score, power=1, random_state=0)
    assert got.value == pytest.approx(score[y == 1].mean() - score[y == 0].mean())
    assert got.method == "bootstrap"
    error = np.sqrt(score[y == 1].var() / 60 + score[y == 0].var() / 300)
    assert (got.high - got.low) / 3.92 == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "roc_auc"}, r"metric must be one of 'partial_auc'.*Did you mean 'auc'\?$"),
        ({"metric": "pAUC"}, r"Did you mean 'partial_auc'\?$"),
        ({"metric": "tpr_at_fp"}, "Did you mean 'tpr_at_fpr' or "),
        ({"metric": "tpr_at_fpr"}, "missing 1 required keyword-only argument: 'fpr'"),
        ({"metric": "bedroc", "beta": 3}, "unexpected keyword argument 'beta'"),
        ({"metric": "bedroc", "method": "delong"}, "needs placement values"),
        ({"metric": "equal_error_rate", "method": "bca"}, "needs a smooth measure"),
        ({"metric": "partial_auc", "method": "exact"}, "fixed beforehand"),
        ({"metric": "partial_auc", "method": "conservative"}, "is for 'tpr_at_fpr'"),
        ({"metric": "partial_auc", "sampling": "rows"}, "sampling must be one of"),
        ({"metric": "partial_auc", "alternative": "up"}, "alternative must be one of"),
        ({"metric": "partial_auc", "alternative": "grater"}, r"Did you mean 'greater'\?$"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    y, score = sample()
    metric = arguments.pop("metric")
    with pytest.raises(ValueError, match=message):
        score_interval(metric, y, score, **arguments)


def planned(shift_b=None, **goal):
    y, score = sample(20, 200, 2000)
    other = None
    if shift_b is not None:
        other = score + shift_b * np.random.default_rng(21).normal(size=y.size)
    return sample_size_for("partial_auc", y, score, other, fpr_range=(0.0, 0.2), **goal)


def test_planned_widths_are_those_of_fresh_samples():
    """The half-width of studies of the planned size, drawn from the same law as the pilot."""
    size = planned(half_width=0.03)
    assert size.n_negatives == 10 * size.n_positives
    widths = []
    for seed in range(20):
        y, score = sample(100 + seed, size.n_positives, size.n_negatives)
        got = score_interval("partial_auc", y, score, method="delong", fpr_range=(0.0, 0.2))
        widths.append((got.high - got.low) / 2)
    assert np.mean(widths) == pytest.approx(0.03, rel=0.1)
    balanced = planned(half_width=0.03, ratio=1.0)
    assert balanced.n_positives == balanced.n_negatives > size.n_positives


def test_planned_widths_of_a_rate_whose_threshold_comes_from_the_rows():
    """Intervals of such rates are wider than their standard error says, and the plan knows it."""
    ratio = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], [100, 400])
        plan = sample_size_for(
            "fpr_at_tpr",
            y,
            rng.normal(size=y.size) + 1.5 * y,
            half_width=0.08,
            tpr=0.9,
            random_state=0,
        )
        y = np.repeat([1, 0], [plan.n_positives, plan.n_negatives])
        score = rng.normal(size=y.size) + 1.5 * y
        found = score_interval("fpr_at_tpr", y, score, tpr=0.9, n_resamples=200, random_state=0)
        ratio.append((found.high - found.low) / 2 / 0.08)
    assert 0.88 < np.mean(ratio) < 1.12


def test_planned_power_and_its_inverse():
    size = planned(0.5, power=0.8, difference=0.02)
    y, a = sample(20, 200, 2000)
    b = a + 0.5 * np.random.default_rng(21).normal(size=y.size)
    options = {"difference": 0.02, "fpr_range": (0.0, 0.2)}
    rows = {"n_positives": size.n_positives, "n_negatives": size.n_negatives}
    assert power_of("partial_auc", y, a, b, **rows, **options) == pytest.approx(0.8, abs=0.01)
    alone = sample_size_for("partial_auc", y, a, power=0.8, **options)
    assert alone.n_positives > 2 * size.n_positives


def test_planning_by_resamples_agrees_with_placements():
    y, score = sample(22, 100, 500)
    options = {"n_positives": 300, "n_negatives": 1500, "difference": 0.03}

    def auc(y_true, y_score, *, sample_weight):
        return roc_auc_score(y_true, y_score, sample_weight=sample_weight)

    other = score + np.random.default_rng(29).normal(size=y.size)
    by_placements = power_of("partial_auc", y, score, other, **options)
    assert power_of(auc, y, score, other, random_state=0, **options) == pytest.approx(
        by_placements, abs=0.06
    )
    assert 0.3 < by_placements < 0.95
    with pytest.raises(ValueError, match="Give half_width, or power and difference"):
        sample_size_for("partial_auc", y, score, difference=0.1)
    with pytest.raises(ValueError, match="Give difference, the true difference"):
        sample_size_for("partial_auc", y, score, power=0.8)
    with pytest.raises(ValueError, match="difference must be a number above 0"):
        power_of("partial_auc", y, score, n_positives=3, n_negatives=3, difference=0.0)


def test_plans_of_measures_in_steps_know_how_far_estimates_and_tests_spread():
    def draw(rng, n_positives, n_negatives):
        y = np.arange(n_positives + n_negatives) < n_positives
        first = rng.normal(size=y.size) + 1.5 * y
        return y, first, first + 0.5 * rng.normal(size=y.size)

    def gap(y, *scores):
        first, second = (bind("fpr_at_tpr", {"tpr": 0.9}).value(one) for one in ranked(y, *scores))
        return first - second

    def ranked(y, *scores):
        return [RankingSample.from_arrays(y, one) for one in scores]

    rng = np.random.default_rng(31)
    real = np.std([gap(*draw(rng, 150, 900)) for _ in range(400)])
    studies = [make_study("fpr_at_tpr", {"tpr": 0.9}, y, [a, b])
               for y, a, b in (draw(rng, 100, 600) for _ in range(8))]  # fmt: skip
    found = [spread_of_steps(one, 6.0, 0).errors(150) for one in studies]
    estimate, of_test = np.sqrt(np.mean(np.square(found), axis=0)) / real
    assert 0.88 < estimate < 1.06
    assert 1.03 * estimate < of_test < 1.3


def test_the_excess_of_resamples_fades_with_the_size_of_a_study():
    small, large = (Spread(0.04, 100.0, 0.2).errors(n) for n in (100, 40_000))
    assert small == pytest.approx((np.sqrt(0.04 * 0.8), 0.2))
    assert large == pytest.approx((np.sqrt(1e-4 * 0.8), np.sqrt(1e-4 * 0.81)))


@pytest.mark.parametrize("goal", [{"power": 0.8, "difference": 0.07}, {"half_width": 0.05}])
def test_sizes_of_measures_in_steps_reach_their_goal(goal):
    y, a = sample(33, 80, 240)
    b = a + 0.7 * np.random.default_rng(34).normal(size=y.size)
    size = sample_size_for("tpr_at_fpr", y, a, b, fpr=0.1, random_state=0, **goal)
    study = make_study("tpr_at_fpr", {"fpr": 0.1}, y, [a, b])
    estimate, of_test = spread_of_steps(study, 3.0, 0).errors(size.n_positives)
    assert estimate < of_test
    if "power" in goal:
        rows = {"n_positives": size.n_positives, "n_negatives": size.n_negatives}
        power = power_of("tpr_at_fpr", y, a, b, fpr=0.1, random_state=0, difference=0.07, **rows)
        assert power == pytest.approx(0.8, abs=0.01)
    else:
        assert 1.96 * of_test == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize("ratio", [0.02, 500.0])
def test_steps_of_few_rows_and_far_ratios_have_a_spread(ratio):
    y, a = sample(35, 12, 12)
    study = make_study(
        "tpr_at_fpr", {"fpr": 0.2}, y, [a, np.random.default_rng(36).normal(size=24)]
    )
    found = spread_of_steps(study, ratio, 0)
    assert found.variance > 0
    assert 0 <= found.excess <= 0.5


def test_blocks_of_equal_scores_are_not_smoothed_away():
    y, a = sample(37, 200, 2000)
    b = a + 0.5 * np.random.default_rng(38).normal(size=y.size)
    params = {"recall": 0.5}
    for step, is_smoothed in ((0.01, True), (1.0, False)):
        rounded = [np.round(one / step) for one in (a, b)]
        found = spread_of_steps(make_study("precision_at_recall", params, y, rounded), 10.0, 0)
        assert (found.excess > 0) == is_smoothed


def test_probabilities_of_both_classes_are_refused_in_words():
    with pytest.raises(
        ValueError, match=r"\(40, 2\). For probabilities, give the column of the pos"
    ):
        score_interval("auc", np.arange(40) % 2, np.ones((40, 2)))
    with pytest.raises(ValueError, match=r"\(40, 2\)\.$"):
        score_interval("auc", np.ones((40, 2)), np.ones(40))


def test_planning_from_values_is_planning_from_a_large_pilot():
    """Normal scores whose values are those expected, and so many that the pilot has no noise."""
    rng = np.random.default_rng(23)
    y = np.repeat([1, 0], 20_000)
    a, b = rng.normal(size=(2, y.size)) + np.array([[1.5], [1.0]]) * y
    values = tuple(stats.norm.cdf(np.array([1.5, 1.0]) / np.sqrt(2)))
    goal = {"power": 0.8, "ratio": 2.0}
    want = sample_size_for("auc", y, a, b, difference=values[0] - values[1], **goal)
    got = sample_size_for("auc", values=values, **goal)
    assert got.n_positives == pytest.approx(want.n_positives, rel=0.05)
    related = sample_size_for("auc", values=values, correlation=0.5, **goal)
    assert related.n_positives == pytest.approx(0.5 * got.n_positives, rel=0.05)
    rows = {"n_positives": got.n_positives, "n_negatives": got.n_negatives}
    assert power_of("auc", values=values, **rows) == pytest.approx(0.8, abs=0.01)
    alone = sample_size_for("tpr_at_fpr", values=0.6, half_width=0.05, ratio=10, fpr=0.05)
    assert 369 <= alone.n_positives <= 480  # 369 without the threshold's part
    with pytest.raises(ValueError, match=r"No normal scores have a partial_auc of 1.2"):
        sample_size_for("auc", values=1.2, half_width=0.05)
    with pytest.raises(ValueError, match=r"^groups are those of a pilot's rows"):
        sample_size_for("auc", values=0.8, half_width=0.05, groups=[0, 1])
    with pytest.raises(ValueError, match="Give the labels and scores of a pilot, or the values"):
        sample_size_for("auc", half_width=0.05)


@pytest.mark.parametrize(
    ("auc", "ratio", "positives"),
    [(0.6, 0.5, 202), (0.6, 1, 135), (0.6, 2, 102), (0.7, 0.5, 49), (0.7, 2, 25), (0.8, 1, 14)],
)
def test_one_auc_is_planned_against_chance_as_in_the_literature(auc, ratio, positives):
    """Obuchowski, Lieber and Wians (2004), Table 4, as pROC prints it: one-sided 5 %, power 90 %."""
    test = {"values": auc, "difference": auc - 0.5, "confidence": 0.9}
    got = sample_size_for("auc", ratio=ratio, power=0.9, **test)
    assert got.n_positives == pytest.approx(positives, abs=1, rel=0.035)
    rows = {"n_positives": got.n_positives, "n_negatives": got.n_negatives}
    assert power_of("auc", **test, **rows) == pytest.approx(0.9, abs=0.02)


def test_one_auc_has_the_power_that_proc_prints():
    test = {"values": 0.73, "difference": 0.23, "n_positives": 41, "n_negatives": 72}
    assert power_of("auc", **test) == pytest.approx(0.9897, abs=0.005)
    # Against .96, where an AUC varies less.
    assert power_of("auc", **test | {"difference": -0.23}) > power_of("auc", **test)
    inside = power_of("auc", **test | {"difference": 0.13}, margin=0.1)
    assert inside == pytest.approx(power_of("auc", **test), abs=1e-6)


def test_one_scorer_of_a_pilot_is_tested_like_its_value():
    y, score = sample(30, 3_000, 3_000)
    value = roc_auc_score(y, score)
    test = {"difference": value - 0.5, "power": 0.9}
    assert sample_size_for("auc", y, score, **test) == sample_size_for("auc", values=value, **test)
    # No model tells the variance of a perfect scorer, or of a function, elsewhere.
    perfect = sample_size_for("partial_auc", y, y + 1e-3 * score, difference=0.1, power=0.9)
    assert perfect.n_positives >= 2


@pytest.mark.parametrize("correlation", [0.0, 0.5])
@pytest.mark.parametrize("pair", [(0.75, 0.7), (0.8, 0.75), (0.85, 0.75), (0.85, 0.85)])
def test_two_aucs_are_planned_as_by_hanley_and_mcneil(pair, correlation):
    """Their formula (1982, 1983; MedCalc's) has exponential scores; we have normal ones."""
    first, second = (one / (2 - one) + 2 * one**2 / (1 + one) - 2 * one**2 for one in pair)
    variance = first + second - 2 * correlation * np.sqrt(first * second)
    margin = 0.0 if pair[0] > pair[1] else 0.05
    z = stats.norm.ppf([0.975, 0.8]).sum()
    want = z**2 * variance / (pair[0] - pair[1] + margin) ** 2
    got = sample_size_for(
        "auc", values=pair, correlation=correlation, ratio=1, power=0.8, margin=margin
    )
    assert got.n_positives == pytest.approx(want, rel=0.1)


def test_the_design_effect_of_a_pilot_is_that_of_the_formula():
    rng = np.random.default_rng(28)
    groups = np.repeat(np.arange(800), 4)
    y = np.repeat(rng.permutation(np.repeat([0, 1], 400)), 4)
    shared = np.repeat(rng.normal(size=800), 4)
    score = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=y.size) + 1.5 * y
    goal = {"half_width": 0.03, "ratio": 1}
    alone, clustered = (
        sample_size_for("auc", y, score, groups=one, **goal).n_positives for one in (None, groups)
    )
    assert clustered / alone == pytest.approx(1 + 3 * 0.3, rel=0.1)


def test_planning_for_non_inferiority_and_groups():
    y, score = sample(24, 300, 900)
    other = score + 0.3 * np.random.default_rng(25).normal(size=y.size)
    plain = sample_size_for("auc", y, score, other, power=0.9, difference=0.02)
    inside = sample_size_for("auc", y, score, other, power=0.9, margin=0.02)
    assert inside == plain
    worse = sample_size_for("auc", y, score, other, power=0.9, margin=0.03, difference=-0.01)
    assert worse == plain
    given = {"n_positives": 100, "n_negatives": 300}
    power = power_of("auc", y, score, other, margin=0.02, **given)
    # Only one of the two tails counts.
    assert 0 < power < power_of("auc", y, score, other, difference=0.02, **given)
    # Five copies of every row as a group: five times the rows are needed.
    five = np.tile(np.arange(y.size), 5)
    for name, params in (("auc", {}), ("tpr_at_fpr", {"fpr": 0.1, "random_state": 0})):
        alone = sample_size_for(name, y, score, half_width=0.03, **params)
        copied = sample_size_for(name, y[five], score[five], half_width=0.03, groups=five, **params)
        assert copied.n_positives == pytest.approx(5 * alone.n_positives, rel=0.15)


def test_an_uncertain_prevalence_is_part_of_the_plan():
    """The spread of precisions at a recall over random samples of the planned size."""
    rng = np.random.default_rng(26)
    y, score = sample(27, 1_000, 4_000)
    options = {"recall": 0.5, "random_state": 0}
    size = sample_size_for("precision_at_recall", y, score, half_width=0.04, ratio=9, **options)
    n, values = size.n_positives + size.n_negatives, []
    for _ in range(300):
        drawn = rng.random(n) < 0.1
        values.append(
            precision_at_recall_score(drawn, rng.normal(size=n) + 1.5 * drawn, recall=0.5)
        )
    assert 1.96 * np.std(values) == pytest.approx(0.04, rel=0.15)


def test_what_is_too_few_is_named():
    """Of the rows that decide: negatives within an FPR, positives below a TPR, positives in all."""
    y, score = sample(12, 60, 200)
    quick = {"n_resamples": 20, "random_state": 0}
    with pytest.warns(FewRowsWarning, match="60 positives and 2 negatives in the range"):
        score_interval("tpr_at_fpr", y, score, fpr=0.01, **quick)
    with pytest.warns(FewRowsWarning, match="2.4 positives and 200 negatives in the range"):
        score_interval("fpr_at_tpr", y, score, tpr=0.96, **quick)
    with pytest.warns(FewRowsWarning, match="2.4 positives and 200 negatives in the range"):
        score_interval("fpr_at_tpr", y, score, tpr=0.96, groups=np.arange(260) % 60, **quick)
    with pytest.warns(FewRowsWarning, match="60 positives and 0.461 negatives in the range"):
        score_interval("log_auc", y, score, fpr_range=(0.001, 0.01))
    weight = np.where(np.arange(260) % 2, 5.0, 1.0)
    with pytest.warns(FewRowsWarning, match="41.5 positives and 2.77 negatives in the range"):
        score_interval("tpr_at_fpr", y, score, fpr=0.02, sample_weight=weight, **quick)
    with pytest.warns(FewRowsWarning, match="method='delong' are too narrow with 60 positives"):
        score_interval("partial_auc", y, score, method="delong")
    y, score = sample(13, 29, 300)
    with pytest.warns(FewRowsWarning, match="fewer than 30 positives in all"):
        score_interval("equal_error_rate", y, score, **quick)


def test_auto_names_what_suits_groups():
    y, score = sample(14, 120, 480)
    options = {"n_resamples": 50, "random_state": 0}
    many = score_interval("partial_auc", y, score, groups=np.arange(600) % 60, **options)
    few = score_interval("partial_auc", y, score, groups=np.arange(600) % 30, **options)
    paired = compare_scores("partial_auc", y, score, -score, groups=np.arange(600) % 60)
    assert (many.method, few.method, paired.method) == ("wilson", "wilson", "delong")
    assert many.n_resamples == few.n_resamples == 0


def test_percentiles_of_few_groups_are_wider():
    """With C groups the level is that of sqrt(C / (C - 1)) quantiles of Student's t."""
    y, score = sample(15, 120, 480)
    groups = np.arange(600) % 12
    study = make_study(
        "rie",
        {},
        y,
        [score],
        sample_weight=None,
        qid=None,
        groups=groups,
        pos_label=None,
        sampling="auto",
        weight_kind="sampling",
    )
    level = stats.norm.cdf(np.sqrt(12 / 11) * stats.t.ppf(0.025, 11))
    draws = study.resampled(400, 0)[0]
    got = score_interval(
        "rie", y, score, groups=groups, method="bootstrap", n_resamples=400, random_state=0
    )
    want = np.quantile(draws, [level, 1 - level], method="weibull")
    assert (got.low, got.high) == pytest.approx(tuple(want))
