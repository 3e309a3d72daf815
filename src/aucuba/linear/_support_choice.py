"""Choose the few columns of a linear model that serve a region of the ROC curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import OutOfFold
from aucuba._rows._splits import Split
from aucuba.design import TableDesign
from aucuba.linear._anchored_fit import anchor_direction, anchored_fit, normalised, score_moments
from aucuba.linear._logistic_fit import LogisticPath
from aucuba.linear._supports import Expansion, Support
from aucuba.risks import Sample

# C of the fits that are expanded and of those that judge supports: with few columns it hardly matters.
_C = 1.0
# Best swaps of either expansion that are judged in the region.
_N_SWAPS = 4
# Negatives around the region: this factor times its upper limit.
_REACH = 2.0


@dataclass(frozen=True)
class Constraints:
    """Which columns enter together, how many groups may, and the signs of coefficients.

    Parameters
    ----------
    most : int
    groups : list of ndarray of int
    sign : ndarray of shape (n_columns,)
        Towards ``pos_label_``; 0 where any sign will do.
    """

    most: int
    groups: list[IntArray]
    sign: FloatArray

    @classmethod
    def from_params(
        cls, max_features: Any, feature_groups: Any, sign: Any, names: AnyArray | None, width: int
    ) -> Constraints | None:
        """Check the parameters; None where they constrain nothing."""
        if max_features is None and sign is None:
            if feature_groups is not None:
                raise ValueError("feature_groups say what max_features counts; give both, or none.")
            return None
        labels = np.arange(width) if feature_groups is None else np.asarray(feature_groups)
        if labels.shape != (width,):
            raise ValueError(
                f"feature_groups must name the group of each of the {width} columns of X, got shape "
                f"{labels.shape}."
            )
        member = np.unique(labels, return_inverse=True)[1]
        groups = [np.flatnonzero(member == k) for k in range(int(member.max()) + 1)]
        most = len(groups)
        if max_features is not None:
            most = min(int(check_positive_number(max_features, "max_features", integer=True)), most)
        return cls(most, groups, _signs(sign, names, width))

    def violated(self, columns: IntArray, coef: FloatArray) -> Any:
        """Tell which coefficients have a wrong sign."""
        return coef * self.sign[columns] < 0


def _signs(sign: Any, names: AnyArray | None, width: int) -> FloatArray:
    if sign is None:
        return np.zeros(width)
    if isinstance(sign, Mapping):
        known = list(range(width)) if names is None else list(names)
        values = np.zeros(width)
        for name, value in sign.items():
            if name not in known and not (isinstance(name, int) and 0 <= name < width):
                raise ValueError(f"sign names {name!r}, which is not a column of X.")
            values[known.index(name) if name in known else name] = value
    else:
        values = np.asarray(sign, dtype=np.float64)
    if values.shape != (width,) or not np.isin(values, (-1, 0, 1)).all():
        raise ValueError(
            f"sign must hold -1, 0 or 1 for each of the {width} columns of X, or map columns to them; "
            f"got {sign!r}."
        )
    return values


@dataclass(frozen=True)
class ChosenSupport:
    """The columns chosen, and the best support by log-loss of every size up to theirs."""

    columns: IntArray
    path: list[dict[str, Any]]


@one_blas_thread()
def choose_support(
    design: TableDesign,
    sample: Sample,
    region: Region,
    folds: list[Split],
    constraints: Constraints,
    compare: type[RegionComparison] = RegionComparison,
) -> ChosenSupport:
    """Choose the support of best log-loss, unless another is clearly ahead in the region.

    The log-loss is expanded about logistic regression of all columns, and the squared error of the
    scores near the region about the model trained for it. Supports near the best of either are fitted
    anew without each fold, and compared on its rows.
    """
    plain, near = _expansions(design, sample, region, constraints)
    path = list(plain.path(constraints.most))
    pool = [
        *plain.near_best(constraints.most, _N_SWAPS),
        *near.near_best(constraints.most, _N_SWAPS),
        tuple(plain.lasso_order(constraints.most)[: constraints.most]),
    ]
    pool = list(dict.fromkeys(tuple(sorted(support)) for support in pool if support))
    fitted = [plain.fitted(support)[0] for support in pool]
    columns = [np.sort(one) for one in fitted if one.size] or [np.zeros(0, dtype=np.intp)]
    chosen = columns[0]
    if len(columns) > 1 and folds:
        parts = [_judged(split, design, sample, region, columns) for split in folds]
        scored = OutOfFold.from_parts(sample.n_rows, folds, parts)
        compared = compare(sample.take(scored.covered), scored.scores, region)
        ahead = [k for k in range(1, len(columns)) if compared.lead(k, 0).is_clear()]
        chosen = columns[max(ahead, key=lambda k: float(compared.values[k]))] if ahead else chosen
    return ChosenSupport(chosen, [_step(plain, support) for support in path])


def _step(expansion: Expansion, support: Support) -> dict[str, Any]:
    columns, coef = expansion.fitted(support)
    return {"size": len(support), "columns": columns, "coef": coef}


def _expansions(
    design: TableDesign, sample: Sample, region: Region, constraints: Constraints
) -> tuple[Expansion, Expansion]:
    fit = LogisticPath(design, sample).fit(_C)
    p = expit(fit.log_odds(design))
    anchor = normalised(fit.coef, design, sample.weight)
    own = anchored_fit(design, sample, region.for_training(sample), anchor).coef
    mass = _mass_near(sample, design.scores(own), region.upper_limit)
    of_loss = _gram(design, sample.weights * p * (1.0 - p))
    shared = constraints.groups, constraints.sign
    return (
        Expansion.of_scores(of_loss, fit.coef, *shared),
        Expansion.of_scores(_gram(design, mass), own, *shared),
    )


def _gram(design: TableDesign, weight: FloatArray) -> FloatArray:
    of_intercept = design.adjoint(weight)[:, np.newaxis]
    return np.block([[design.gram(weight), of_intercept], [of_intercept.T, float(weight.sum())]])


def _mass_near(sample: Sample, scores: FloatArray, upper_limit: float) -> FloatArray:
    """Give mass 1 to the positives and 1 to the negatives of the highest scores."""
    positive = np.asarray(sample.positive)
    mass: FloatArray = np.where(positive, sample.weights, 0.0)
    mass /= mass.sum()
    negative = np.flatnonzero(~positive)
    negative = negative[np.argsort(-scores[negative], kind="stable")]
    weight = sample.weights[negative]
    above = np.cumsum(weight) - weight
    top = above < _REACH * upper_limit * weight.sum()
    mass[negative[top]] = weight[top] / weight[top].sum()
    return mass


def _judged(
    split: Split, design: TableDesign, sample: Sample, region: Region, supports: list[IntArray]
) -> FloatArray:
    """Score the tested rows by every support: by the mean of logistic regression and the region's."""
    train, test = split
    part, trained_on = sample.take(train), region.for_training(sample.take(train))
    scores = []
    for columns in supports:
        table = design.columns(columns)
        train_design, test_design = table.take(train), table.take(test)
        anchor, _ = anchor_direction(train_design, part, _C)
        coef = (anchor + anchored_fit(train_design, part, trained_on, anchor).coef) / 2
        scores.append(test_design.scores(coef) - score_moments(coef, train_design, part.weight)[0])
    return np.stack(scores)


def among_columns(values: FloatArray, columns: IntArray, width: int) -> FloatArray:
    """Put coefficients of some columns, the last axis, among zeros for the others."""
    full = np.zeros((*values.shape[:-1], width))
    full[..., columns] = values
    return full
