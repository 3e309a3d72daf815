"""Scored rows of a report, with their curve, operating points and measures of the region."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._estimator import pipeline_steps, positive_scores
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import (
    binary_target,
    finite_scores,
    identifiers,
    one_per_row,
    query_index,
    row_weights,
)
from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._curve import RocCurve, roc_curve
from aucuba._roc._flagged import FlaggedRows
from aucuba._roc._standard_error import effective_rows, wilson_interval
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics import (
    OperatingPoint,
    ScoreComparison,
    ScoreInterval,
    compare_scores,
    operating_point,
    score_interval,
)

# Bootstrap resamples of weighted rows; more do not change the digits shown.
_RESAMPLES = 500


class ScoredSample:
    """Labels with the scores of a model and, if given, of a baseline on the same rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Two labels, 0 and 1 or booleans; text and other labels need ``pos_label``.
    score : array-like of shape (n_rows,)
        Finite scores that grow towards the positive class.
    baseline : array-like of shape (n_rows,), default=None
        Scores of another model.
    sample_weight : array-like of shape (n_rows,), default=None
        A row of weight k counts as k equal rows.
    qid : array-like of shape (n_rows,), default=None
        Query of each row.
    pos_label : label, default=None
        The positive class.

    Attributes
    ----------
    rows : Sample
        Class, weight and query of every row.
    labels : (str, str)
        The negative and the positive label, as given.

    Examples
    --------
    >>> from aucuba.report import ScoredSample
    >>> sample = ScoredSample(["well", "ill", "well"], [0.3, 0.9, -1], pos_label="ill")
    >>> sample.rows.positive, sample.labels
    (array([False,  True, False]), ('well', 'ill'))
    """

    def __init__(
        self,
        y: ArrayLike,
        score: ArrayLike,
        baseline: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        given = identifiers(y, "y")
        positive, n_rows = binary_target(given, pos_label, name="y"), given.size
        self.rows = Sample(positive, row_weights(sample_weight, n_rows), query_index(qid, n_rows))
        self.score = _scores(score, "score", n_rows)
        self.baseline = None if baseline is None else _scores(baseline, "baseline", n_rows)
        self.labels = (str(given[~positive][0]), str(given[positive][0]))

    @classmethod
    def from_models(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike,
        baseline: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> ScoredSample:
        """Score rows by fitted classifiers, towards the ``pos_label_`` of the first.

        Parameters
        ----------
        model : classifier
            Its ``pos_label_``, or ``classes_[1]`` if it has none, is the positive class.
        X : array, sparse matrix or DataFrame
            What both classifiers take.
        y : array-like of shape (n_rows,)
            Labels that the model knows.
        baseline : classifier, default=None
            Another classifier of the same classes.
        sample_weight, qid : array-like of shape (n_rows,), default=None
            As in the constructor.

        Returns
        -------
        ScoredSample

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from aucuba import PartialAUCClassifier
        >>> from aucuba.report import ScoredSample
        >>> X, y = make_classification(300, random_state=0)
        >>> model = PartialAUCClassifier((0.0, 0.2), pos_label=0).fit(X, y)
        >>> ScoredSample.from_models(model, X, y).labels
        ('1', '0')
        """
        index = positive_index(model)
        score = positive_scores(model, X, index)[0]
        other = None if baseline is None else positive_scores(baseline, X, index)[0]
        label = model.classes_.tolist()[index]
        y = identifiers(y, "y", score.size)
        return cls(y, score, other, sample_weight=sample_weight, qid=qid, pos_label=label)

    def curve(self, score: FloatArray | None = None) -> RocCurve:
        """Compute the ROC curve of all rows, pooled over queries."""
        score = self.score if score is None else score
        return roc_curve(RankingSample.from_arrays(self.rows.positive, score, self.weight))

    @property
    def y(self) -> IntArray:
        """Labels as 0 and 1."""
        return self.rows.y

    @property
    def weight(self) -> FloatArray | None:
        return self.rows.weight

    @property
    def query(self) -> IntArray | None:
        return self.rows.query

    def flagged(self) -> FlaggedRows:
        """Count the rows above the score 0, the threshold of ``predict``."""
        counted = FlaggedRows()
        counted.update(self.rows.positive, self.score > 0, self.weight)
        return counted

    def point_at_fpr(
        self,
        fpr: float,
        score: FloatArray | None = None,
        target: tuple[float, float] | None = None,
    ) -> tuple[OperatingPoint, float, float]:
        """Return the operating point at a false positive rate, with a 95 % interval of its TPR."""
        y, weight = self.rows.positive, self.weight
        score = self.score if score is None else score
        point = operating_point(y, score, fpr=fpr, sample_weight=weight, target_prevalence=target)
        method = "conservative" if self.weight is None else "bootstrap"
        with warnings.catch_warnings():
            # The page shows the number of rows.
            warnings.simplefilter("ignore", FewRowsWarning)
            interval = score_interval(
                "tpr_at_fpr",
                y,
                score,
                attainable=True,
                method=method,
                n_resamples=_RESAMPLES,
                random_state=0,
                sample_weight=weight,
                fpr=fpr,
            )
        return point, interval.low, interval.high

    def rate_interval(self, label: int, rate: Any) -> tuple[FloatArray, FloatArray]:
        """Compute 95 % Wilson intervals of rates of one class at a fixed threshold."""
        weight = self.rows.weights[self.rows.positive == bool(label)]
        return wilson_interval(rate, effective_rows(weight))


def score_sign(model: Any) -> int:
    """Return 1 if the ``decision_function`` increases towards the positive class, else -1."""
    return 2 * positive_index(model) - 1


def positive_index(model: Any) -> int:
    """Return the index of the positive class in ``classes_``."""
    last = pipeline_steps(model)[-1]
    label = vars(last).get("pos_label_")
    return 1 if label is None else int(last.classes_[1] == label)


def _scores(values: ArrayLike, name: str, n_rows: int) -> FloatArray:
    shape = np.shape(values)
    if len(shape) != 1 and shape[1:] != (1,):
        raise ValueError(
            f"{name} must have one entry per row, got shape {shape}. For probabilities, give the "
            "column of the positive class."
        )
    return finite_scores(one_per_row(values, n_rows, name), name)


@dataclass(frozen=True)
class RegionMeasure:
    """A measure with its interval, and its paired comparison with the baseline."""

    name: str
    interval: ScoreInterval
    comparison: ScoreComparison | None
    caution: str = ""


def region_measures(
    sample: ScoredSample, fpr_range: tuple[float, float], random_state: Any
) -> list[RegionMeasure]:
    """Measure partial AUC in the range and AUC, with intervals, and compare with the baseline."""
    measures = []
    named = {f"pAUC[{fpr_range[0]:g}, {fpr_range[1]:g}]": fpr_range, "AUC": (0.0, 1.0)}
    for name, region in named.items():
        options: dict[str, Any] = {
            "fpr_range": region,
            "sample_weight": sample.weight,
            "qid": sample.query,
            "pos_label": 1,
            "random_state": random_state,
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FewRowsWarning)
            interval = score_interval("partial_auc", sample.y, sample.score, **options)
            comparison = None
            if sample.baseline is not None:
                comparison = compare_scores(
                    "partial_auc", sample.y, sample.score, sample.baseline, **options
                )
        few = [one for one in caught if issubclass(one.category, FewRowsWarning)]
        caution = str(few[0].message) if few else ""
        measures.append(RegionMeasure(name, interval, comparison, caution))
    return measures
