import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from aucuba.metrics import (
    froc_to_fpr_range,
    partial_auc_score,
    tpr_at_fpr_score,
    two_way_partial_auc_score,
)
from tests.oracles import partial_auc_by_pairs, random_ranking

TABLE_1 = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])
SCORE_1 = np.array([9.1, 6.8, 6.1, 5.7, 8.5, 8.1, 4.2, 3.6, 2.3])
SCORE_2 = np.array([9.9, 8.7, 3.3, 2.1, 7.6, 5.3, 4.9, 4.4, 0.8])


def random_range(rng):
    """A range, sometimes narrower than one negative, sometimes with limits on ranks."""
    kind = rng.integers(3)
    if kind == 0:
        low = rng.uniform(0, 0.95)
        return low, low + rng.uniform(0.001, 0.04)
    if kind == 1:
        low, high = np.sort(rng.choice(11, size=2, replace=False)) / 10
        return low, high
    return tuple(np.sort(rng.uniform(size=2)))


def test_equals_the_pair_count():
    rng = np.random.default_rng(0)
    for case in range(900):
        positive, score = random_ranking(rng)
        fpr_range = random_range(rng)
        weight = None
        if case % 3 == 1:
            weight = rng.uniform(0.1, 3.0, size=score.size)
        elif case % 3 == 2:
            weight = rng.integers(1, 4, size=score.size)
        got = partial_auc_score(positive, score, fpr_range=fpr_range, sample_weight=weight)
        assert got == pytest.approx(
            partial_auc_by_pairs(positive, score, fpr_range, weight), abs=1e-12
        )


def test_mean_over_queries_equals_the_pair_count():
    rng = np.random.default_rng(1)
    for _ in range(100):
        parts = [random_ranking(rng, max_rows=6) for _ in range(rng.integers(1, 4))]
        positive, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        qid = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
        order = rng.permutation(score.size)
        fpr_range = random_range(rng)
        got = partial_auc_score(positive[order], score[order], fpr_range=fpr_range, qid=qid[order])
        want = np.mean([partial_auc_by_pairs(*part, fpr_range) for part in parts])
        assert got == pytest.approx(want, abs=1e-12)


def test_queries_with_one_class_are_counted_in_a_warning():
    with pytest.warns(UserWarning, match="1 of 2 queries have only one class") as caught:
        value = partial_auc_score([0, 1, 1, 1], [0, 1, 2, 3], qid=["a", "a", "b", "b"])
    assert value == 1.0
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="None of the 2 queries"):
        partial_auc_score([0, 0, 1, 1], [0, 1, 2, 3], qid=[1, 1, 2, 2])


def test_table_1_of_the_paper():
    assert partial_auc_score(TABLE_1, SCORE_1) > partial_auc_score(TABLE_1, SCORE_2)
    band = (0.1, 0.2)
    assert partial_auc_score(TABLE_1, SCORE_1, fpr_range=band) == pytest.approx(0.25)
    assert partial_auc_score(TABLE_1, SCORE_2, fpr_range=band) == pytest.approx(0.5)


def test_full_range_is_roc_auc_score():
    rng = np.random.default_rng(2)
    for _ in range(100):
        positive, score = random_ranking(rng, max_rows=40)
        weight = rng.uniform(0.1, 2, size=score.size)
        assert partial_auc_score(positive, score) == pytest.approx(roc_auc_score(positive, score))
        assert partial_auc_score(positive, score, sample_weight=weight) == pytest.approx(
            roc_auc_score(positive, score, sample_weight=weight)
        )


def test_equals_the_area_under_scikit_learns_curve():
    rng = np.random.default_rng(3)
    for _ in range(300):
        positive, score = random_ranking(rng, max_rows=30)
        low, high = random_range(rng)
        fpr, tpr, _ = roc_curve(positive, score, drop_intermediate=False)
        grid = np.sort(
            np.concatenate([fpr[(fpr > low) & (fpr < high)], np.linspace(low, high, 4001)])
        )
        middle = (grid[1:] + grid[:-1]) / 2
        area = np.diff(grid) @ np.interp(middle, fpr, tpr) / (high - low)
        got = partial_auc_score(positive, score, fpr_range=(low, high))
        assert got == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("fpr_range", [(0, 0.01), (0.1, 0.2), (0, 1)])
def test_scores_without_information_give_the_diagonal(fpr_range):
    y = np.arange(50) % 2
    assert partial_auc_score(y, np.zeros(50), fpr_range=fpr_range) == pytest.approx(
        sum(fpr_range) / 2
    )


def test_it_is_not_mcclish_scaled():
    rng = np.random.default_rng(4)
    y = rng.random(200) < 0.3
    score = rng.normal(size=200) + y
    plain = partial_auc_score(y, score, fpr_range=(0, 0.2))
    low, high = 0.2**2 / 2, 0.2
    scaled = 0.5 * (1 + (plain * 0.2 - low) / (high - low))
    assert roc_auc_score(y, score, max_fpr=0.2) == pytest.approx(scaled)
    assert abs(plain - scaled) > 0.05


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 4), st.integers(1, 3)), min_size=2, max_size=15
    ),
    st.tuples(st.floats(0, 0.9), st.floats(0.01, 0.1)),
)
def test_whole_weights_are_repeated_rows_and_order_is_irrelevant(rows, limits):
    positive, score, weight = map(np.array, zip(*rows, strict=True))
    if positive.all() or not positive.any():
        positive = np.arange(positive.size) == 0
    fpr_range = (limits[0], min(1.0, limits[0] + limits[1]))
    weighted = partial_auc_score(positive, score, fpr_range=fpr_range, sample_weight=weight)
    repeated = partial_auc_score(
        np.repeat(positive, weight), np.repeat(score, weight), fpr_range=fpr_range
    )
    assert weighted == pytest.approx(repeated, abs=1e-12)
    order = np.random.default_rng(0).permutation(score.size)
    unweighted = partial_auc_score(positive, score, fpr_range=fpr_range)
    assert partial_auc_score(positive[order], score[order], fpr_range=fpr_range) == unweighted


def test_zero_weight_rows_are_absent():
    y, score, weight = [0, 1, 0, 1], [1.0, 2.0, 3.0, 0.0], [1, 1, 0, 1]
    kept = partial_auc_score([0, 1, 1], [1.0, 2.0, 0.0])
    assert partial_auc_score(y, score, sample_weight=weight) == kept
    # A query without weight is absent too: no mean over it, and no warning about it.
    y, score, qid = [*y, 1, 1], [*score, 5.0, 6.0], [3, 3, 3, 3, 1, 1]
    assert partial_auc_score(y, score, sample_weight=[*weight, 0, 0], qid=qid) == kept


def test_labels_of_any_kind():
    score = [0.1, 0.9, 0.4, 0.6]
    expected = partial_auc_score([0, 1, 0, 1], score, fpr_range=(0, 0.5))
    for labels in ([-1, 1, -1, 1], [1, 2] * 2, [False, True] * 2):
        assert partial_auc_score(labels, score, fpr_range=(0, 0.5)) == expected
    for labels in (["benign", "malignant"] * 2, np.array(["a", "b"] * 2, dtype=object)):
        with pytest.raises(
            ValueError, match=r"text labels \['.', '.'\]|neither is positive by conv"
        ):
            partial_auc_score(labels, score)
        named = partial_auc_score(labels, score, fpr_range=(0, 0.5), pos_label=labels[1])
        assert named == expected
    several = partial_auc_score(["b", "a", "c", "a"], score, pos_label="a", fpr_range=(0, 0.5))
    assert several == expected
    flipped = partial_auc_score(["b", "a", "b", "a"], score, pos_label="a", fpr_range=(0, 0.5))
    assert flipped == expected


def test_input_arrays_of_any_layout():
    rng = np.random.default_rng(5)
    y, score = rng.random(100) < 0.4, rng.normal(size=100).astype(np.float32)
    expected = partial_auc_score(y, score, fpr_range=(0.1, 0.3))
    strided = np.stack([score, score], axis=1)[:, 0]
    score.setflags(write=False)
    assert partial_auc_score(y, score, fpr_range=(0.1, 0.3)) == expected
    assert partial_auc_score(y, strided, fpr_range=(0.1, 0.3)) == expected


def test_two_way_is_the_area_in_the_corner():
    rng = np.random.default_rng(6)
    for _ in range(300):
        positive, score = random_ranking(rng, max_rows=20)
        min_tpr, max_fpr = rng.uniform(0, 0.95), rng.uniform(0.05, 1)
        fpr, tpr, _ = roc_curve(positive, score, drop_intermediate=False)
        grid = np.linspace(0, max_fpr, 20_001)
        middle = (grid[1:] + grid[:-1]) / 2
        height = np.maximum(np.interp(middle, fpr, tpr) - min_tpr, 0)
        want = height.mean() / (1 - min_tpr)
        got = two_way_partial_auc_score(positive, score, min_tpr=min_tpr, max_fpr=max_fpr)
        assert got == pytest.approx(want, abs=2e-3)
        one_way = two_way_partial_auc_score(positive, score, min_tpr=0.0, max_fpr=max_fpr)
        assert one_way == pytest.approx(partial_auc_score(positive, score, fpr_range=(0, max_fpr)))


def test_two_way_is_zero_where_the_curve_misses_the_corner():
    late = [0, 0, 1], [3, 2, 1]
    assert two_way_partial_auc_score(*late, min_tpr=0.5, max_fpr=1.0) == 0.0
    assert two_way_partial_auc_score(*late, min_tpr=0.5, max_fpr=0.9) == 0.0


def test_tpr_at_fpr_takes_the_upper_end_of_a_jump():
    y, score = [0] * 10 + [1] * 4, [*range(10), 20, 8.5, 7.5, -1]
    assert tpr_at_fpr_score(y, score, fpr=0.0) == 0.25
    assert tpr_at_fpr_score(y, score, fpr=0.1) == 0.5
    assert tpr_at_fpr_score(y, score, fpr=0.15) == 0.5
    assert tpr_at_fpr_score(y, score, fpr=1.0) == 1.0
    weight = np.full(14, 0.1)
    assert tpr_at_fpr_score(y, score, fpr=0.1, sample_weight=weight) == pytest.approx(0.5)


@pytest.mark.parametrize("n_each", [1000, 100_000])
@pytest.mark.parametrize("each", [0.1, 0.3, 1e-200])
def test_tpr_at_fpr_does_not_depend_on_the_unit_of_the_weights(n_each, each):
    y = np.repeat([0, 1], n_each)
    score = np.concatenate([np.arange(n_each)[::-1], np.full(n_each, 0.7 * n_each - 0.5)])
    assert tpr_at_fpr_score(y, score, fpr=0.3) == 1.0
    weight = np.full(2 * n_each, each)
    assert tpr_at_fpr_score(y, score, fpr=0.3, sample_weight=weight) == pytest.approx(1.0)
    # Just below the jump nothing is found yet.
    below = tpr_at_fpr_score(y, score, fpr=0.3 - 1e-9, sample_weight=weight)
    assert below == pytest.approx(0.0)


@pytest.mark.parametrize("each", [1e-300, 1e-200, 1e200, 1e300])
def test_areas_do_not_depend_on_the_unit_of_the_weights(each):
    weight = np.full(9, each)
    for limits in ((0.0, 1.0), (0.1, 0.2)):
        plain = partial_auc_score(TABLE_1, SCORE_1, fpr_range=limits)
        scaled = partial_auc_score(TABLE_1, SCORE_1, fpr_range=limits, sample_weight=weight)
        assert scaled == pytest.approx(plain, rel=1e-12)
    corner = {"min_tpr": 0.3, "max_fpr": 0.5}
    assert two_way_partial_auc_score(
        TABLE_1, SCORE_1, sample_weight=weight, **corner
    ) == pytest.approx(two_way_partial_auc_score(TABLE_1, SCORE_1, **corner), rel=1e-12)


def test_tpr_at_fpr_is_on_the_straight_segment_of_a_tie():
    assert tpr_at_fpr_score([0, 0, 1, 1], [1, 1, 1, 1], fpr=0.3) == pytest.approx(0.3)


def test_free_response_limits_of_kdd_cup_2008():
    scale = 6848 / 101671
    got = froc_to_fpr_range((0.2, 0.3), n_images=6848, n_negatives=101671)
    assert got == pytest.approx((0.2 * scale, 0.3 * scale))
    with pytest.raises(ValueError, match="FPR limits"):
        froc_to_fpr_range((0.2, 30), n_images=6848, n_negatives=101671)
    with pytest.raises(ValueError, match="n_images must be a whole number above 0, got 0"):
        froc_to_fpr_range((0.2, 0.3), n_images=0, n_negatives=10)


def region_by_quadrature(y, score, weight, g, low, high, min_tpr):
    """Weighted mean height above ``min_tpr`` by a fine grid of false positive rates."""
    rates = np.linspace(low, high, 200_001)
    rates = (rates[1:] + rates[:-1]) / 2
    fpr, tpr, _ = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    height = np.interp(rates, fpr, tpr)
    kept = np.maximum(height - min_tpr, 0.0) / (1.0 - min_tpr)
    return np.average(kept, weights=g(rates))


@pytest.mark.parametrize("min_tpr", [0.0, 0.35])
@pytest.mark.parametrize(
    ("fpr_weight", "density", "limits"),
    [
        (None, np.ones_like, (0.1, 0.4)),
        ("log", lambda u: 1 / u, (0.01, 0.5)),
        (("exponential", 20.0), lambda u: np.exp(-20 * u), (0.0, 1.0)),
        (("exponential", 20.0), lambda u: np.exp(-20 * u), (0.2, 0.6)),
        (lambda u: u * (1 - u), lambda u: u * (1 - u), (0.1, 0.3)),
    ],
)
def test_weighted_and_two_way_regions_by_quadrature(fpr_weight, density, limits, min_tpr):
    rng = np.random.default_rng(11)
    y = rng.random(120) < 0.4
    score = np.round(rng.normal(size=120) + y, 1)
    weight = rng.integers(1, 4, size=120).astype(float)
    options = {"fpr_range": limits, "min_tpr": min_tpr, "fpr_weight": fpr_weight}
    got = partial_auc_score(y, score, sample_weight=weight, **options)
    want = region_by_quadrature(y, score, weight, density, *limits, min_tpr)
    assert got == pytest.approx(want, abs=2e-5)
    copies = np.repeat(np.arange(120), weight.astype(int))
    assert partial_auc_score(y[copies], score[copies], **options) == pytest.approx(got, rel=1e-12)


@pytest.mark.parametrize(
    ("fpr_weight", "limits", "message"),
    [
        ("log", (0.0, 0.1), r"must start above 0, got \(0.0, 0.1\)"),
        ("linear", (0.0, 0.1), "must be None, a function"),
        (("exponential", -1.0), (0.0, 0.1), "alpha above 0"),
        (lambda u: u - 1, (0.0, 0.1), r"for rates in \[0, 0.1\]"),
    ],
)
def test_weights_that_are_none(fpr_weight, limits, message):
    with pytest.raises(ValueError, match=message):
        partial_auc_score([0, 1], [0, 1], fpr_range=limits, fpr_weight=fpr_weight)
