"""Cross-validation: the splits, the tasks that run on each of them, and the choices they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._arrays import NUMPY, Arrays, Vector, arrays_of, is_tensor, mean_and_scale
from aucuba._base._parallel import draw_seed, one_blas_thread
from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_positive_number
from aucuba._base._warnings import FewRowsAdvice, Remedy
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._logistic import CALIBRATION_C, log_loss, logistic_calibration, rising_line
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import OutOfFold
from aucuba._rows._splits import KeptRows, Split, halvings, shuffled_folds, time_folds
from aucuba.design import RowDesign
from aucuba.linear._anchored_fit import (
    anchor_direction,
    anchored_fit,
    moments,
)
from aucuba.linear._logistic_fit import LogisticFit, LogisticPath
from aucuba.risks import Sample

_N_FOLDS = 5
# Number of halvings up to ten thousand rows; larger tables get fewer, since their fits differ less.
_N_HALVINGS, _FEWEST_HALVINGS = 10, 2
_ROWS_FOR_ALL_HALVINGS = 10_000


def Cs_to_try(Cs: Any) -> FloatArray:
    """Return the values of C in rising order; an integer asks for that many from 1e-3 to 1e3."""
    if np.ndim(Cs) == 0:
        n_values = int(check_positive_number(Cs, "Cs", integer=True))
        return np.logspace(-3, 3, n_values) if n_values > 1 else np.ones(1)
    values = np.array([check_positive_number(C, "Cs") for C in Cs])
    if values.size == 0:
        raise ValueError("Cs is empty; give at least one value of C.")
    return np.sort(values)


@dataclass(frozen=True)
class Splits:
    """Folds for choosing C, splits for the half-sample fits, and whether the folds are of time.

    Folds of time also judge the half-sample fits, whose own tests lie in the past of their rows.
    """

    folds: list[Split]
    halves: list[Split]
    in_time: bool = False

    @classmethod
    def from_cv(cls, cv: Any, kept: KeptRows, positive: Vector, random_state: Any) -> Splits:
        """Draw five folds and the halvings, or use the user's ``cv`` for both; groups stay whole.

        With time the folds are its blocks. The splits are where the classes of the rows are.
        """
        drawn = cls._drawn(cv, kept, positive, random_state)
        index = arrays_of(positive).index
        folds, halves = (
            [(index(train), index(test)) for train, test in splits]
            for splits in (drawn.folds, drawn.halves)
        )
        return cls(folds, halves, drawn.in_time)

    @classmethod
    def _drawn(cls, cv: Any, kept: KeptRows, positive: Vector, random_state: Any) -> Splits:
        if cv is not None and kept.time is None:
            splits = kept.splits(cv, random_state)
            return cls(splits, splits)
        seed = draw_seed(random_state)
        n_rows, n_positives, group = len(positive), int(positive.sum()), kept.group_of
        most = min(n_positives, n_rows - n_positives) if group is None else np.unique(group).size
        if most < 2:
            return cls([], [])
        n_halvings = round(_N_HALVINGS * min(1.0, _ROWS_FOR_ALL_HALVINGS / n_rows))
        halves = halvings(positive, max(n_halvings, _FEWEST_HALVINGS), seed, group)
        if kept.time is not None:
            n_blocks = _N_FOLDS if cv is None else cv
            return cls(time_folds(n_blocks, kept.time[kept.index], group), halves, in_time=True)
        return cls(shuffled_folds(positive, min(_N_FOLDS, most), seed, group), halves)

    @property
    def judged(self) -> list[Split]:
        """The splits whose tests compare the half-sample fits with logistic regression."""
        return self.folds if self.in_time else self.halves

    def usable(self, sample: Sample) -> Splits:
        """Drop the splits that leave one class, or no query with both, to train on."""
        return Splits(
            [split for split in self.folds if sample.take(split[0]).has_pairs],
            [split for split in self.halves if sample.take(split[0]).has_pairs],
            self.in_time,
        )

    def can_compare(self, sample: Sample) -> bool:
        """Tell whether the rows tested by both kinds of splits, taken together, can be ranked.

        One test part alone need not be: leaving out single rows is fine.
        """
        if not self.folds or not self.halves:
            return False
        arrays = arrays_of(sample.positive)
        tested = arrays.zeros(sample.n_rows), arrays.zeros(sample.n_rows)
        for kind, splits in zip(tested, (self.folds, self.halves), strict=True):
            for _, test in splits:
                kind[test] = 1.0
        return sample.take(arrays.places(tested[0] * tested[1])).has_pairs


@dataclass(frozen=True)
class FoldOfPath:
    """Test log-odds of logistic regression, one row per C, and what makes standard scores of them.

    Those have mean 0 and variance 1 on the training rows, as the scores of the model of all rows have.
    """

    log_odds: Vector
    means: FloatArray
    scales: FloatArray

    def standardised(self, k: int) -> Vector:
        """Return the standard scores of one C, as one row."""
        return (self.log_odds[[k]] - self.means[k]) / self.scales[k]


def home_of_scores(design: RowDesign, sample: Sample, region: Region) -> Arrays:
    """Return where held-out scores are compared: where X lives if they can be there, or the host."""
    return design.arrays if RegionComparison.compares_there(sample, region) else NUMPY


def at_home(scores: Vector, sample: Sample) -> Vector:
    """Bring scores to where the rows' classes are."""
    return scores if is_tensor(sample.positive) else arrays_of(scores).host(scores)


@one_blas_thread()
def logistic_path(
    split: Split,
    design: RowDesign,
    sample: Sample,
    Cs: FloatArray,
    start: LogisticFit,
) -> FoldOfPath:
    """Fit the training rows at every C and score the test rows; ``start`` is the fit of all rows."""
    part = sample.take(split[0])
    path = LogisticPath(design.take(split[0]), part, start)
    fits = [path.fit(C) for C in Cs]
    of_train, of_test = scores_of_both(split, design, sample, [one.coef for one in fits])
    log_odds = [row + one.intercept for row, one in zip(of_test, fits, strict=True)]
    means, scales = np.array([moments(row, part.weight) for row in of_train]).T
    means += [one.intercept for one in fits]
    return FoldOfPath(arrays_of(log_odds[0]).stack(log_odds), means, scales)


def scores_of_both(
    split: Split, design: RowDesign, sample: Sample, models: Sequence[FloatArray]
) -> tuple[Iterator[Vector], Iterator[Vector]]:
    """Score the rows of both parts of a split by several models, in one pass over all rows.

    That takes no longer than a pass over each part, and the test rows are not copied.
    """
    train, test = map(design.arrays.index, split)
    scores = design.scores(np.stack(models))
    return (row[train] for row in scores), (at_home(row[test], sample) for row in scores)


@one_blas_thread()
def anchored_half(
    split: Split,
    design: RowDesign,
    sample: Sample,
    region: Region,
    C: float,
    start: LogisticFit | None = None,
) -> tuple[FloatArray, Vector]:
    """Fit the training rows; return the departure from the anchor, and scores of the other rows.

    The anchor is logistic regression of the same rows; both models are scaled to training scores of
    unit variance, and the departure is the difference of their coefficients. The scores are centred,
    the anchor's in the first row, those of the fit in the second. ``start`` is the logistic regression
    of all rows.
    """
    part, train_design = sample.take(split[0]), design.take(split[0])
    anchor, _ = anchor_direction(train_design, part, C, start)
    fit = anchored_fit(train_design, part, region.for_training(part), anchor)
    if fit.solution is not None:
        fit.solution.raise_interrupt()
    both = scores_of_both(split, design, sample, (anchor, fit.coef))
    held_out = [test - moments(train, part.weight)[0] for train, test in zip(*both, strict=True)]
    return fit.coef - anchor, arrays_of(held_out[0]).stack(held_out)


def few_rows_advice(consequence: str) -> FewRowsAdvice:
    """Return the warning for data that cannot be cross-validated."""
    return FewRowsAdvice(
        "Too few rows (or queries) of each class for cross-validation, in the training or the test "
        f"parts: {consequence}.",
        Remedy("add data"),
        Remedy("give other splits as cv", "splitter"),
    )


@dataclass(frozen=True)
class ChosenModel:
    """Coefficients, and the scores they give to held-out rows; rows is None if nothing was held out."""

    coef: FloatArray
    rows: Vector | None = None
    held_out: Vector | None = None

    def calibration(self, scores: Vector, sample: Sample) -> FloatArray:
        """Calibrate on the held-out rows, or on training scores if a class is missing there."""
        calibrate = _calibration_there if is_tensor(scores) else logistic_calibration
        if self.rows is not None and self.held_out is not None:
            tested = sample.take(self.rows)
            if tested.positive.any() and not tested.positive.all():
                slope, at_mean = calibrate(self.held_out, tested)
                weight = sample.weight
                mean = scores.mean() if weight is None else np.average(scores, weights=weight)
                return np.array([slope, at_mean - slope * float(mean)])
        return calibrate(scores, sample)


def _calibration_there(scores: Vector, sample: Sample) -> FloatArray:
    """Compute `logistic_calibration` of a tensor on its device."""
    from aucuba.design import TorchDesign

    mean, scale = map(float, mean_and_scale(scores, None))
    design = TorchDesign(((scores - mean) / scale)[:, None])
    fit = LogisticPath(design, sample.moved_to(design.arrays)).fit(CALIBRATION_C)
    return rising_line(float(fit.coef[0]) / scale, fit.intercept, mean, sample)


@dataclass(frozen=True)
class ChosenBlend:
    """The weight of the region's own model beside logistic regression, and what decided it."""

    weight: float
    status: str
    partial_auc: dict[str, float]
    errors: dict[str, float]

    @classmethod
    def from_scores(
        cls,
        tested: Sample,
        region: Region,
        logistic: Vector,
        own: Vector,
        compare: type[RegionComparison] = RegionComparison,
    ) -> ChosenBlend:
        """Weigh the region's own model by its lead on the rows left out, `Lead.weight`.

        A step from one model to the other would be decided by noise wherever the two are close; this
        weight moves with the evidence, and has no constant to choose.
        """
        first, second = (_standardised(scores, tested.weight) for scores in (logistic, own))
        both = arrays_of(first).stack([first, second])
        comparison = compare(tested, both, region)
        lead = comparison.lead(1, 0)
        weight = lead.weight
        blended = compare(tested, ((1 - weight) * first + weight * second)[None], region)
        plain, best = map(float, comparison.values)
        values = {"logistic": plain, "blend": float(blended.values[0]), "region": best}
        if np.isnan(lead.error):
            status = (
                "Logistic regression kept: no held-out positive has a negative to compare with."
            )
        else:
            verb = "leads" if lead.difference > 0 else "does not lead"
            status = (
                f"The region's own model has weight {weight:.2f}: it {verb} logistic regression "
                f"({lead.difference:+.4f} of held-out {compare.measure}, "
                f"standard error {lead.error:.4f})."
            )
        return cls(weight, status, values, {"region - logistic": lead.error})


def choose_C(
    logistic: OutOfFold,
    sample: Sample,
    region: Region,
    Cs: FloatArray,
    compare: type[RegionComparison] = RegionComparison,
) -> tuple[int, dict[str, FloatArray]]:
    """Choose the C of best log-loss, unless another is clearly ahead in the region.

    Returns its place, and what every C reached.
    """
    tested = sample.take(logistic.covered)
    losses = np.array([log_loss(row, tested.positive, tested.weight) for row in logistic.scores])
    comparison = compare(tested, logistic.scores, region)
    results = {"C": Cs, "log_loss": losses, "logistic": comparison.values}
    best = int(np.argmin(losses))
    # Standard errors are slow to compute and matter only for values of C that are ahead.
    better = np.flatnonzero(comparison.values > comparison.values[best])
    ahead = [int(k) for k in better if comparison.lead(int(k), best).is_clear()]
    return max(ahead, key=lambda k: float(comparison.values[k])) if ahead else best, results


def _standardised(scores: Vector, weight: FloatArray | None) -> Vector:
    mean, scale = mean_and_scale(scores, weight)
    return (scores - mean) / scale
