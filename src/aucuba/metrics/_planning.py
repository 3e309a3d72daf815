"""Sample-size planning from the scores of a pilot, or from values expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_fraction, check_positive_number
from aucuba.metrics._intervals import interval_of
from aucuba.metrics._measures import bind
from aucuba.metrics._normal_model import NormalModel
from aucuba.metrics._pilot import RESAMPLES, Variances, spread_of_pilot, variances_of_pilot
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._steps import Spread
from aucuba.metrics._study import Study, check_level, make_study

_MODEL_ROWS = 1000.0
# A number of rows whose errors depend on it little is found to so much in so many steps.
_CLOSE, _MOST_STEPS = 1e-9, 100


@dataclass(frozen=True)
class SampleSize:
    """Numbers of rows that reach a goal."""

    n_positives: int
    n_negatives: int


def sample_size_for(
    metric: str,
    y_true: ArrayLike | None = None,
    y_score: ArrayLike | None = None,
    y_score_b: ArrayLike | None = None,
    *,
    values: float | tuple[float, float] | None = None,
    correlation: float = 0.0,
    half_width: float | None = None,
    power: float | None = None,
    difference: float | None = None,
    margin: float = 0.0,
    ratio: float | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    random_state: Any = None,
    **metric_params: Any,
) -> SampleSize:
    r"""Plan the size of a study from the scores of a pilot, or from the values expected.

    The variance of an estimate from m positives and n negatives is taken as :math:`V_1/m + V_0/n`. The
    components come from the pilot's placement values (AUC and partial AUC), from resamples of it, or
    from normal scores; measures that depend on the prevalence have a third part over all rows. A
    half-width is that of intervals by ``method="auto"``: for measures without placement values the
    interval of the pilot tells how many standard errors wide they are. Measures read off at a place
    that comes from the rows, such as the TPR at an FPR, spread less than the resamples of a test do.
    Resamples of the pilot's smoothed scores show how much less; the gap shrinks as the study grows.

    Parameters
    ----------
    metric, **metric_params
        As in `score_interval`.
    y_true, y_score : array-like of shape (n_samples,), default=None
        Labels and scores of the pilot.
    y_score_b : array-like of shape (n_samples,), default=None
        Scores of a second scorer on the same rows: the study then compares the two in pairs.
    values : float or (float, float), default=None
        Instead of a pilot: the value expected of a scorer, or of two whose difference is tested.
        Variances are those of normal scores of equal spread with these values.
    correlation : float, default=0.0
        Of the two estimates, with two ``values``: 0 for independent samples; scorers of the same rows
        often have 0.3 to 0.7.
    half_width : float, default=None
        Half of the width that the confidence interval should have.
    power, difference : float, default=None
        Probability of a significant two-sided test at level ``1 - confidence`` if the true
        difference is this; with two ``values`` theirs, with a ``margin`` 0. One scorer is tested
        against a known value that differs by it, with the variance there. Give ``half_width`` or
        ``power``.
    margin : float, default=0.0
        Plan a test of non-inferiority: the first scorer is not worse by this or more, at one-sided
        level ``(1 - confidence) / 2``.
    ratio : float, default=None
        Negatives per positive in the study; by default as in the pilot, 1 without one.
    groups : array-like of shape (n_samples,), default=None
        Groups of the pilot's rows: variances grow by the design effect found there. Without a
        pilot multiply both numbers by the design effect :math:`1 + (k - 1) r` of groups of k rows
        with intraclass correlation r.
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
    >>> sample_size_for("auc", values=(0.85, 0.75), ratio=1, power=0.8, correlation=0.5)
    SampleSize(n_positives=74, n_negatives=74)

    An AUC of 0.7 against chance, for a one-sided test at 5 %:

    >>> sample_size_for("auc", values=0.7, difference=0.2, power=0.9, confidence=0.9)
    SampleSize(n_positives=33, n_negatives=33)
    """
    level = check_level(confidence)
    rows = y_true, y_score, y_score_b, groups, pos_label
    plan = _Plan.of(metric, metric_params, values, correlation, rows)
    per_positive = plan.ratio if ratio is None else check_positive_number(ratio, "ratio")
    z = float(norm.ppf((1 + level) / 2))
    spread = plan.spread(per_positive, random_state)
    if half_width is not None and power is None and difference is None and margin == 0:
        width = max(z, plan.errors_in_width(level, random_state))
        goal = check_positive_number(half_width, "half_width")

        def reach(estimate: float, test: float) -> float:
            return width * test

    elif half_width is None and power is not None:
        reached = float(norm.ppf(check_fraction(power, "power", low_open=True, high_open=True)))
        goal = plan.distance(difference, margin)
        null = plan.null_factor(difference, margin, per_positive)

        def reach(estimate: float, test: float) -> float:
            return z * null * test + reached * estimate

    else:
        raise ValueError("Give half_width, or power and difference.")
    n_positives = max(2, int(np.ceil(_fewest(lambda m: reach(*spread.errors(m)), goal))))
    return SampleSize(n_positives, max(2, int(np.ceil(n_positives * per_positive))))


def _fewest(reach: Callable[[float], float], goal: float) -> float:
    """Return the positives from which so many standard errors reach no further than a goal."""
    n_positives, factor = 1.0, np.inf
    for _ in range(_MOST_STEPS):
        # Nothing spreads in the pilot of a perfect scorer: no positive is needed.
        if factor == 0.0 or abs(factor - 1.0) < _CLOSE:
            break
        factor = (reach(n_positives) / goal) ** 2
        n_positives *= factor
    return n_positives


def power_of(
    metric: str,
    y_true: ArrayLike | None = None,
    y_score: ArrayLike | None = None,
    y_score_b: ArrayLike | None = None,
    *,
    n_positives: int,
    n_negatives: int,
    values: float | tuple[float, float] | None = None,
    correlation: float = 0.0,
    difference: float | None = None,
    margin: float = 0.0,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    random_state: Any = None,
    **metric_params: Any,
) -> float:
    """Compute the power of a study of given size from the scores of a pilot, or from values expected.

    Parameters
    ----------
    metric, y_true, y_score, y_score_b, values, correlation, difference, margin, groups, confidence
        As in `sample_size_for`.
    n_positives, n_negatives : int
        Rows of the study.
    pos_label, random_state, **metric_params
        As in `sample_size_for`.

    Returns
    -------
    float
        Probability that the two-sided test at level ``1 - confidence`` finds the difference, or that
        the test of non-inferiority succeeds.

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
    rows = y_true, y_score, y_score_b, groups, pos_label
    plan = _Plan.of(metric, metric_params, values, correlation, rows)
    m = check_positive_number(n_positives, "n_positives", integer=True)
    n = check_positive_number(n_negatives, "n_negatives", integer=True)
    error, of_test = plan.spread(n / m, random_state).errors(m)
    distance = plan.distance(difference, margin)
    z = norm.ppf((1 + check_level(confidence)) / 2)
    critical = z * of_test * plan.null_factor(difference, margin, n / m)
    other_side = 0.0 if margin else norm.cdf((-critical - distance) / error)
    return float(norm.sf((critical - distance) / error) + other_side)


@dataclass(frozen=True)
class _Plan:
    """What a study measures, and what its variance is learnt from: a pilot, or values expected."""

    measure: RocMeasure
    pilot: Study | None
    values: tuple[float, ...] = ()
    correlation: float = 0.0

    @classmethod
    def of(
        cls,
        metric: str,
        params: dict[str, Any],
        values: float | tuple[float, float] | None,
        correlation: float,
        rows: tuple[Any, ...],
    ) -> _Plan:
        y_true, y_score, y_score_b, groups, pos_label = rows
        if (values is None) == (y_true is None or y_score is None):
            raise ValueError("Give the labels and scores of a pilot, or the values expected.")
        if values is not None:
            if groups is not None:
                raise ValueError(
                    "groups are those of a pilot's rows, and values come without rows. Leave groups "
                    "out and multiply both numbers by the design effect: 1 + (k - 1) r for groups of "
                    "k rows with intraclass correlation r."
                )
            measure = bind(metric, params)
            measure.check_plannable()
            if not measure.is_modelled or measure.is_rate:
                raise ValueError(
                    f"{metric!r} cannot be planned from values expected, since normal scores do not "
                    "tell its variance; plan from the scores of a pilot."
                )
            given = tuple(float(one) for one in np.atleast_1d(values))
            if len(given) > 2:
                raise ValueError(f"values must be one value or a pair, got {values!r}.")
            if not -1 <= correlation < 1:
                raise ValueError(f"correlation must lie in [-1, 1), got {correlation!r}.")
            return cls(measure, None, given, float(correlation))
        scores = [y_score] if y_score_b is None else [y_score, y_score_b]
        options = {"pos_label": pos_label, "groups": groups}
        study = make_study(metric, params, y_true, scores, **options)
        study.measure.check_plannable()
        study.warn_if_few()
        return cls(study.measure, study)

    @property
    def ratio(self) -> float:
        """Negatives per positive in the pilot."""
        if self.pilot is None:
            return 1.0
        positive = self.pilot.samples[0].positive
        return float((~positive).sum()) / float(positive.sum())

    def distance(self, difference: float | None, margin: float) -> float:
        """Distance of the true difference from what the test has to refute."""
        if difference is None and len(self.values) == 2:
            difference = self.values[0] - self.values[1]
            difference = -difference if self.measure.smaller_is_better else difference
        if margin:
            return check_positive_number(margin + (difference or 0.0), "margin plus difference")
        if difference is None:
            raise ValueError("Give difference, the true difference that the test should find.")
        return check_positive_number(abs(difference), "difference")

    def null_factor(self, difference: float | None, margin: float, ratio: float) -> float:
        """Return the standard error at the value tested against, in those at the value expected.

        An interval by ``method="auto"`` ends at the value that a test would just not reject, with the
        variance there; a difference of two scorers has the variance found.
        """
        known = self.values if self.pilot is None else tuple(self.pilot.values)
        if len(known) > 1 or not self.measure.is_modelled or self.measure.is_rate:
            return 1.0
        better = -1.0 if self.measure.smaller_is_better else 1.0
        side = better if margin else float(difference or 0.0)
        refuted = float(known[0] - np.copysign(self.distance(difference, margin), side))
        try:
            found = [
                self._of_value(one, ratio).of(1.0, ratio) for one in (refuted, float(known[0]))
            ]
        except ValueError:
            if self.pilot is None:
                raise
            return 1.0
        return float(np.sqrt(found[0] / found[1]))

    def errors_in_width(self, level: float, random_state: Any) -> float:
        """Half of the width of the pilot's own interval, in standard errors; 0 if it is not needed.

        Intervals of measures whose threshold comes from the rows, such as the FPR at a TPR, are wider
        than first-order errors say, so the plan scales the interval of the pilot.
        """
        study = self.pilot
        if study is None or len(study.samples) > 1 or study.group is not None:
            return 0.0
        if study.measure.region is not None or study.measure.prevalence is not None:
            return 0.0
        positive = study.samples[0].positive
        variance = self.variances(self.ratio, random_state).of(positive.sum(), (~positive).sum())
        if variance <= 0:
            return 0.0
        method = study.choose("auto")
        found = interval_of(study, level, method, "two-sided", RESAMPLES, random_state)
        return (found.high - found.low) / 2 / float(np.sqrt(variance))

    def spread(self, ratio: float, random_state: Any) -> Spread:
        """Return how far the estimates, and the resamples of a test, spread at a ratio of classes."""
        if self.pilot is not None and len(self.pilot.samples) > 1:
            return spread_of_pilot(self.pilot, ratio, random_state)
        return Spread(self.variances(ratio, random_state).of(1.0, ratio))

    def variances(self, ratio: float, random_state: Any) -> Variances:
        if self.pilot is not None:
            return variances_of_pilot(self.pilot, ratio, random_state)
        found = [self._of_value(one, ratio) for one in self.values]
        if len(found) == 1:
            return found[0]
        a, b = found
        size = a.of(1.0, ratio), b.of(1.0, ratio)
        total = size[0] + size[1] - 2 * self.correlation * float(np.sqrt(size[0] * size[1]))
        return a.scaled(total / size[0])

    def _of_value(self, value: float, ratio: float) -> Variances:
        floor, ceiling = self.measure.limits
        model = NormalModel.of(self.measure, _MODEL_ROWS, _MODEL_ROWS * ratio)
        try:
            found = model.variance_at((value - floor) / (ceiling - floor))
        except ValueError as error:
            raise ValueError(
                f"No normal scores have a {self.measure.name} of {value!r}: on the scale from 0 to 1 "
                f"{error}."
            ) from None
        scale = (ceiling - floor) ** 2
        if self.measure.sampling == "random":
            return Variances(0.0, 0.0, found[1] * scale)
        return Variances(found[1] * scale, found[0] * scale)
