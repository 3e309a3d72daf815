"""Sample-size planning from the scores of a pilot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_fraction, check_positive_number
from aucuba._roc._standard_error import row_terms
from aucuba._rows._sample import Sample
from aucuba.metrics._resampling import Draw, bootstrap
from aucuba.metrics._study import Study, check_level, make_study

# Bootstrap resamples of the pilot; the standard error is then known to 2 %.
_RESAMPLES = 1000


@dataclass(frozen=True)
class SampleSize:
    """Numbers of rows that reach a goal."""

    n_positives: int
    n_negatives: int


def sample_size_for(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_b: ArrayLike | None = None,
    *,
    half_width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    ratio: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    random_state: Any = None,
    **metric_params: Any,
) -> SampleSize:
    r"""Plan the size of a study from the scores of a pilot.

    The variance of an estimate from m positives and n negatives is taken as :math:`V_1/m + V_0/n`, with
    the components from the pilot's placement values (AUC and partial AUC) or from resamples of it.

    Parameters
    ----------
    metric, **metric_params
        As in `score_interval`.
    y_true, y_score : array-like of shape (n_samples,)
        Labels and scores of the pilot.
    y_score_b : array-like of shape (n_samples,), default=None
        Scores of a second scorer on the same rows: the study then compares the two in pairs.
    half_width : float, default=None
        Half of the width that the confidence interval should have.
    power, difference : float, default=None
        Probability of a significant two-sided test at level ``1 - confidence`` if the true
        difference is this. Give ``half_width``, or both of these.
    ratio : float, default=None
        Negatives per positive in the study; by default as in the pilot.
    confidence : float, default=0.95
        Level of the interval, or one minus that of the test.
    pos_label : label, default=None
        The positive class.
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling.

    Returns
    -------
    SampleSize
        With ``n_positives`` and ``n_negatives``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import sample_size_for
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [2000, 200])
    >>> score = rng.normal(size=2200) + 1.5 * y
    >>> sample_size_for("partial_auc", y, score, half_width=0.02, fpr_range=(0, 0.1))
    SampleSize(n_positives=2043, n_negatives=20430)
    """
    level = check_level(confidence)
    pilot = _pilot(metric, y_true, y_score, y_score_b, pos_label, metric_params)
    if ratio is None:
        positive = pilot.samples[0].positive
        ratio = float((~positive).sum()) / float(positive.sum())
    per_positive = check_positive_number(ratio, "ratio")
    z = float(norm.ppf((1 + level) / 2))
    if half_width is not None and power is None and difference is None:
        error = check_positive_number(half_width, "half_width") / z
    elif half_width is None and power is not None and difference is not None:
        reached = check_fraction(power, "power", low_open=True, high_open=True)
        error = abs(_nonzero(difference)) / (z + float(norm.ppf(reached)))
    else:
        raise ValueError("Give half_width, or both power and difference.")
    of_positives, of_negatives = _variances(pilot, random_state)
    m = (of_positives + of_negatives / per_positive) / error**2
    n_positives = max(2, int(np.ceil(m)))
    return SampleSize(n_positives, max(2, int(np.ceil(n_positives * per_positive))))


def power_of(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_b: ArrayLike | None = None,
    *,
    n_positives: int,
    n_negatives: int,
    difference: float,
    confidence: float = 0.95,
    pos_label: Any = None,
    random_state: Any = None,
    **metric_params: Any,
) -> float:
    """Compute the power of a study of given size from the scores of a pilot.

    Parameters
    ----------
    metric, y_true, y_score, y_score_b, difference, confidence, pos_label, random_state
        As in `sample_size_for`.
    n_positives, n_negatives : int
        Rows of the study.
    **metric_params
        Parameters of the measure.

    Returns
    -------
    float
        Probability that the two-sided test at level ``1 - confidence`` finds the difference.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import power_of
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [2000, 200])
    >>> a = rng.normal(size=2200) + 1.5 * y
    >>> b = a + 0.5 * rng.normal(size=2200)
    >>> size = {"n_positives": 400, "n_negatives": 4000}
    >>> print(f"{power_of('partial_auc', y, a, b, difference=0.02, **size):.2f}")
    0.98
    """
    pilot = _pilot(metric, y_true, y_score, y_score_b, pos_label, metric_params)
    m = check_positive_number(n_positives, "n_positives", integer=True)
    n = check_positive_number(n_negatives, "n_negatives", integer=True)
    of_positives, of_negatives = _variances(pilot, random_state)
    distance = abs(_nonzero(difference)) / np.sqrt(of_positives / m + of_negatives / n)
    z = norm.ppf((1 + check_level(confidence)) / 2)
    return float(norm.sf(z - distance) + norm.cdf(-z - distance))


def _pilot(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_b: ArrayLike | None,
    pos_label: Any,
    params: dict[str, Any],
) -> Study:
    scores = [y_score] if y_score_b is None else [y_score, y_score_b]
    study = make_study(metric, params, y_true, scores, pos_label=pos_label, sampling="by_class")
    study.measure.check_plannable()
    study.warn_if_few()
    return study


def _variances(study: Study, random_state: Any) -> tuple[float, float]:
    """Variance of the estimate times the number of rows, for positives and negatives."""
    rows, positive = Sample(study.samples[0].positive), study.samples[0].positive
    if study.measure.region is not None:
        terms = row_terms(rows, study.influence)
        of = [float((terms[one] * one.sum()).var(ddof=1)) for one in (positive, ~positive)]
        return of[0], of[1]
    of = []
    for is_positive in (True, False):
        # Resample one class at a time; to first order their variances add.
        draw = Draw(rows, by_class=True, still=not is_positive)
        values = bootstrap(study.measure, study.samples, draw, _RESAMPLES, random_state)
        gap = values[0] - (values[1] if len(values) > 1 else 0.0)
        of.append(float(gap.var()) * rows.class_weight(positive=is_positive))
    return of[0], of[1]


def _nonzero(difference: Any) -> float:
    return float(check_positive_number(abs(difference), "difference"))
