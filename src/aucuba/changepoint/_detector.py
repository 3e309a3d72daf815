"""A changepoint detector that learns its penalty from labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from aucuba._core._callbacks import CallbackSupport, fit_monitor, with_callbacks
from aucuba._core._fit_guard import fresh_fit
from aucuba._core._typing import ArrayLike, FloatArray, IntArray
from aucuba._core._validation import check_choice, check_fraction, check_positive_number
from aucuba.aum import STEP_RULES, AUMDescent, LabelledData
from aucuba.changepoint._display import ChangepointDisplay
from aucuba.changepoint._features import features_of
from aucuba.changepoint._interval_regression import IntervalRegressionCV
from aucuba.changepoint._label_errors import (
    LabelErrors,
    error_functions,
    label_errors,
    target_intervals,
)
from aucuba.changepoint._labels import label_table, labels_by_sequence
from aucuba.changepoint._losses import LOSS_NAMES, make_loss
from aucuba.changepoint._model_selection import model_selection
from aucuba.changepoint._one_penalty import one_penalty
from aucuba.changepoint._roc import PenaltyROC, best_shift, penalty_roc
from aucuba.changepoint._segmentation import Segmentation, all_sizes
from aucuba.changepoint._signals import check_signal, sample_positions
from aucuba.design import TableDesign
from aucuba.solvers import Monitor

# The spread of squared samples, one of the features, needs fourth powers.
_LARGEST_SAMPLE = 1e70


class SupervisedChangepointDetector(CallbackSupport, BaseEstimator):
    r"""Detect changes with a penalty that is learned from labelled regions.

    .. math::
        \hat k(y) = \arg\min_k L_k(y) + e^{-f(y)}\, k, \qquad f(y) = w^\top \phi(y) + b

    ``fit`` segments every signal into 1 .. ``max_segments`` pieces, counts label errors for every
    penalty, and learns f in three steps: L1 interval regression on the penalties with the fewest errors
    (negated, because it predicts the log penalty), steepest descent on the AUM of part of the
    sequences, of which the iterate with the best AUC on the held-out part is kept, and the intercept
    with the fewest label errors on all of them.

    Parameters
    ----------
    max_segments : int, default=20
        Largest number of segments; no signal may be shorter.
    loss : {"l2", "poisson", "variance"}, default="l2"
        Segmentation loss, as in `segment`.
    features : callable, default=None
        Function from a signal to its feature vector; `signal_features` by default.
    step : str, default="first_min"
        Step of each descent iteration. "first_min": the first minimum of AUM along the gradient;
        "linear": its minimum over as many crossings as there are breakpoints; "all": over all
        crossings; "subtrain_auc", "validation_auc": the greatest AUC of either part on the whole line;
        "grid": the best of seven powers of ten.
    validation_fraction : float or None, default=0.5
        Sequences held out to choose the iterate. None uses all for descent and keeps the iterate with
        the best training AUC.
    max_iter : int, default=1000
        Descent steps; 0 keeps the interval regression.
    tol : float, default=1e-5
        Descent ends when AUM falls by less than this fraction of it and AUC does not rise by this much.
    cv : int or splitter, default=5
        Folds that choose the L1 penalty of the interval regression, among sequences in random order.
    random_state : int, RandomState or None, default=None
        Shuffles the sequences for both choices.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of f; 0 for features that are constant or not finite in training.
    intercept_ : float
    interval_regression_ : IntervalRegressionCV
        The start, fitted to the columns ``used_features_``; it predicts log penalties.
    used_features_ : ndarray of bool
    history_ : list of dict
        One row per iterate of the descent, the first that of the start.
    best_step_ : int
        The iterate kept; 0 is the interval regression.
    status_ : str
        Why the descent ended.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import Label, SupervisedChangepointDetector
    >>> rng = np.random.default_rng(0)
    >>> signals, labels = [], []
    >>> for k in range(24):
    ...     noise = 10.0 ** rng.uniform(-1, 1)
    ...     mean = np.repeat([0.0, 8 * noise * (k % 2), 0.0], 20)
    ...     signals.append(mean + noise * rng.normal(size=60))
    ...     kind = "one" if k % 2 else "none"
    ...     labels.append([Label(10, 30, kind), Label(45, 58, "none")])
    >>> detector = SupervisedChangepointDetector(max_segments=8, random_state=0)
    >>> found = detector.fit(signals[:16], labels[:16]).predict(signals[16:])
    >>> [change.tolist() for change in found[:2]]
    [[], [20, 40]]
    >>> detector.score(signals[16:], labels[16:])
    1.0
    """

    def __init__(
        self,
        max_segments: int = 20,
        *,
        loss: str = "l2",
        features: Callable[[Any], ArrayLike] | None = None,
        step: str = "first_min",
        validation_fraction: float | None = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-5,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.max_segments = max_segments
        self.loss = loss
        self.features = features
        self.step = step
        self.validation_fraction = validation_fraction
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.random_state = random_state

    @with_callbacks
    def fit(self, signals: Any, labels: Any) -> SupervisedChangepointDetector:
        """Learn the penalty from signals and labels.

        Parameters
        ----------
        signals : list of array-like, or mapping from names to them
        labels : list, mapping or DataFrame
            Labels of each signal: a list of `Label`, or a DataFrame with columns start, end, kind; in
            the order of the signals or by their names. Or one DataFrame with a column ``sequence``.

        Returns
        -------
        SupervisedChangepointDetector
        """
        self._check_settings()
        named = _named(signals)
        # One report per signal, one of the interval regression, one per iterate of the descent.
        limit = len(named) + int(self.max_iter) + 2
        with fresh_fit(self), fit_monitor(self, signals, labels, limit) as monitor:
            X, errors = self._prepare(named, labels, monitor)
            self._learn(X, errors, monitor)
        return self

    def prepare(self, signals: Any, labels: Any) -> tuple[FloatArray, list[LabelErrors]]:
        """Features and label errors of labelled signals: what `fit_features` takes.

        Segmenting is the slow part; prepare once to fit several detectors, or to compare penalties.

        Returns
        -------
        X : ndarray of shape (n_signals, n_features)
        errors : list of LabelErrors
        """
        self._check_settings()
        return self._prepare(_named(signals), labels, None)

    @with_callbacks
    def fit_features(
        self, X: ArrayLike, errors: Sequence[LabelErrors]
    ) -> SupervisedChangepointDetector:
        """Learn from features and label errors that were computed before, as in published benchmarks.

        Parameters
        ----------
        X : array-like of shape (n_sequences, n_features)
            Columns with NaN or infinite entries are left out.
        errors : list of LabelErrors
        """
        self._check_settings()
        with fresh_fit(self), fit_monitor(self, X, errors, int(self.max_iter) + 2) as monitor:
            self._learn(X, errors, monitor)
        return self

    def predict_log_penalty(self, signals: Any) -> FloatArray:
        """Logarithm of the penalty of each signal."""
        check_is_fitted(self)
        return self._log_penalties(_named(signals))

    def predict_log_penalty_features(self, X: ArrayLike) -> FloatArray:
        """Logarithm of the penalty of each row of features."""
        check_is_fitted(self)
        features = _feature_table(X, None)
        if features.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {features.shape[1]} features, but the detector was fitted with "
                f"{self.n_features_in_}."
            )
        used = features[:, self.coef_ != 0]
        bad = ~np.isfinite(used).all(axis=1)
        if bad.any():
            raise ValueError(
                f"Row {int(np.argmax(bad))} of X has NaN or infinite values in features that the model "
                "uses."
            )
        log_penalty: FloatArray = -(used @ self.coef_[self.coef_ != 0] + self.intercept_)
        return log_penalty

    def predict(self, signals: Any) -> list[IntArray]:
        """Changepoints of each signal: the first samples of new segments."""
        check_is_fitted(self)
        named = _named(signals)
        return self._changes(named, self._log_penalties(named))

    def displays(self, signals: Any, labels: Any) -> dict[Any, ChangepointDisplay]:
        """Signals with their labels and predicted changes by name, ready to be drawn.

        Parameters
        ----------
        signals, labels
            As in `fit`.
        """
        check_is_fitted(self)
        named = _named(signals)
        log_penalty = self._log_penalties(named)
        tables = labels_by_sequence(labels, [name for name, _ in named])
        found = zip(named, tables, self._changes(named, log_penalty), log_penalty, strict=True)
        drawn = {}
        for (name, y), rows, changes, value in found:
            where = sample_positions(None, y.size)
            drawn[name] = ChangepointDisplay(
                signal=y,
                positions=where,
                changepoints=changes,
                labels=label_table(rows, where, name=_called(name)),
                log_penalty=float(value),
            )
        return drawn

    def score(self, signals: Any, labels: Any) -> float:
        """Fraction of the labels, by weight, that the predicted changes get right."""
        shown = self.displays(signals, labels).values()
        total = sum(float(display.labels.weight.sum()) for display in shown if display.labels)
        if total == 0:
            raise ValueError(
                f"There is no label of positive weight to score the {len(shown)} signals by; give at "
                "least one."
            )
        return float(1.0 - sum(display.label_errors for display in shown) / total)

    def roc(self, signals: Any, labels: Any) -> PenaltyROC:
        """ROC curve of the predicted penalties on labelled signals."""
        features, errors = self.prepare(signals, labels)
        return penalty_roc(errors, self.predict_log_penalty_features(features))

    def _check_settings(self) -> None:
        check_positive_number(self.max_segments, "max_segments", integer=True)
        check_choice(self.loss, "loss", LOSS_NAMES)
        check_choice(self.step, "step", tuple(STEP_RULES))
        check_positive_number(self.tol, "tol")
        if self.max_iter != 0:
            check_positive_number(self.max_iter, "max_iter", integer=True)
        if self.validation_fraction is not None:
            check_fraction(
                self.validation_fraction, "validation_fraction", low_open=True, high_open=True
            )
        elif self.step == "validation_auc":
            raise ValueError("step='validation_auc' needs a validation_fraction.")

    def _prepare(
        self, named: list[tuple[Any, Any]], labels: Any, monitor: Monitor | None
    ) -> tuple[FloatArray, list[LabelErrors]]:
        tables = labels_by_sequence(labels, [name for name, _ in named])
        rows, errors = [], []
        for (name, y), table in zip(named, tables, strict=True):
            rows.append(self._signal_features(y, name))
            errors.append(label_errors(self._segment(y, name), table, name=_called(name)))
            if monitor is not None:
                monitor({"sequence": name})
        return np.stack(rows), errors

    def _learn(self, X: ArrayLike, errors: Sequence[LabelErrors], monitor: Monitor | None) -> None:
        features = _feature_table(X, len(errors))
        self.n_features_in_ = features.shape[1]
        finite = np.isfinite(features).all(axis=0)
        known = np.where(finite, features, 0.0)
        self.used_features_ = finite & (np.ptp(known, axis=0) > 0)
        used = known[:, self.used_features_]
        order = check_random_state(self.random_state).permutation(len(errors))
        start = self._start(used, errors, order)
        if monitor is not None:
            monitor({"step": "interval regression"})
        mean, scale = used.mean(axis=0), used.std(axis=0)
        weight = self._descend((used - mean) / scale, errors, start * scale, order, monitor)
        self.coef_ = np.zeros(features.shape[1])
        self.coef_[self.used_features_] = weight / scale
        self.intercept_ = best_shift(errors, known @ self.coef_)

    def _start(self, X: FloatArray, errors: Sequence[LabelErrors], order: IntArray) -> FloatArray:
        """Interval regression predicts the log penalty: its negated coefficients are those of f."""
        if X.shape[1] == 0:
            raise ValueError("No feature is finite and varies between the sequences.")
        limits = target_intervals(errors)
        if not np.isfinite(limits).any():
            raise ValueError(
                f"None of the {len(errors)} sequences has a label that some penalty gets wrong, so "
                "nothing can be learned. Label real changes, and regions without changes."
            )
        self.interval_regression_ = IntervalRegressionCV(cv=self.cv)
        self.interval_regression_.fit(X[order], limits[order])
        return -self.interval_regression_.coef_

    def _descend(
        self,
        X: FloatArray,
        errors: Sequence[LabelErrors],
        start: FloatArray,
        order: IntArray,
        monitor: Monitor | None,
    ) -> FloatArray:
        self.history_: list[dict[str, float]] = []
        self.best_step_ = 0
        if self.max_iter == 0:
            self.status_ = "No descent: max_iter is 0. The interval regression is kept."
            return start
        try:
            parts = [
                LabelledData(TableDesign(X[rows]), error_functions([errors[i] for i in rows]))
                for rows in self._split(errors, order)
            ]
        except ValueError as problem:
            self.status_ = f"No descent: {problem} The interval regression is kept."
            return start
        descent = AUMDescent(
            step=self.step, tol=self.tol, n_iter_no_change=1, max_iter=self.max_iter
        )
        validation = parts[1] if len(parts) > 1 else None
        solution = descent.solve(parts[0], start, validation, monitor)
        solution.raise_interrupt()
        self.history_ = [{"iteration": 0, **solution.start}, *solution.history]
        self.best_step_ = solution.best_iteration
        self.status_ = str(solution.status)
        return solution.coef

    def _split(self, errors: Sequence[LabelErrors], order: IntArray) -> list[IntArray]:
        """Rows for descent and for validation, the same shares of each kind of error in both."""
        if self.validation_fraction is None:
            return [np.sort(order)]
        kind = np.array([2 * np.any(e.fp != 0) + np.any(e.fn != 0) for e in errors])[order]
        ranked = order[np.argsort(kind, kind="stable")]
        held_out = np.diff(np.floor(np.arange(ranked.size + 1) * self.validation_fraction)) > 0
        if not held_out.any():
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {ranked.size} sequences holds out "
                f"none; use more than 1/{ranked.size}, or None."
            )
        return [np.sort(ranked[~held_out]), np.sort(ranked[held_out])]

    def _log_penalties(self, named: list[tuple[Any, FloatArray]]) -> FloatArray:
        return self.predict_log_penalty_features(
            np.stack([self._signal_features(y, name) for name, y in named])
        )

    def _changes(
        self, named: list[tuple[Any, FloatArray]], log_penalty: FloatArray
    ) -> list[IntArray]:
        """Changes at the given penalties; where they are too many, those of the capped path."""
        found = []
        for (name, y), value in zip(named, log_penalty, strict=True):
            best = self._search(one_penalty, y, name, float(np.exp(value)))
            if best.sizes[0] <= self.max_segments:
                found.append(best.changepoints[0])
                continue
            table = self._segment(y, name)
            path = model_selection(table.losses, table.sizes)
            found.append(table.changepoints[path.index[int(path.select(np.exp(value)))]])
        return found

    def _signal_features(self, signal: FloatArray, name: Any) -> FloatArray:
        if self.features is not None:
            return np.asarray(self.features(signal), dtype=np.float64)
        largest = float(np.abs(signal).max())
        if largest >= _LARGEST_SAMPLE:
            raise ValueError(
                f"{_called(name)} has a value of size {largest:g}, too large for its features. "
                f"Scale all signals by one factor: sizes must be below {_LARGEST_SAMPLE:g}."
            )
        return features_of(signal)

    def _segment(self, signal: FloatArray, name: Any) -> Segmentation:
        if signal.size < self.max_segments:
            raise ValueError(
                f"{_called(name)} has {signal.size} samples, fewer than max_segments="
                f"{self.max_segments}; lower max_segments or leave the signal out."
            )
        return self._search(all_sizes, signal, name, int(self.max_segments))

    def _search(
        self, search: Callable[..., Segmentation], y: FloatArray, name: Any, limit: float
    ) -> Segmentation:
        """One of the two searches, with errors that name the sequence."""
        try:
            loss = make_loss(self.loss)
            return search(y, np.ones(y.size), loss, limit, sample_positions(None, y.size))
        except ValueError as problem:
            raise ValueError(f"{_called(name)}: {problem}") from None


def _called(name: Any) -> str:
    return f"Sequence {name!r}"


def _named(signals: Any) -> list[tuple[Any, FloatArray]]:
    """Names and validated signals: the keys of a mapping, or 0, 1, ..."""
    named = list(signals.items()) if isinstance(signals, Mapping) else list(enumerate(signals))
    if not named:
        raise ValueError("signals is empty: at least one signal is needed.")
    if any(np.ndim(y) == 0 for _, y in named):
        raise ValueError("signals must be a list of signals; put a single signal into a list.")
    return [(name, check_signal(y, _called(name))) for name, y in named]


def _feature_table(X: ArrayLike, n_rows: int | None) -> FloatArray:
    features = np.asarray(X, dtype=np.float64)
    if features.ndim != 2 or (n_rows is not None and len(features) != n_rows):
        raise ValueError(
            f"X must have one row per sequence, got shape {features.shape}"
            + ("." if n_rows is None else f" for {n_rows} sequences.")
        )
    if n_rows == 0:
        raise ValueError("errors is empty: give the label errors of at least one sequence.")
    return features
