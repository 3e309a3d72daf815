import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from aucuba.metrics import auc_at_k_score, binned_auc_score
from tests.oracles import random_ranking


def binned_by_pairs(positive, score, sizes, credit=0.5):
    """Mean over all orders that respect the scores, pairs in one bin counting the credit."""
    bin_of_rank = np.repeat(np.arange(len(sizes)), sizes)
    orders = [
        order
        for order in itertools.permutations(range(len(score)))
        if all(score[a] >= score[b] for a, b in itertools.pairwise(order))
    ]
    total = 0.0
    for order in orders:
        bins = np.empty(len(score), int)
        bins[list(order)] = bin_of_rank
        for i, j in itertools.product(np.flatnonzero(positive), np.flatnonzero(~positive)):
            total += (bins[i] < bins[j]) + credit * (bins[i] == bins[j])
    return total / len(orders) / (positive.sum() * (~positive).sum())


def random_sizes(rng, n):
    cuts = np.sort(rng.choice(np.arange(1, n), size=rng.integers(0, n), replace=False))
    return np.diff(np.concatenate([[0], cuts, [n]])).astype(int)


def test_equals_the_pair_count_without_ties():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = rng.integers(2, 9)
        positive = np.arange(n) < rng.integers(1, n)
        score = rng.permutation(n).astype(float)
        sizes = random_sizes(rng, n)
        got = binned_auc_score(positive, score, bin_sizes=sizes)
        assert got == pytest.approx(binned_by_pairs(positive, score, sizes))


@pytest.mark.parametrize("credit", [0.0, 0.3, 0.5, 1.0])
def test_every_credit_equals_the_mean_over_all_orders_of_tied_rows(credit):
    rng = np.random.default_rng(10)
    for _ in range(60):
        n = int(rng.integers(2, 7))
        positive = np.arange(n) < rng.integers(1, n)
        score = rng.integers(0, 3, size=n).astype(float)
        sizes = random_sizes(rng, n)
        want = binned_by_pairs(positive, score, sizes, credit)
        got = binned_auc_score(positive, score, bin_sizes=sizes, in_bin_credit=credit)
        assert got == pytest.approx(want)
        size = int(rng.integers(1, n + 1))
        sizes = np.diff(np.append(np.arange(0, n, size), n))
        want = binned_by_pairs(positive, score, sizes, credit)
        got = binned_auc_score(positive, score, bin_sizes=size, in_bin_credit=credit)
        assert got == pytest.approx(want)
        sizes = [1] * size + [n - size] * (size < n)
        want = binned_by_pairs(positive, score, sizes, credit)
        assert auc_at_k_score(positive, score, k=size, in_bin_credit=credit) == pytest.approx(want)


def test_only_pairs_swapped_between_bins_count_against_a_ranking_of_full_credit():
    """The definition of the paper, counted pair by pair."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        n = int(rng.integers(2, 12))
        positive = rng.permutation(np.arange(n) < rng.integers(1, n))
        rank = rng.permutation(n)
        sizes = random_sizes(rng, n)
        bins = np.repeat(np.arange(len(sizes)), sizes)[rank]
        swapped = np.sum(bins[positive][:, None] > bins[~positive][None, :])
        want = 1 - swapped / (positive.sum() * (~positive).sum())
        got = binned_auc_score(positive, -rank, bin_sizes=sizes, in_bin_credit=1.0)
        assert got == pytest.approx(want)
        k = int(rng.integers(1, n + 1))
        judged = (rank[positive][:, None] < k) | (rank[~positive][None, :] < k)
        swapped = np.sum(judged & (rank[positive][:, None] > rank[~positive][None, :]))
        want = 1 - swapped / (positive.sum() * (~positive).sum())
        assert auc_at_k_score(positive, -rank, k=k, in_bin_credit=1.0) == pytest.approx(want)


def test_with_full_credit_auc_at_k_cannot_fall_far_below_one():
    rng = np.random.default_rng(12)
    for _ in range(100):
        n_positive, n_negative = (int(one) for one in rng.integers(1, 20, size=2))
        n = n_positive + n_negative
        k = int(rng.integers(1, n_negative + 1))  # all positives fit below the cut
        positive = np.arange(n) < n_positive
        value = auc_at_k_score(positive, rng.permutation(n), k=k, in_bin_credit=1.0)
        assert 1 - k / n_negative - 1e-12 <= value <= 1
        worst = auc_at_k_score(positive, np.arange(n), k=k, in_bin_credit=1.0)
        assert worst == pytest.approx(1 - k / n_negative)


def test_whole_weights_are_repeated_rows_for_every_credit():
    rng = np.random.default_rng(13)
    for _ in range(100):
        positive, score = random_ranking(rng)
        weight = rng.integers(1, 4, size=score.size)
        repeated = np.repeat(positive, weight), np.repeat(score, weight)
        sizes, credit = random_sizes(rng, weight.sum()), float(rng.choice([0.0, 0.2, 1.0]))
        k, size = (int(one) for one in rng.integers(1, weight.sum() + 1, size=2))
        options = {"in_bin_credit": credit}
        for measure, how in (
            (binned_auc_score, {"bin_sizes": sizes}),
            (binned_auc_score, {"bin_sizes": size}),
            (auc_at_k_score, {"k": k}),
        ):
            weighted = measure(positive, score, sample_weight=weight, **how, **options)
            assert weighted == pytest.approx(measure(*repeated, **how, **options))


def test_light_and_heavy_weights_keep_every_credit_between_its_bounds():
    rng = np.random.default_rng(14)
    for _ in range(200):
        positive, score = random_ranking(rng, max_rows=8)
        weight = rng.choice([1e-3, 0.3, 1.0, 2.5, 40.0, 1e200], size=score.size)
        k, size = (int(one) for one in rng.integers(1, 30, size=2))
        for measure, how in ((auc_at_k_score, {"k": k}), (binned_auc_score, {"bin_sizes": size})):
            low, half, high = (
                measure(positive, score, sample_weight=weight, in_bin_credit=credit, **how)
                for credit in (0.0, 0.5, 1.0)
            )
            assert -1e-12 <= low <= half + 1e-12
            assert half <= high + 1e-12
            assert high <= 1 + 1e-12
            assert low + high == pytest.approx(2 * half)


@pytest.mark.parametrize("credit", [-0.1, 1.5, float("nan"), "half", True, None])
def test_credits_outside_the_unit_interval_are_refused(credit):
    with pytest.raises(ValueError, match="in_bin_credit must be a number between 0 and 1, got"):
        binned_auc_score([1, 0], [2, 1], bin_sizes=1, in_bin_credit=credit)
    with pytest.raises(ValueError, match="in_bin_credit must be a number between 0 and 1, got"):
        auc_at_k_score([1, 0], [2, 1], k=1, in_bin_credit=credit)


def test_formula_with_row_weights():
    rng = np.random.default_rng(1)
    for _ in range(100):
        positive, score = random_ranking(rng, max_rows=20)
        score = score + rng.uniform(0, 0.1, size=score.size)
        sizes = random_sizes(rng, score.size)
        ranked = positive[np.argsort(-score)]
        in_first = np.cumsum(ranked)[np.cumsum(sizes) - 1]
        omega = (sizes + np.append(sizes[1:], 0)) / 2
        p, n = positive.sum(), (~positive).sum()
        want = (omega @ in_first - p**2 / 2) / (p * n)
        assert binned_auc_score(positive, score, bin_sizes=sizes) == pytest.approx(want)


def test_ties_inside_bins_change_nothing_and_across_bins_are_shared():
    y = np.array([1, 0, 1, 0])
    assert binned_auc_score(y, [2, 2, 1, 1], bin_sizes=[2, 2]) == 0.5
    # Three tied rows over a bin of two: each is two thirds in it.
    y, score = np.array([1, 0, 0, 0]), [2, 2, 2, 1]
    want = (2 / 3 * (1 / 2 * 4 / 3 + 5 / 3) + 1 / 3 * (1 / 2 * 5 / 3)) / 3
    assert binned_auc_score(y, score, bin_sizes=[2, 2]) == pytest.approx(want)


def test_bins_of_one_give_the_auc_and_one_bin_gives_a_half():
    rng = np.random.default_rng(2)
    for _ in range(50):
        positive, score = random_ranking(rng, max_rows=20)
        assert binned_auc_score(positive, score, bin_sizes=[score.size]) == pytest.approx(0.5)
        score = score + rng.uniform(0, 0.1, size=score.size)
        auc = roc_auc_score(positive, score)
        assert binned_auc_score(positive, score, bin_sizes=1) == pytest.approx(auc)
        assert auc_at_k_score(positive, score, k=score.size) == pytest.approx(auc)
        assert auc_at_k_score(positive, score, k=10_000) == pytest.approx(auc)


def test_auc_at_k_judges_no_pair_below_k():
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(2, 15))
        positive = np.arange(n) < rng.integers(1, n)
        score = rng.permutation(n).astype(float)
        k = int(rng.integers(1, n + 1))
        rank = np.argsort(np.argsort(-score))
        total = 0.0
        for i, j in itertools.product(np.flatnonzero(positive), np.flatnonzero(~positive)):
            both_below = rank[i] >= k and rank[j] >= k
            total += 0.5 if both_below else float(rank[i] < rank[j])
        want = total / (positive.sum() * (~positive).sum())
        assert auc_at_k_score(positive, score, k=k) == pytest.approx(want)


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    for _ in range(100):
        positive, score = random_ranking(rng)
        weight = rng.integers(1, 4, size=score.size)
        repeated = np.repeat(positive, weight), np.repeat(score, weight)
        sizes = random_sizes(rng, weight.sum())
        assert binned_auc_score(
            positive, score, bin_sizes=sizes, sample_weight=weight
        ) == pytest.approx(binned_auc_score(*repeated, bin_sizes=sizes))
        k = int(rng.integers(1, weight.sum()))
        assert auc_at_k_score(positive, score, k=k, sample_weight=weight) == pytest.approx(
            auc_at_k_score(*repeated, k=k)
        )


def binned_by_every_end(positive, score, weight, size, stop):
    """Bins of one size down to ``stop`` and one with the rest, without leaving out an end."""
    total = weight.sum()
    ends = np.append(np.arange(size, min(stop, total), size), [min(stop, total), total])
    return binned_auc_score(
        positive, score, bin_sizes=np.diff(np.unique(ends), prepend=0.0), sample_weight=weight
    )


def test_bins_inside_a_row_of_large_weight_need_not_be_counted():
    rng = np.random.default_rng(5)
    for _ in range(100):
        positive, score = random_ranking(rng, max_rows=8)
        weight = rng.choice([0.3, 1.0, 2.5, 7.0, 40.0], size=score.size)
        k, size = (int(one) for one in rng.integers(1, 30, size=2))
        assert auc_at_k_score(positive, score, k=k, sample_weight=weight) == pytest.approx(
            binned_by_every_end(positive, score, weight, 1.0, k)
        )
        assert binned_auc_score(
            positive, score, bin_sizes=size, sample_weight=weight
        ) == pytest.approx(binned_by_every_end(positive, score, weight, size, np.inf))


def test_cost_and_result_do_not_depend_on_the_size_of_whole_weights():
    y, score, weight = [1, 0, 1, 0], [4, 3, 2, 1], np.full(4, 1e10)
    assert auc_at_k_score(y, score, k=2 * 10**10, sample_weight=weight) == pytest.approx(0.625)
    assert auc_at_k_score(y, score, k=10**12, sample_weight=weight) == pytest.approx(0.75)
    assert binned_auc_score(y, score, bin_sizes=1, sample_weight=weight) == pytest.approx(0.75)
    assert auc_at_k_score(y, score, k=10**9, sample_weight=1e200 * weight) == pytest.approx(0.5)


def test_a_bin_of_weight_one_may_hold_several_light_rows():
    weight = np.full(4, 0.25)
    assert auc_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], k=4, sample_weight=weight) == 0.5


def test_queries_of_different_length():
    y, score, qid = [1, 0, 0, 1, 0], [3, 2, 1, 1, 2], [0, 0, 0, 1, 1]
    assert auc_at_k_score(y, score, k=1, qid=qid) == pytest.approx((1.0 + 0.0) / 2)
    assert binned_auc_score(y, score, bin_sizes=2, qid=qid) == pytest.approx((0.75 + 0.5) / 2)
