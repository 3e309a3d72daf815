"""Variances of a study of another size, from the scores of a pilot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucuba._roc._prevalence import sample_at_prevalence
from aucuba._roc._standard_error import row_terms
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics._resampling import Draw, bootstrap
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._steps import Spread, spread_of_steps
from aucuba.metrics._study import Study

# Bootstrap resamples of the pilot; the standard error is then known to 2 %.
RESAMPLES = 1000
# Half of the change of the log-odds of a positive row over which a slope is taken.
_STEP = 0.1


@dataclass(frozen=True)
class Variances:
    """Variance of an estimate times the number of positives, of negatives, and of rows in all."""

    positives: float
    negatives: float
    rows: float = 0.0

    def of(self, n_positives: float, n_negatives: float) -> float:
        """Variance of a study of given size."""
        by_class = self.positives / n_positives + self.negatives / n_negatives
        return by_class + self.rows / (n_positives + n_negatives)

    def scaled(self, factor: float) -> Variances:
        return Variances(self.positives * factor, self.negatives * factor, self.rows * factor)


def variances_of_pilot(study: Study, ratio: float, random_state: Any) -> Variances:
    """Variances of one row, from placement values or from resamples of one class at a time."""
    rows, positive = Sample(study.samples[0].positive), study.samples[0].positive
    second = 1 if len(study.samples) > 1 else None
    if study.measure.region is not None:
        influence = study.influences[0]
        if second is not None:
            influence = influence - study.influences[second]
        terms = row_terms(rows, influence)
        of = [float((terms[one] * one.sum()).var(ddof=1)) for one in (positive, ~positive)]
        found = Variances(of[0], of[1])
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
        gap = _gap(bootstrap(study.measure, samples, draw, RESAMPLES, random_state))
        of.append(float(gap.var()) * rows.class_weight(positive=is_positive))
    found = Variances(of[0], of[1], _of_prevalence(study.measure, samples, ratio))
    return found.scaled(_design_effect(study, random_state))


def spread_of_pilot(study: Study, ratio: float, random_state: Any) -> Spread:
    """Spread of the difference of a pilot's scorers at a ratio of the classes."""
    if not study.measure.moves_in_steps:
        return Spread(variances_of_pilot(study, ratio, random_state).of(1.0, ratio))
    found = spread_of_steps(study, ratio, random_state)
    return replace(found, variance=found.variance * _design_effect(study, random_state))


def _design_effect(study: Study, random_state: Any) -> float:
    """Return the variance over whole groups per variance over rows."""
    if study.group is None:
        return 1.0
    spread, rows = [], Sample(study.samples[0].positive)
    for group in (study.group, None):
        draw = Draw(rows, by_class=False, group=group)
        values = bootstrap(study.measure, study.samples, draw, RESAMPLES, random_state)
        spread.append(float(_gap(values).var()))
    return spread[0] / spread[1]


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
