"""Exact twins of the line searches: every pair of lines is met, in integer arithmetic.

A problem has integer lines ``T(s) = intercept + s * slope``. At a rational step ``p / q`` the
thresholds times ``q`` are integers, so orders, ties, areas and AUM are computed without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ExactPath:
    """Rows of the path as exact fractions ``numerator / denominator``, and values as floats."""

    numerator: np.ndarray
    denominator: np.ndarray
    aum: np.ndarray
    auc_at: np.ndarray
    auc_after: np.ndarray
    slope: np.ndarray

    @property
    def step(self):
        return self.numerator / self.denominator

    def first_minimum_row(self):
        falls, rises = np.flatnonzero(self.slope < 0), np.flatnonzero(self.slope > 0)
        end = rises[0] if rises.size else self.slope.size
        return 0 if not (falls < end).any() else falls[falls < end][-1] + 1


def exact_path(intercept, slope, fp, fn):
    """The whole path of integer lines, by all pairs."""
    intercept, slope, fp, fn = (np.asarray(v, dtype=np.int64) for v in (intercept, slope, fp, fn))
    i, j = np.triu_indices(intercept.size, 1)
    p, q = intercept[j] - intercept[i], slope[i] - slope[j]
    p, q = np.where(q < 0, -p, p), np.abs(q)
    kept = (q > 0) & (p > 0)
    p, q = p[kept], q[kept]
    common = np.gcd(p, q)
    steps = np.unique(np.column_stack([p // common, q // common]), axis=0)
    steps = np.vstack([[0, 1], steps[np.argsort(steps[:, 0] / steps[:, 1], kind="stable")]])
    rows = [_row(intercept, slope, fp, fn, int(p), int(q)) for p, q in steps]
    return ExactPath(steps[:, 0], steps[:, 1], *np.array(rows).T)


def _row(intercept, slope, fp, fn, p, q):
    key = intercept * q + slope * p
    order = np.lexsort((slope, key))
    key, tilt, fp, fn = key[order], slope[order], fp[order], fn[order]
    fp_after, fn_after = np.cumsum(fp), np.cumsum(fn) - fn.sum()
    least = np.minimum(fp_after, fn_after)[:-1]
    total = float(fp.sum() * -fn.sum())
    aum = int(np.diff(key) @ least) / q
    at = np.r_[True, np.diff(key) != 0]
    after = np.r_[True, (np.diff(key) != 0) | (np.diff(tilt) != 0)]
    return (
        aum,
        _area(fp, fn, at) / total,
        _area(fp, fn, after) / total,
        float(np.diff(tilt) @ least),
    )


def _area(fp, fn, new_block):
    """Twice the area is an integer; ties are diagonals."""
    start = np.flatnonzero(new_block)
    fp, tp = np.add.reduceat(fp, start), -np.add.reduceat(fn, start)
    before = np.cumsum(tp) - tp
    return int(fp @ (2 * before + tp)) / 2


def pair_auc(y, score, weight=None):
    """AUC as a mean over pairs."""
    y, score = np.asarray(y), np.asarray(score)
    weight = np.ones(y.size) if weight is None else np.asarray(weight)
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    sign = np.sign(score[pos][:, None] - score[neg][None, :])
    pair = weight[pos][:, None] * weight[neg][None, :]
    return float(((1 + sign) / 2 * pair).sum() / pair.sum())


def labels(rng, n):
    y = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(int)
    y[:2] = 0, 1
    return y


def changepoint_errors(rng, n_examples=5, unit=1):
    """Random error functions whose steps go up and down but never below zero, and their values."""
    example, value, fp_diff, fn_diff = [], [], [], []
    for i in range(n_examples):
        size = int(rng.integers(1, 5))
        fp = np.r_[0, rng.integers(0, 3, size=size)]
        fn = np.r_[rng.integers(0, 3, size=size), 0]
        if i == 0:
            fp[-1], fn[0] = 1, 1
        example += [i] * size
        value += sorted(rng.choice(np.arange(-9, 10), size=size, replace=False).tolist())
        fp_diff += np.diff(fp).tolist()
        fn_diff += np.diff(fn).tolist()
    return np.array(example), np.array(value), np.array(fp_diff), np.array(fn_diff)
