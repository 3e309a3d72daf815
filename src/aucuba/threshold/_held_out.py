"""Choice of the rows held out to set a threshold, and of their strata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import check_choice, identifiers
from aucuba._rows._sample import RankingSample, Sample
from aucuba._rows._splits import (
    Split,
    group_folds,
    held_out_split,
    is_number,
    require_unseen,
    splits_by,
)

# Rows that are scored twice, and how far their scores may differ, as a fraction of the range.
_FEW, _APART = 5, 1e-4


def held_out_splits(
    cv: Any,
    X: Any,
    y: AnyArray,
    sample: Sample,
    stratified: bool,
    random_state: Any,
    groups: Any,
) -> list[Split]:
    """Return pairs (training rows, held-out rows); no row is held out twice or trains its own scorer.

    A fraction ``cv`` is one split, which holds out the latest rows if times are given, else that part
    of the groups, or of the rows, stratified by class if asked. scikit-learn's ``check_cv`` reads every
    other value, and its splitter gets ``groups``.
    """
    if isinstance(cv, Real) and 0 < float(cv) < 1:
        drawn = partial(held_out_split, float(cv), y, random_state, stratified=stratified)
        return [drawn(groups=sample.group, time=sample.time)]
    if sample.time is not None:
        raise ValueError(
            "With time the latest rows are held out, so cv must be the fraction of rows to hold out, "
            f"such as 0.5; got cv={cv!r}."
        )
    if sample.group is not None and is_number(cv) and int(cv) >= 2:
        splits = group_folds(sample.group, int(cv), y=y)
    else:
        also = "'prefit', a fraction of rows to hold out such as 0.5, "
        splits = splits_by(cv, X, y, groups, also=also)
    require_unseen(splits, sample.group)
    if np.bincount(np.concatenate([test for _, test in splits])).max(initial=0) > 1:
        raise ValueError(
            f"cv={cv!r} holds out some rows more than once, and a promise counts every row once: "
            "use folds that do not overlap, or a single split."
        )
    return splits


def require_known(target: AnyArray, classes: AnyArray) -> None:
    """Raise if a label is not a class of the fitted estimator."""
    check_classification_targets(target)
    unknown = np.setdiff1d(target, classes)
    if unknown.size:
        raise ValueError(
            f"y has labels {unknown[:5].tolist()} that the fitted estimator does not know; its "
            f"classes are {classes.tolist()}."
        )


def require_fitted(estimator: Any) -> None:
    """Raise an error with advice if an estimator is not fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"cv='prefit' needs a fitted estimator, but this {type(estimator).__name__} is not "
            "fitted. Fit it on other rows first, or let cv=0.5 hold out half of these. (Cloning, as in "
            "a grid search, forgets the fit; sklearn.frozen.FrozenEstimator keeps it.)"
        ) from error


def fitted_classes(estimator: Any) -> AnyArray:
    """Return the two classes of a fitted estimator, or raise an error with advice."""
    require_fitted(estimator)
    classes = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            "Only binary classification is supported. The fitted estimator has the classes "
            f"{classes.tolist()}."
        )
    return classes


def flagged_end(estimator: Any, score_direction: str) -> tuple[str, bool]:
    """Return which end of the base's scores is flagged, and whether the base is a detector.

    scikit-learn's outlier detectors give normal rows high scores. PyOD's detectors, recognised by their
    attributes, give outliers high scores.
    """
    check_choice(score_direction, "score_direction", ("auto", "high", "low"))
    base = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    base = base.estimator if isinstance(base, FrozenEstimator) else base
    is_of_pyod = all(hasattr(base, name) for name in ("contamination", "predict_confidence"))
    if not hasattr(base, "__sklearn_tags__"):
        raise ValueError(
            f"{type(base).__name__} is not a scikit-learn estimator; derive it from "
            "sklearn.base.BaseEstimator, with fit and a method that gives scores."
        )
    is_detector = is_of_pyod or is_outlier_detector(base)
    if getattr(base, "novelty", None) is False:
        raise ValueError(f"{type(base).__name__} scores new rows only with novelty=True; set it.")
    if score_direction != "auto":
        return score_direction, is_detector or not _is_classifier(estimator)
    if is_detector:
        return "high" if is_of_pyod else "low", True
    if not _is_classifier(estimator):
        raise ValueError(
            f"{type(base).__name__} is neither a classifier nor a known outlier detector, so it is not "
            "clear which scores to flag; give score_direction='high' or 'low'."
        )
    return "high", False


def require_own_scores(
    score: Callable[[Any], AnyArray], X: Any, rows: IntArray, scores: AnyArray, name: str
) -> None:
    """Raise an error if some held-out rows score differently in a batch of their own."""
    few = rows[:_FEW]
    alone = score(_safe_indexing(X, few))
    differ = np.abs(alone - scores[: few.size]) > _APART * np.ptp(scores)
    if differ.any():
        place = int(differ.argmax())
        raise ValueError(
            f"The scores of {name} depend on the other rows of a batch, or on chance: a held-out row "
            f"scores {scores[place]:.4g} among {rows.size} and {alone[place]:.4g} among {few.size}. No "
            "threshold of such scores can be promised; choose a detector that scores every row "
            "independently of the others."
        )


def _is_classifier(estimator: Any) -> bool:
    has = [hasattr(estimator, name) for name in ("predict_proba", "classes_")]
    return is_classifier(estimator) or any(has)


def detector_classes(target: AnyArray, pos_label: Any) -> AnyArray:
    """Return the classes of labels that a detector has not seen: 0 and 1, or the two in the labels."""
    seen = np.unique(target)
    if pos_label is None and np.isin(seen, (-1, 1)).all() and -1 in seen:
        raise ValueError(
            "y has the labels -1 and 1, of which scikit-learn's detectors use -1 for outliers and "
            "others use 1: name the label of outliers as pos_label."
        )
    if seen.dtype.kind in "biuf" and np.isin(seen, (0, 1)).all():
        return np.array([0, 1]).astype(target.dtype)
    if seen.size != 2:
        raise ValueError(
            f"y has the labels {seen[:5].tolist()}; give two classes, or 0 and 1 with 1 for outliers."
        )
    return seen


@dataclass(frozen=True)
class Strata:
    """The names of the strata, sorted; empty if all rows are one unnamed stratum."""

    names: AnyArray

    def __len__(self) -> int:
        return max(self.names.size, 1)

    def parts(self, rows: RankingSample) -> list[RankingSample]:
        """Return the rows of every stratum."""
        if rows.stratum is None:
            return [rows]
        return [rows.take(rows.stratum == place) for place in range(len(self))]

    def error_of_one(self, confidence: float, joint: bool) -> float:
        """Return the error allowed in one stratum; ``joint`` lets all keep their promises together."""
        return float(-np.expm1(np.log(confidence) / (len(self) if joint else 1)))

    def error_of_all(self, errors: FloatArray, joint: bool) -> float:
        """Return the probability that any stratum errs or, unless ``joint``, the largest one."""
        if len(self) == 1 or not joint:
            return float(errors.max())
        return float(-np.expm1(np.log1p(-errors).sum()))

    def named(self, problem: str, place: int) -> str:
        """Prefix a message with the stratum that it is about."""
        if not self.names.size:
            return problem
        return f"In the stratum {self.names.tolist()[place]!r}: {problem}"

    def squeezed(self, values: AnyArray) -> Any:
        """Return one entry per stratum; without strata the only one, as a plain number if possible."""
        if self.names.size:
            return values
        return values[0] if values.ndim > 1 else values[0].item()


def stratum_labels(strata: Any, X: Any) -> AnyArray:
    """Return the stratum of every row: a column of X by name or index, or the result of a callable."""
    column = strata(X) if callable(strata) else _column(X, strata)
    if not isinstance(column, list | tuple):
        column = np.ravel(column.toarray() if sp.issparse(column) else np.asarray(column))
    return identifiers(column, "strata", _num_samples(X))


def stratum_index(labels: AnyArray, known: AnyArray) -> IntArray:
    """Return the index of every label among the known ones; an error names unknown ones."""
    unknown = np.setdiff1d(labels, known)
    if unknown.size:
        raise ValueError(
            f"strata has values that fit did not see: {unknown[:5].tolist()}; these have no threshold. "
            f"Known are {known[:10].tolist()}."
        )
    index: IntArray = np.searchsorted(known, labels)
    return index


def _column(X: Any, key: Any) -> Any:
    if isinstance(X, list):
        X = np.asarray(X)
    try:
        return _safe_indexing(X, key, axis=1)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(
            f"strata={key!r} is not a column of X: give the name of a column of a data frame, the "
            f"index of a column of an array, or a callable on X ({error})."
        ) from error
