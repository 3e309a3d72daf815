"""Sample-size planning from the scores of a pilot, or from values expected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_fraction, check_positive_number
from aucuba._roc._prevalence import sample_at_prevalence
from aucuba._roc._standard_error import row_terms
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics._intervals import interval_of
from aucuba.metrics._measures import bind
from aucuba.metrics._normal_model import NormalModel
from aucuba.metrics._resampling import Draw, bootstrap
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._study import Study, check_level, make_study

# Bootstrap resamples of the pilot; the standard error is then known to 2 %.
_RESAMPLES = 1000
# Half of the change of the log-odds of a positive row over which a slope is taken.
_STEP = 0.1
_MODEL_ROWS = 1000.0


@dataclass(frozen=True)
class SampleSize:
    """Numbers of rows that reach a goal."""

    n_positives: int
    n_negatives: int


@dataclass(frozen=True)
class _Variances:
    """Variance of an estimate times the number of positives, of negatives, and of rows in all."""

    positives: float
    negatives: float
    rows: float = 0.0

    def of(self, n_positives: float, n_negatives: float) -> float:
        """Variance of a study of given size."""
        by_class = self.positives / n_positives + self.negatives / n_negatives
        return by_class + self.rows / (n_positives + n_negatives)

    def scaled(self, factor: float) -> _Variances:
        return _Variances(self.positives * factor, self.negatives * factor, self.rows * factor)


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
    interval of the pilot tells how many standard errors wide they are.

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
    # Of one positive and its share of the negatives.
    spread = float(np.sqrt(plan.variances(per_positive, random_state).of(1.0, per_positive)))
    if half_width is not None and power is None and difference is None and margin == 0:
        width = max(z, plan.errors_in_width(level, random_state))
        errors = width * spread / check_positive_number(half_width, "half_width")
    elif half_width is None and power is not None:
        reached = check_fraction(power, "power", low_open=True, high_open=True)
        distance = plan.distance(difference, margin)
        null = plan.null_error(spread, difference, margin, 1.0, per_positive)
        errors = (z * null + float(norm.ppf(reached)) * spread) / distance
    else:
        raise ValueError("Give half_width, or power and difference.")
    n_positives = max(2, int(np.ceil(errors**2)))
    return SampleSize(n_positives, max(2, int(np.ceil(n_positives * per_positive))))


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
    error = float(np.sqrt(plan.variances(n / m, random_state).of(m, n)))
    distance = plan.distance(difference, margin)
    z = norm.ppf((1 + check_level(confidence)) / 2)
    critical = z * plan.null_error(error, difference, margin, m, n)
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

    def null_error(
        self, error: float, difference: float | None, margin: float, m: float, n: float
    ) -> float:
        """Take a standard error from the value expected to the one that it is tested against.

        An interval by ``method="auto"`` ends at the value that a test would just not reject, with the
        variance there; a difference of two scorers has the variance found.
        """
        known = self.values if self.pilot is None else tuple(self.pilot.values)
        if len(known) > 1 or not self.measure.is_modelled or self.measure.is_rate:
            return error
        better = -1.0 if self.measure.smaller_is_better else 1.0
        side = better if margin else float(difference or 0.0)
        refuted = float(known[0] - np.copysign(self.distance(difference, margin), side))
        try:
            found = [self._of_value(one, n / m).of(m, n) for one in (refuted, float(known[0]))]
        except ValueError:
            if self.pilot is None:
                raise
            return error
        return error * float(np.sqrt(found[0] / found[1]))

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
        found = interval_of(study, level, method, "two-sided", _RESAMPLES, random_state)
        return (found.high - found.low) / 2 / float(np.sqrt(variance))

    def variances(self, ratio: float, random_state: Any) -> _Variances:
        if self.pilot is not None:
            return _of_pilot(self.pilot, ratio, random_state)
        found = [self._of_value(one, ratio) for one in self.values]
        if len(found) == 1:
            return found[0]
        a, b = found
        size = a.of(1.0, ratio), b.of(1.0, ratio)
        total = size[0] + size[1] - 2 * self.correlation * float(np.sqrt(size[0] * size[1]))
        return a.scaled(total / size[0])

    def _of_value(self, value: float, ratio: float) -> _Variances:
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
            return _Variances(0.0, 0.0, found[1] * scale)
        return _Variances(found[1] * scale, found[0] * scale)


def _of_pilot(study: Study, ratio: float, random_state: Any) -> _Variances:
    """Variances of one row, from placement values or from resamples of one class at a time."""
    rows, positive = Sample(study.samples[0].positive), study.samples[0].positive
    second = 1 if len(study.samples) > 1 else None
    if study.measure.region is not None:
        influence = study.influences[0]
        if second is not None:
            influence = influence - study.influences[second]
        terms = row_terms(rows, influence)
        of = [float((terms[one] * one.sum()).var(ddof=1)) for one in (positive, ~positive)]
        found = _Variances(of[0], of[1])
        if study.group is None:
            return found
        alone = replace(study, sampling="by_class", group=None)
        return found.scaled((study.error(0, second) / alone.error(0, second)) ** 2)
    samples = study.samples
    if study.measure.sampling == "random":
        samples = [sample_at_prevalence(one, 1 / (1 + ratio)) for one in samples]
    of = []
    for is_positive in (True, False):
        # To first order the variances of the classes add.
        draw = Draw(samples[0], by_class=True, still=not is_positive)
        gap = _gap(bootstrap(study.measure, samples, draw, _RESAMPLES, random_state))
        of.append(float(gap.var()) * rows.class_weight(positive=is_positive))
    found = _Variances(of[0], of[1], _of_prevalence(study.measure, samples, ratio))
    if study.group is None:
        return found
    spread = []
    for group in (study.group, None):
        draw = Draw(rows, by_class=False, group=group)
        values = bootstrap(study.measure, study.samples, draw, _RESAMPLES, random_state)
        spread.append(float(_gap(values).var()))
    return found.scaled(spread[0] / spread[1])


def _of_prevalence(measure: RocMeasure, samples: list[RankingSample], ratio: float) -> float:
    """Variance of one row from an uncertain prevalence p, whose log-odds have 1 / (p (1 - p))."""
    if measure.sampling != "random":
        return 0.0
    ends = []
    for step in (_STEP, -_STEP):
        share = 1 / (1 + ratio * float(np.exp(-step)))
        moved = [sample_at_prevalence(one, share) for one in samples]
        ends.append(float(_gap(np.array([[measure.value(one)] for one in moved]))[0]))
    slope, prevalence = (ends[0] - ends[1]) / (2 * _STEP), 1 / (1 + ratio)
    return slope**2 / (prevalence * (1 - prevalence))


def _gap(values: Any) -> Any:
    """Return the values of one scorer, or the differences of two."""
    return values[0] - (values[1] if len(values) > 1 else 0.0)
