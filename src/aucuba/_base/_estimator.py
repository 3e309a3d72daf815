"""Classifiers of two classes: their base, all-or-nothing fits, and the scores of fitted ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from aucuba._base._arrays import arrays_of
from aucuba._base._callbacks import CallbackSupport
from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_choice, check_not_text
from aucuba._base._warnings import Advice, Remedy, warn_user

# decision_function comes first: probabilities round to 0 and 1, and such ties cost true positives.
_RESPONSE_METHODS = ("decision_function", "predict_proba")


class OfTwoClasses:
    """An estimator fitted to two classes, one of which is positive."""

    classes_: AnyArray
    pos_label_: Any

    @property
    def _positive_index(self) -> int:
        return int(self.classes_[1] == self.pos_label_)


class BinaryClassifier(OfTwoClasses, CallbackSupport, ClassifierMixin, BaseEstimator):
    """A classifier of two classes whose scores above 0 mean the second.

    ``decision_function`` is the score of ``pos_label_`` minus ``threshold_``, with its sign reversed
    if ``pos_label_`` is the first class: scikit-learn's scorers expect scores of ``classes_[1]``.
    """

    pos_label: Any
    threshold_: float
    predict_fpr_: float

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows; a score above 0 means the second class."""

    def predict(self, X: Any) -> AnyArray:
        """Predict ``pos_label_`` where its score lies strictly above ``threshold_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        scores = self.decision_function(X)
        scores = arrays_of(scores).host(scores)
        positive, index = self._oriented(scores) > 0, self._positive_index
        return np.asarray(self.classes_[np.where(positive, index, 1 - index)])

    def _oriented(self, values: AnyArray) -> AnyArray:
        """Convert values that grow towards ``pos_label_`` to grow towards ``classes_[1]``, or back."""
        return values if self._positive_index else -values

    def _probabilities(self, log_odds: FloatArray) -> FloatArray:
        """Compute the probabilities of ``classes_`` from the log-odds of ``pos_label_``."""
        towards_second = self._oriented(log_odds)
        # Dask cannot stack arrays of unknown length, but can multiply them.
        probabilities: FloatArray = expit(towards_second[:, np.newaxis] * np.array([-1.0, 1.0]))
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class Classes(NamedTuple):
    """The two labels in sorted order, and the positive one: ``classes_`` and ``pos_label_``."""

    labels: AnyArray
    pos_label: Any


def two_classes(
    y: AnyArray, weight: FloatArray | None, pos_label: Any
) -> tuple[Classes, BoolArray, IntArray]:
    """Check that there are two classes, and choose the positive one.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
    pos_label : label or None
        The positive class; None for the second in sorted order.

    Returns
    -------
    classes : Classes
    positive : ndarray of bool
        Which rows are of the positive class.
    kept : ndarray of int
        Indices of the rows of positive weight, which must include both classes.
    """
    labels, kept = _check_two_classes(y, weight)
    found, positive = positive_class(labels, y, weight, pos_label)
    return Classes(labels, found), positive, kept


def positive_class(
    labels: AnyArray, y: AnyArray, weight: FloatArray | None, pos_label: Any
) -> tuple[Any, BoolArray]:
    """Choose the positive one of two classes; return it and a mask of its rows."""
    index = 1
    if pos_label is not None:
        found = np.flatnonzero(labels == pos_label)
        if found.size == 0:
            raise ValueError(
                f"pos_label={pos_label!r} is not one of the classes {labels.tolist()}."
            )
        index = int(found[0])
    chosen = labels.tolist()[index]
    positive = np.asarray(y == labels[index], dtype=bool)
    if pos_label is None:
        _warn_of_frequent_string(chosen, positive, weight)
    return chosen, positive


def _check_two_classes(y: AnyArray, weight: FloatArray | None) -> tuple[AnyArray, IntArray]:
    """Return the labels of y in sorted order and the indices of the rows of positive weight.

    These rows must include both classes.
    """
    if y.dtype.kind not in "biu":
        # Whole numbers are always labels, and this check takes as long as a small fit.
        check_classification_targets(y)
    classes = _distinct(y)
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass, with "
            f"{classes.size} classes; compare one class with the rest, for example "
            f"y == {classes.tolist()[0]!r}."
        )
    kept = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    present = classes if kept.size == len(y) else np.unique(y[kept])
    if present.size < 2:
        seen = f"only one class ({present.tolist()[0]!r})" if present.size else "no class"
        raise ValueError(
            f"y has {seen} among the rows of positive weight; training needs rows of both classes."
        )
    return classes, kept


def _distinct(y: AnyArray) -> AnyArray:
    """Return the distinct labels in sorted order, without a sort if they are two numbers."""
    if y.dtype.kind == "b" and y.any() and not y.all():
        return np.array([False, True])
    if y.dtype.kind in "biuf" and y.size:
        ends = np.array([y.min(), y.max()], dtype=y.dtype)
        # No third whole number lies between neighbours, such as 0 and 1.
        are_neighbours = y.dtype.kind != "f" and int(ends[1]) - int(ends[0]) == 1
        if ends[0] < ends[1] and (are_neighbours or np.all((y == ends[0]) | (y == ends[1]))):
            return ends
    return np.unique(y)


def _warn_of_frequent_string(label: Any, positive: BoolArray, weight: FloatArray | None) -> None:
    """Warn if the alphabet chooses the positive class of text labels, and it is the frequent one.

    Rows of a single class, such as the positives that a threshold is set on, show no frequency.
    """
    if not isinstance(label, str):
        return
    fraction = float(np.average(positive, weights=weight))
    if 0.5 < fraction < 1.0:
        advice = Advice(
            f"The positive class is {label!r}, the last in sorted order, although it makes up "
            f"{fraction:.0%} of the rows; a region of the ROC curve depends on this choice.",
            Remedy("name the positive class as pos_label", "pos_label"),
        )
        warn_user(advice)


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[dict[str, Any]]:
    """Remove the fitted attributes for a part of ``fit`` and restore them if that part fails.

    A fitted estimator keeps its model and a new one stays unfitted: half of a new model beside half
    of an old one would predict nonsense. Kinds of models differ in the attributes they set, so none
    survives from an earlier fit. Once this part is done, an interrupt no longer discards the model.

    Yields
    ------
    dict
        The previous fitted attributes, for a warm start.
    """
    before = _forget(estimator)
    try:
        yield before
    except BaseException as error:
        _forget(estimator)
        vars(estimator).update(before)
        if type(error).__name__ == "OutOfMemoryError":
            # PyTorch's message is about its allocator.
            raise MemoryError(
                "The device has too little memory for this fit, which needs room for X, for about a "
                "dozen vectors with one double per row, and for one more per iteration. Train on "
                "fewer rows, or store X in half precision."
            ) from error
        raise


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Run a whole ``fit`` method in `fresh_fit`."""

    @wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        with fresh_fit(estimator):
            return fit(estimator, *args, **kwargs)

    return guarded


def _forget(estimator: Any) -> dict[str, Any]:
    """Remove the fitted attributes and return them."""
    attributes = vars(estimator)
    return {name: attributes.pop(name) for name in list(attributes) if name[-1] == "_"}


def response_of(estimator: Any, response_method: str = "auto") -> str:
    """Return the name of the method that gives the scores: the one asked for, or the first it has."""
    check_choice(response_method, "response_method", ("auto", *_RESPONSE_METHODS))
    methods = _RESPONSE_METHODS if response_method == "auto" else (response_method,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    raise ValueError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}; a classifier that gives scores is "
        "needed."
    )


def scores_and_label(estimator: Any, X: Any, pos_label: Any = None) -> tuple[AnyArray, Any]:
    """Score rows by a fitted classifier; return the scores and the class that they grow towards.

    With more than two classes the scores are those of ``pos_label`` against the rest.
    """
    index, pos_label = positive_of(estimator, pos_label)
    return positive_scores(estimator, X, index)[0], pos_label


def positive_of(estimator: Any, pos_label: Any = None) -> tuple[int, Any]:
    """Return the positive class of a fitted classifier: its index in ``classes_``, and its label.

    It is ``pos_label``, else the estimator's ``pos_label_``, else the second of two labels that are
    not text.
    """
    check_is_fitted(estimator)
    name, classes = type(estimator).__name__, getattr(estimator, "classes_", None)
    if classes is None or len(classes) < 2:
        raise ValueError(
            f"{name} must be a fitted classifier with two classes, its classes_ are {classes!r}."
        )
    pos_label = _own_label(estimator) if pos_label is None else pos_label
    if pos_label is None:
        if len(classes) > 2:
            raise ValueError(
                f"{name} has {len(classes)} classes, {list(classes)!r}; name one as pos_label to "
                "judge it against the rest."
            )
        check_not_text(np.asarray(classes), f"{name} has")
        pos_label = classes[1]
    found = [place for place, one in enumerate(classes) if one == pos_label]
    if not found:
        raise ValueError(f"pos_label={pos_label!r} is not one of the classes {list(classes)!r}.")
    return found[0], pos_label


def _own_label(estimator: Any) -> Any:
    """Return the ``pos_label_`` of a classifier, a search over it, or a pipeline that ends with it."""
    inner = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(inner, "steps", None)
    return getattr(steps[-1][1] if steps else inner, "pos_label_", None)


def pipeline_steps(model: Any) -> list[Any]:
    """List the steps of a pipeline, unpacking a pipeline at its end; any other model alone."""
    steps: list[Any] = []
    while isinstance(model, Pipeline):
        steps += [step for _, step in model.steps[:-1]]
        model = model.steps[-1][1]
    return [*steps, model]


def promised_steps(last: Any) -> list[Any]:
    """List the steps of the model behind a promised threshold; any other model alone."""
    return pipeline_steps(getattr(last, "estimator_", last))


def positive_scores(
    estimator: Any, X: Any, positive_index: int = 1, response_method: str = "auto"
) -> tuple[AnyArray, bool]:
    """Score rows towards the class ``classes_[positive_index]``, in the estimator's own precision.

    Returns
    -------
    scores : ndarray of shape (n_rows,)
    are_probabilities : bool
    """
    method = response_of(estimator, response_method)
    response = np.asarray(getattr(estimator, method)(X))
    if response.ndim == 2 and response.shape[1] > 1:
        return response[:, positive_index], method == "predict_proba"
    # One value per row is a raw score, also from ``predict_proba`` of a booster with an objective of
    # the user's.
    return response if positive_index else -response, False
