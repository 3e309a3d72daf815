"""Slow and simple twins of what the library computes fast."""

import itertools

import numpy as np


def rank_overlap(start, stop, low, high):
    """Length of (start, stop] inside [low, high]."""
    return max(0.0, min(stop, high) - max(start, low))


def partial_auc_by_pairs(positive, score, fpr_range=(0.0, 1.0), weight=None):
    """Pair count with rank weights, one pair after another.

    A block of tied negatives occupies an interval of ranks; a pair counts its share of the block's
    overlap with the range if the positive is above, and if tied the share times the mean position of
    the overlap inside the block.
    """
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, float)
    positive, score = np.asarray(positive, bool), np.asarray(score, float)
    n = weight[~positive].sum()
    low, high = n * fpr_range[0], n * fpr_range[1]
    total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            start = weight[~positive & (score > score[j])].sum()
            block = weight[~positive & (score == score[j])].sum()
            overlap = rank_overlap(start, start + block, low, high)
            share = weight[i] * weight[j] / block
            if score[i] > score[j]:
                total += share * overlap
            elif score[i] == score[j] and overlap > 0:
                middle = (max(start, low) + min(start + block, high)) / 2
                total += share * overlap * (middle - start) / block
    return total / (weight[positive].sum() * (high - low))


def mean_over_queries(make, sample, scores):
    """Value and gradient of the mean of ``make(query)`` over the queries with both classes."""
    value, gradient, count = 0.0, np.zeros(len(scores)), 0
    for number in np.unique(sample.query):
        rows = np.flatnonzero(sample.query == number)
        if sample.positive[rows].all() or not sample.positive[rows].any():
            continue
        of_query, of_rows = make(sample.as_one_query(rows)).value_and_gradient(scores[rows])
        value, count = value + of_query, count + 1
        gradient[rows] = of_rows
    return value / count, gradient / count


def structural_hinge_by_orderings(positive, score, fpr_range):
    """Max over all orderings of the partial AUC loss minus the margin (OP2), by enumeration."""
    positive, score = np.asarray(positive, bool), np.asarray(score, float)
    n, m = int((~positive).sum()), int(positive.sum())
    low, high = n * fpr_range[0], n * fpr_range[1]
    rank_weight = [rank_overlap(j, j + 1, low, high) for j in range(n)]
    best = -np.inf
    for order in itertools.permutations(range(positive.size)):
        place = np.argsort(order)
        ranked_negatives = [row for row in order if not positive[row]]
        total = 0.0
        for i in np.flatnonzero(positive):
            for j, row in enumerate(ranked_negatives):
                if place[row] < place[i]:
                    total += rank_weight[j] - (score[i] - score[row])
        best = max(best, total)
    return best / (m * (high - low))


def random_ranking(rng, max_rows=12, n_levels=6):
    """Labels with both classes and scores with ties."""
    n = rng.integers(2, max_rows + 1)
    positive = rng.random(n) < rng.uniform(0.2, 0.8)
    positive[0], positive[1] = True, False
    score = rng.integers(n_levels, size=n) / 2.0
    return positive, score
