"""A measure of the ROC curve with its parameters bound, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._cells import CellRatio
from aucuba._roc._curve import RocCurve, curve_at_threshold, roc_curve
from aucuba._roc._prevalence import curve_at_prevalence, sample_at_prevalence, target_range
from aucuba._roc._queries import query_values
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample

Sampling = Literal["by_class", "random"]
OfCurve = Callable[[RocCurve, int], Any]
# Times so many rows are needed where the classes are weighted for another prevalence.
_MORE_ROWS = 10
Effects = Callable[[RankingSample], FloatArray]
Bias = Callable[[RankingSample, tuple[float, float] | None], tuple[float, float]]


@dataclass(frozen=True)
class RocMeasure:
    """A measure with its parameters checked and bound.

    Parameters
    ----------
    name : str
        As users type it, without ``_score``.
    of_curve : callable
        Value from the ROC curve of one query and its number of rows; with leading axes, a value per
        resample.
    region : Region or None
        Where the measure is the (weighted) area in a region: placement values then exist.
    sampling : {"by_class", "random"}
        How a fresh sample would be drawn: fixed numbers of either class for measures of the ROC curve
        alone, else random rows, so that the prevalence is uncertain too.
    effects : callable or None
        First-order effect of every row of a sample, for smooth measures that are not areas.
    rows_for_effects : float
        From this many rows on these effects give intervals and tests; below, resamples do.
    bias : callable or None
        Estimated mean excess of a sample's value over the population's, for intervals: at least and
        at most. The second argument is the numbers of either class where weights count equal rows.
    cells : CellRatio or None
        The sums that a measure at a fixed threshold is made of.
    at_vertices : callable or None
        Values at all vertices of a curve, where the measure is the best of them.
    of_population : callable or None
        The value of a curve without steps, where ``of_curve`` only looks at vertices.
    smaller_is_better : bool
    needs : {"both", "positive", "any"}
        Which queries count: those with both classes, with a positive row, or all.
    limits : (float, float)
        The range of possible values.
    slope : float
        Change of the measure per change of the plain area in its region.
    is_rate : bool
        Whether it is a rate of rows at a threshold fixed beforehand: a binomial proportion.
    parts : (float, float)
        Fractions of the positives and of the negatives that decide the value.
    cuts : tuple of float or None
        Thresholds that matter besides the shape of the curve; None if every score matters.
    steps : bool
        Whether neighbouring positives of different scores count one by one.
    params : mapping
        The parameters that methods for this measure alone need.
    incomparable : str
        Why values of two scorers cannot be compared; empty where they can.
    unplannable : str
        Why no sample size can be planned; empty where one can.
    is_modelled : bool
        Whether the normal model of `aucuba.metrics._normal_model` can compute it.
    has_a_prevalence : bool
        Whether a measure of random rows can be computed for another prevalence.
    of_probabilities : bool
        Whether scores must be probabilities.
    prevalence : (float, float) or None
        Ends of the prevalence for which it is computed; None for that of the rows.
    n_top : int or None
        How many of the highest rows are counted, where the value depends on nothing else.
    summary : callable
        The part of a sample's ROC curve that decides, where less than a sort of all rows gives it.
    """

    name: str
    of_curve: OfCurve
    region: Region | None = None
    sampling: Sampling = "by_class"
    effects: Effects | None = None
    rows_for_effects: float = np.inf
    bias: Bias | None = None
    cells: CellRatio | None = None
    at_vertices: OfCurve | None = None
    of_population: OfCurve | None = None
    smaller_is_better: bool = False
    needs: Literal["both", "positive", "any"] = "both"
    limits: tuple[float, float] = (0.0, 1.0)
    slope: float = 1.0
    is_rate: bool = False
    parts: tuple[float, float] = (1.0, 1.0)
    cuts: tuple[float, ...] | None = ()
    steps: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    incomparable: str = ""
    unplannable: str = ""
    is_modelled: bool = True
    has_a_prevalence: bool = True
    of_probabilities: bool = False
    prevalence: tuple[float, float] | None = None
    n_top: int | None = None
    summary: Callable[[RankingSample], RocCurve] = roc_curve

    @property
    def is_smooth(self) -> bool:
        """Whether small changes of the weights move the value by a little, so that BCa applies."""
        return self.region is not None or self.effects is not None

    @property
    def moves_in_steps(self) -> bool:
        """Whether the value is read off the ranking at a place that comes from the rows."""
        is_fixed = self.is_rate or self.cells is not None or self.cuts != ()
        return not (self.is_smooth or is_fixed or self.at_vertices is not None)

    def at_prevalence(self, target_prevalence: Any) -> RocMeasure:
        """Return the measure of a population with another share of positives (label shift).

        Of an interval the less favourable end counts. The share is given, so a fresh sample would be
        drawn by class.
        """
        if self.sampling == "by_class" or not self.has_a_prevalence:
            reason = self.unplannable or "it is a measure of the ROC curve alone."
            raise ValueError(f"target_prevalence has no meaning for {self.name!r}: {reason}")
        ends = target_range(target_prevalence)
        worst = np.max if self.smaller_is_better else np.min
        of_curve, effects, bias = self.of_curve, self.effects, self.bias

        def moved(of_curve: OfCurve) -> OfCurve:
            return lambda curve, n_rows: worst(
                [of_curve(curve_at_prevalence(curve, end), n_rows) for end in set(ends)], axis=0
            )

        def at_worst(sample: RankingSample) -> RankingSample:
            curve = self.summary(sample)
            values = [of_curve(curve_at_prevalence(curve, end), sample.n_rows) for end in ends]
            return sample_at_prevalence(sample, ends[values.index(worst(values))])

        def effects_at(sample: RankingSample) -> FloatArray:
            assert effects is not None
            at = at_worst(sample)
            return centred_by_class(at, effects(at))

        return replace(
            self,
            of_curve=moved(self.of_curve),
            of_population=moved(self.of_population or self.of_curve),
            sampling="by_class",
            effects=None if effects is None else effects_at,
            bias=None if bias is None else lambda sample, copies: bias(at_worst(sample), copies),
            # Heavier negatives at the top are fewer rows than they count for.
            rows_for_effects=self.rows_for_effects * _MORE_ROWS,
            at_vertices=None if self.at_vertices is None else moved(self.at_vertices),
            needs="both",
            prevalence=ends,
            # The top of the rows is not the top of the population, whose classes count as a whole.
            summary=partial(curve_at_threshold, threshold=self.params["threshold"])
            if "threshold" in self.params
            else roc_curve,
        )

    def check_comparable(self) -> None:
        """Refuse to compare the values of two scorers where they have no common scale."""
        if self.incomparable:
            raise ValueError(
                f"{self.name!r} cannot tell which of two models is better: {self.incomparable}"
            )

    def check_plannable(self) -> None:
        """Refuse to plan a study of another size where the size changes the measure."""
        if self.unplannable:
            raise ValueError(f"No sample size can be planned for {self.name!r}: {self.unplannable}")

    def check_scores(self, sample: RankingSample) -> None:
        """Refuse scores that are no probabilities where the measure needs them."""
        if not self.of_probabilities:
            return
        low, high = float(sample.score.min()), float(sample.score.max())
        if low < 0 or high > 1:
            raise ValueError(
                f"{self.name!r} needs probabilities: y_score must lie in [0, 1], got values from "
                f"{low:.4g} to {high:.4g}. Calibrate the scores first."
            )

    def of_query(self, query: RankingSample) -> float:
        """Compute the value of one query."""
        return float(self.of_curve(self.summary(query), query.n_rows))

    def by_query(self, sample: RankingSample) -> FloatArray:
        """Compute one value per query that counts."""
        if self.prevalence is not None and self.has_a_prevalence:
            raise ValueError(
                "target_prevalence is about all rows and cannot be given with qid: every query has a "
                "prevalence of its own."
            )
        self.check_scores(sample)
        return query_values(sample, self.of_curve, self.needs, self.n_top)

    def value(self, sample: RankingSample) -> float:
        """Compute the value of a sample, or its mean over the queries that count."""
        if sample.query is None:
            self.check_scores(sample)
            return self.of_query(sample)
        return float(np.mean(self.by_query(sample)))


def centred_by_class(sample: RankingSample, effect: FloatArray) -> FloatArray:
    """Return the effects of rows that are drawn by class."""
    centred = effect.copy()
    for rows in (sample.positive, ~sample.positive):
        weight = sample.weights[rows]
        centred[rows] -= weight * (effect[rows].sum() / weight.sum())
    return centred
