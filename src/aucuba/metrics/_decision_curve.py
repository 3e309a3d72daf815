r"""Net benefit over thresholds, of one model or of the difference of two, with a band.

The net benefit at a threshold is a mean over rows, so the contributions of the rows at all thresholds
give its standard errors and their correlations. The band holds at all thresholds together: it reaches
as many standard errors as the largest of correlated normal variables seldom exceeds (max-t), carried
over to the tails of Student's t with the degrees of freedom of the rarer class. Groups are summed
first. That of one model reaches no less far than limits of its rates: where few rows err, their
contributions show too little spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_choice
from aucuba.metrics._best_of_thresholds import limits_at_threshold
from aucuba.metrics._confidence_band import KINDS
from aucuba.metrics._study import NO_SPREAD, Study, check_level, make_study

# Draws of the largest of the correlated variables; its quantile is then known to 1 %.
_DRAWS = 20_000


@dataclass(frozen=True)
class BenefitAt:
    """Net benefit at a threshold with its limits, that of treating everyone, and a p-value.

    ``difference`` is that of two models, or the value of one; ``low`` and ``high`` are its limits.
    ``p_value`` is that of a difference of 0 anywhere, adjusted for all thresholds in a simultaneous
    band.
    """

    threshold: float
    values: tuple[float, ...]
    treat_all: float
    difference: float
    low: float
    high: float
    p_value: float


class DecisionCurve(TabularResult, tuple[BenefitAt, ...]):
    """Net benefit over thresholds, one entry per threshold; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself. Each entry has
    ``threshold``, ``values`` (one per model), ``treat_all`` (acting on every row; acting on nobody has
    0), ``difference``, ``low``, ``high`` and ``p_value``. The smallest p-value of a simultaneous band
    tests whether the models differ at any threshold.
    """

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per threshold."""
        rows = []
        for one in self:
            row = {"threshold": one.threshold, "treat all": one.treat_all}
            if len(one.values) == 1:
                row |= {"net benefit": one.values[0]}
            else:
                row |= {"first": one.values[0], "second": one.values[1]}
                row |= {"difference": one.difference}
            row |= {"low": one.low, "high": one.high}
            rows.append(row if len(one.values) == 1 else {**row, "p_value": one.p_value})
        return rows

    def __str__(self) -> str:
        return self._text()


def decision_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    y_prob_b: ArrayLike | None = None,
    *,
    thresholds: ArrayLike,
    standardized: bool = False,
    target_prevalence: Any = None,
    band: str = "simultaneous",
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    groups: ArrayLike | None = None,
    pos_label: Any = None,
) -> DecisionCurve:
    """Compute the net benefit over thresholds, or the difference of two models, with a band.

    Parameters
    ----------
    y_true, sample_weight, weight_kind, groups, pos_label, confidence
        As in `score_interval`.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    y_prob_b : array-like of shape (n_samples,), default=None
        Those of a second model on the same rows: the limits and p-values are then those of the first
        minus the second, from the contributions of the rows to both.
    thresholds : array-like of float
        Probabilities in [0, 1) at which acting is worth its harm.
    standardized, target_prevalence
        As in `net_benefit_score`.
    band : {"simultaneous", "pointwise"}, default="simultaneous"
        Whether limits and p-values hold at all thresholds together, or at each alone.

    Returns
    -------
    DecisionCurve
        One entry per threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import decision_curve
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(1, 4, size=2000)
    >>> ill = rng.random(2000) < risk
    >>> print(decision_curve(ill, risk, thresholds=[0.1, 0.3]))
    threshold  treat all  net benefit     low    high
       0.1000     0.1167       0.1342  0.1137  0.1550
       0.3000    -0.1357       0.0457  0.0285  0.0631
    """
    check_choice(band, "band", KINDS)
    level, scores = check_level(confidence), [y_prob] if y_prob_b is None else [y_prob, y_prob_b]
    options = {"sample_weight": sample_weight, "groups": groups, "pos_label": pos_label}
    options["weight_kind"] = weight_kind
    params = {"standardized": standardized, "target_prevalence": target_prevalence}
    studies = [
        make_study("net_benefit", {"threshold": float(one), **params}, y_true, scores, **options)
        for one in np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    ]
    if not studies:
        raise ValueError("thresholds is empty; give at least one probability.")
    second = None if y_prob_b is None else 1
    values = np.array([study.values for study in studies])
    apart = values[:, 0] - (0.0 if second is None else values[:, 1])
    errors = np.array([study.error(0, second) for study in studies])
    df, largest = studies[0].df_of("influence"), None
    tail = (1 - level) / 2
    if band == "simultaneous":
        largest = _largest(studies, second)
        tail = float(norm.sf(np.quantile(largest, level)))
    reach = float(student.isf(tail, df))
    found = []
    for study, value, gap, error in zip(studies, values, apart, errors, strict=True):
        below, above = reach * error, reach * error
        if second is None:
            rates = limits_at_threshold(study)
            below, above = max(below, rates.reach(-reach)), max(above, rates.reach(reach))
        statistic = abs(gap) / error if error > NO_SPREAD else 0.0
        p_value = float(2 * student.sf(statistic, df))
        if largest is not None:
            at_least = norm.isf(student.sf(statistic, df))
            beyond = (np.sum(largest >= at_least) + 1) / (largest.size + 1)
            p_value = max(p_value, float(beyond))
        found.append(
            BenefitAt(
                threshold=float(study.measure.params["threshold"]),
                values=tuple(float(one) for one in value),
                treat_all=_treating_all(study),
                difference=float(gap),
                low=float(gap - below),
                high=float(gap + above),
                p_value=p_value,
            )
        )
    return DecisionCurve(found)


def _treating_all(study: Study) -> float:
    """Net benefit of acting on every row."""
    one = study.samples[0]
    ones = type(one)(one.positive, one.weight, score=np.ones(one.n_rows))
    return study.measure.value(ones)


def _largest(studies: list[Study], second: int | None) -> FloatArray:
    """Draw the largest absolute value of normal variables correlated like the estimates."""
    effects = []
    for study in studies:
        effect = study.effects[0] - (0.0 if second is None else study.effects[second])
        if study.group is not None:
            effect = np.bincount(study.group, effect).astype(np.float64)
        elif study.frequency:
            # Each of k copies has the k-th part of the effect.
            effect = effect / np.sqrt(study.samples[0].weights)
        size = float(np.sqrt(effect @ effect))
        effects.append(effect / size if size > NO_SPREAD else np.zeros_like(effect))
    correlation = np.array([[a @ b for b in effects] for a in effects])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(0).normal(size=(_DRAWS, len(studies))) @ root.T
    return np.asarray(np.abs(drawn).max(axis=1))
