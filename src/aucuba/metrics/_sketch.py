"""A mergeable summary of scored rows that is exact at low false positive rates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from aucuba._base._arrays import on_host
from aucuba._base._files import reading_json
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import (
    check_fpr_range,
    check_fraction,
    check_positive_number,
    finite_scores,
    one_per_row,
    row_weights,
)
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._roc._curve import RocCurve, placements, roc_curve
from aucuba._roc._points import tpr_within_fpr, vertex_within_fpr
from aucuba._roc._region import FprWeight
from aucuba.metrics._intervals import ScoreInterval, model_limits
from aucuba.metrics._measures import bind
from aucuba.metrics._operating_points import point_at
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._stream import few_rows_of, sketch_labels
from aucuba.metrics._study import check_level, few_rows
from aucuba.metrics._top_rows import CLASSES, TopRows

_EPS = np.finfo(np.float64).eps
Answer = TypeVar("Answer")


class RocSketch:
    r"""Mergeable summary of scored rows, exact at low false positive rates.

    It keeps the ``capacity`` highest negatives (rows of equal score as one entry with their count), the
    positives at or above the lowest of them, and of all other rows only how many there are and what
    they weigh. The ROC curve is known exactly up to the false positive rate of the kept negatives,
    ``covered_fpr``, however many rows were seen: 4 million negatives cover :math:`\mathrm{FPR} \le
    0.05` of 80 million. A measure that needs more raises one error that names the capacity needed.

    The state does not depend on the order of updates and merges: with whole-number weights it is the
    same bit for bit, with other weights up to rounding. So one sketch per partition of a Dask or Spark
    job, per file or per batch of an evaluation loop can be merged in any order.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        Default range of false positive rates of all measures.
    capacity : int, default=4_000_000
        Number of negatives to keep. An entry takes 16 bytes, 32 with weights.
    labels : (label or list of labels, label), default=None
        The negative label, or a list of them, and the positive one; any other value is an error. By
        default 0 and 1, -1 and 1, or booleans: one chunk of a stream may hold a single class, so it
        cannot tell which is which.

    Attributes
    ----------
    n_rows, n_positives, n_negatives : int
        Numbers of rows seen, without rows of zero weight.

    See Also
    --------
    partial_auc_score : The same value from all rows at once.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import RocSketch, partial_auc_score
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(100_000) < 0.02
    >>> score = rng.normal(size=y.size) + y
    >>> sketch = RocSketch((0.0, 0.05), capacity=10_000)
    >>> for part in np.array_split(np.arange(y.size), 10):
    ...     sketch = sketch.merge(RocSketch((0.0, 0.05), capacity=10_000).update(y[part], score[part]))
    >>> round(sketch.covered_fpr, 3)
    0.102
    >>> abs(sketch.partial_auc() - partial_auc_score(y, score, fpr_range=(0.0, 0.05))) < 1e-12
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        capacity: int = 4_000_000,
        labels: tuple[Any, Any] | None = None,
    ) -> None:
        self.fpr_range = check_fpr_range(fpr_range)
        self.capacity = int(check_positive_number(capacity, "capacity", integer=True))
        self._labels = sketch_labels(labels)
        self.labels = None if labels is None else self._labels.pair
        self._rows = TopRows(self.capacity)
        # Answers since the last update.
        self._answers: dict[Any, Any] = {}

    @property
    def n_negatives(self) -> int:
        return self._rows.totals[0].count

    @property
    def n_positives(self) -> int:
        return self._rows.totals[1].count

    @property
    def n_rows(self) -> int:
        return self._rows.n_rows

    @property
    def covered_fpr(self) -> float:
        """The highest false positive rate up to which the ROC curve is known."""
        kept, seen = self._rows.kept[0].totals, self._rows.totals[0]
        return 1.0 if kept.count == seen.count else kept.weight / seen.weight

    @property
    def nbytes(self) -> int:
        """Bytes of the kept scores and weights."""
        return sum(array.nbytes for one in self._rows.kept for array in one.arrays.values())

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> RocSketch:
        """Add rows.

        Parameters
        ----------
        y_true : array-like or tensor of shape (n_samples,)
            Labels; one class alone is fine.
        y_score : array-like or tensor of shape (n_samples,)
            Scores; larger means more positive. Tensors are copied to the host.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows.

        Returns
        -------
        RocSketch
            The sketch itself.
        """
        self._answers.clear()
        few = None if sample_weight is not None else few_rows_of(y_true, y_score, self._labels)
        if few is not None:
            self._rows.add_few(few)
            return self
        y_true, y_score = on_host(y_true), on_host(y_score)
        score = finite_scores(y_score)
        positive, _ = self._labels.read(y_true, "y_true", score.size)
        weight = None
        if sample_weight is not None:
            weight = one_per_row(on_host(sample_weight), score.size, "sample_weight")
        # A chunk of a stream may consist of rows of zero weight.
        counts = score.size > 0 and (weight is None or weight.any())
        if counts:
            self._rows.add(positive, score, row_weights(weight, score.size))
        return self

    def merge(self, *others: RocSketch) -> RocSketch:
        """Join the rows of sketches of equal parameters into a new one.

        Parameters
        ----------
        *others : RocSketch
            Sketches of other rows; they stay as they are.

        Returns
        -------
        RocSketch
        """
        merged = RocSketch(self.fpr_range, capacity=self.capacity, labels=self.labels)
        for one in (self, *others):
            if not isinstance(one, RocSketch):
                raise TypeError(f"Only sketches can be merged, got {type(one).__name__}.")
            if one._params != self._params:
                raise ValueError(
                    f"Sketches of different parameters cannot be merged: {self._params} and "
                    f"{one._params}."
                )
            merged._rows.add_rows_of(one._rows)
        return merged

    def partial_auc(
        self,
        *,
        fpr_range: tuple[float, float] | None = None,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
    ) -> float:
        """Compute the partial AUC of all rows seen, as `partial_auc_score` does.

        Parameters
        ----------
        fpr_range : (float, float), default=None
            Limits of the false positive rate; None is the sketch's own range.
        min_tpr, fpr_weight
            As in `partial_auc_score`.

        Returns
        -------
        float
        """
        given = fpr_range, min_tpr, fpr_weight
        return self._once(
            ("partial_auc", repr(fpr_range), min_tpr, fpr_weight),
            lambda: float(self._measure(*given).of_curve(self._curve(), self.n_rows)),
        )

    def tpr_at_fpr(self, fpr: float | None = None, *, attainable: bool = False) -> float:
        """Compute the true positive rate at one false positive rate, as `tpr_at_fpr_score` does.

        Parameters
        ----------
        fpr : float, default=None
            False positive rate; None is the upper limit of the sketch's range.
        attainable : bool, default=False
            As in `tpr_at_fpr_score`.

        Returns
        -------
        float
        """
        return self._once(
            ("tpr_at_fpr", fpr, attainable),
            lambda: float(tpr_within_fpr(*self._up_to(fpr), self.n_rows, attainable)),
        )

    def threshold(self, fpr: float | None = None) -> float:
        """Find the lowest score whose false positive rate is within a limit, as `operating_point` does.

        Rows at or above it are flagged; it is infinite where nothing may be flagged.

        Parameters
        ----------
        fpr : float, default=None
            The highest false positive rate allowed; None is the upper limit of the sketch's range.

        Returns
        -------
        float
        """

        def compute() -> float:
            curve, limit = self._up_to(fpr)
            threshold = point_at(curve, vertex_within_fpr(curve, limit, self.n_rows)).threshold
            # Of rows below all kept negatives only the number is known; these flag those above.
            return threshold if threshold > -np.inf else float(curve.threshold[-2])

        return self._once(("threshold", fpr), compute)

    def interval(
        self,
        *,
        fpr_range: tuple[float, float] | None = None,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        confidence: float = 0.95,
    ) -> ScoreInterval:
        """Estimate the partial AUC with a confidence interval from placement values.

        That of ``score_interval("partial_auc", ..., method="wilson")`` on all rows seen, each of them
        one independent unit whatever its weight.

        Parameters
        ----------
        fpr_range, min_tpr, fpr_weight
            As in `partial_auc`.
        confidence : float, default=0.95
            Coverage of the interval, in (0, 1).

        Returns
        -------
        ScoreInterval
        """
        level = check_level(confidence)

        def compute() -> tuple[ScoreInterval, list[str]]:
            # The slope of the curve at the limit is taken over half a row on either side.
            measure = self._measure(fpr_range, min_tpr, fpr_weight, n_beyond=0.5)
            value = float(measure.of_curve(self._curve(), self.n_rows))
            negatives, positives = self._rows.totals
            n, m = negatives.n_effective, positives.n_effective
            totals = positives.weight, negatives.weight
            reasons = few_rows(m, m, round(n * measure.parts[1], 9), (self.labels or [None])[-1])
            error, tail = self._error(measure), (1 - level) / 2
            limits = model_limits(measure, totals, value, error, (n, m), tail)
            return ScoreInterval(value, *limits, level, 0, "wilson", measure.sampling), reasons

        key = ("interval", repr(fpr_range), min_tpr, fpr_weight, level)
        found, reasons = self._once(key, compute)
        for reason in reasons:
            warn_user(reason, FewRowsWarning)
        return found

    def to_json(self) -> str:
        """Write the state as JSON text, arrays in base64.

        Returns
        -------
        str
        """
        return json.dumps({"aucuba_sketch": 1, **self._params, **self._rows.to_json()})

    @classmethod
    def from_json(cls, text: str | bytes) -> RocSketch:
        """Read the text written by `to_json`.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        RocSketch
        """
        with reading_json(text, "aucuba_sketch", "RocSketch") as state:
            given = {name: state[name] for name in ("capacity", "labels")}
            sketch = cls(tuple(state["fpr_range"]), **given)
            sketch._rows = TopRows.from_json(sketch.capacity, state)
        return sketch

    def __repr__(self) -> str:
        covered = f", covered_fpr={self.covered_fpr:.6g}" if self.n_negatives else ""
        return (
            f"RocSketch(fpr_range={self.fpr_range}, capacity={self.capacity}): {self.n_positives} "
            f"positives, {self.n_negatives} negatives{covered}"
        )

    @property
    def _params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("fpr_range", "capacity", "labels")}

    def _once(self, key: Any, compute: Callable[[], Answer]) -> Answer:
        """Return an answer, computed when it is first asked for after an update."""
        if key not in self._answers:
            self._answers[key] = compute()
        return cast(Answer, self._answers[key])

    def _curve(self) -> RocCurve:
        return self._once("curve", self._new_curve)

    def _new_curve(self) -> RocCurve:
        for name, seen in zip(CLASSES, self._rows.totals, strict=True):
            if seen.count == 0:
                raise ValueError(f"The sketch has seen no {name} rows; a ROC curve needs both.")
        return roc_curve(self._rows.sample()[0])

    def _error(self, measure: RocMeasure) -> float:
        """Compute the standard error, a row being one unit; see `aucuba._roc._standard_error`."""
        sample, square = self._rows.sample()
        assert measure.region is not None
        even = replace(sample, weight=sample.weights / self._rows.mean_weight)
        region = measure.region
        influence = placements(even, sample.ranked, region.weights, region.min_tpr).influence
        variance = 0.0
        for rows, seen in zip((~sample.positive, sample.positive), self._rows.totals, strict=True):
            part = sample.weights[rows] / seen.weight
            centred = influence[rows] - part @ influence[rows]
            debias = seen.count / (seen.count - 1) if seen.count > 1 else np.inf
            variance += float(square[rows] @ centred**2) / seen.weight**2 * debias
        return float(np.sqrt(variance))

    def _measure(
        self,
        fpr_range: tuple[float, float] | None,
        min_tpr: float,
        fpr_weight: FprWeight,
        n_beyond: float = 0.0,
    ) -> RocMeasure:
        chosen = self.fpr_range if fpr_range is None else fpr_range
        params = {"fpr_range": chosen, "min_tpr": min_tpr, "fpr_weight": fpr_weight}
        measure = bind("partial_auc", params)
        assert measure.region is not None
        beyond = n_beyond * self._rows.mean_weight if self.n_rows else 0.0
        self._check_covered(measure.region.upper_limit, beyond=beyond)
        return measure

    def _up_to(self, fpr: float | None) -> tuple[RocCurve, float]:
        """Return the curve and the rate asked for, which it covers."""
        limit = self.fpr_range[1] if fpr is None else check_fraction(fpr, "fpr")
        # The curve may rise at the rate itself, up to the next negative.
        self._check_covered(limit * (1 + (self.n_rows + 8) * _EPS), strict=True)
        return self._curve(), limit

    def _check_covered(self, fpr: float, *, beyond: float = 0.0, strict: bool = False) -> None:
        """Raise if the kept negatives do not cover a rate and a weight beyond it."""
        kept, seen = self._rows.kept[0].totals, self._rows.totals[0]
        asked = fpr * seen.weight + beyond
        reached = kept.weight > asked if strict else kept.weight * (1 + 8 * _EPS) >= asked
        if kept.count == seen.count or reached:
            return
        needed = seen.count
        if seen.weight == seen.square == seen.count:
            needed = min(needed, int(asked) + 1 if strict else int(np.ceil(asked * (1 - 8 * _EPS))))
        raise ValueError(
            f"The kept negatives cover false positive rates up to {self.covered_fpr:.6g}, and "
            f"{fpr:g} was asked for. After {seen.count} negatives this takes capacity={needed}, not "
            f"{self.capacity}; sketch the rows again with it."
        )
