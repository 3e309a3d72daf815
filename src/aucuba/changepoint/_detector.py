"""A changepoint detector that learns its penalty from labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from aucuba._base._callbacks import CallbackSupport, fit_monitor, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._typing import ArrayLike, FloatArray, Monitor
from aucuba._base._validation import check_choice, check_fraction, check_positive_number
from aucuba._base._warnings import warn_user
from aucuba.aum import AUMDescent
from aucuba.changepoint._display import ChangepointDisplay
from aucuba.changepoint._features import FeatureCleaning, feature_table, listed
from aucuba.changepoint._held_out import row_groups
from aucuba.changepoint._label_errors import LabelErrors, label_errors
from aucuba.changepoint._labels import label_table, labels_by_sequence
from aucuba.changepoint._losses import LOSS_NAMES
from aucuba.changepoint._penalty_learning import PenaltyLearner
from aucuba.changepoint._roc import PenaltyROC, penalty_roc
from aucuba.changepoint._signal_search import SignalSearch
from aucuba.changepoint._signals import Signal, named_signals


class SupervisedChangepointDetector(CallbackSupport, BaseEstimator):
    r"""Changepoint detector with a penalty learned from labelled regions.

    .. math::
        \hat k(y) = \arg\min_k L_k(y) + e^{-f(y)}\, k, \qquad f(y) = w^\top \phi(y) + b

    ``fit`` segments every signal into 1 to ``max_segments`` pieces, counts label errors for every
    penalty, and learns f in three steps: the best constant penalty; L1 interval regression on the
    penalties with the fewest errors (`IntervalRegressionCV`); steepest descent on the AUM of part of
    the sequences, which returns the iterate with the best AUC on the others. The second and third steps
    are kept only if they lower the label errors of held-out sequences by more than one standard error.
    The intercept is the one with the fewest label errors on all sequences.

    Non-finite features are replaced, and features are clipped to their training range; see the
    attributes.

    Parameters
    ----------
    max_segments : int, default=20
        Largest number of segments; signals with fewer samples have at most one segment per sample.
    loss : {"l2", "poisson", "variance"}, default="l2"
        Segmentation loss, as in `segment`.
    features : callable, default=None
        Function from a signal to its feature vector; `signal_features` by default.
    step : str, default="first_min"
        Step of each descent iteration. "first_min": the first minimum of AUM along the gradient;
        "linear": its minimum over the first crossings, one per breakpoint; "all": its minimum over all
        crossings; "first_max_auc": the first local maximum of the training AUC; "subtrain_auc",
        "validation_auc": the greatest AUC of that part on the whole line; "grid": the best of seven
        powers of ten.
    validation_fraction : float or None, default=0.5
        Fraction of the sequences held out to choose the iterate. None descends on all sequences and
        keeps the iterate with the best training AUC.
    max_iter : int, default=1000
        Descent steps; 0 keeps the interval regression.
    tol : float, default=1e-5
        The descent ends when a step lowers AUM by less than this fraction and raises AUC by less.
    cv : int or splitter, default=5
        Folds that choose the L1 penalty of the interval regression, on sequences in random order.
    random_state : int, RandomState or None, default=None
        Shuffles the sequences for both choices.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of f; 0 for unused features, and for all features if the constant is kept.
    intercept_ : float
    constant_log_penalty_ : float
        Logarithm of the best constant penalty.
    interval_regression_ : IntervalRegressionCV
        Fitted to the clean columns ``used_features_``; it predicts log penalties.
    used_features_ : ndarray of bool
        Columns that vary and are finite in at least half of the training rows.
    feature_range_ : ndarray of shape (2, n_features)
        Smallest and largest finite training values, to which features are clipped.
    feature_median_ : ndarray of shape (n_features,)
        Replacements for NaN.
    history_ : list of dict
        One row per iterate of the descent, its start included; empty without descent.
    best_step_ : int
        The iterate kept; 0 is the interval regression.
    status_ : str
        Which step was kept, and why.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import Label, SupervisedChangepointDetector
    >>> rng = np.random.default_rng(0)
    >>> signals, labels = [], []
    >>> for k in range(48):
    ...     noise = 10.0 ** rng.uniform(-1, 1)
    ...     mean = np.repeat([0.0, 8 * noise * (k % 2), 0.0], 20)
    ...     signals.append(mean + noise * rng.normal(size=60))
    ...     kind = "one" if k % 2 else "none"
    ...     labels.append([Label(10, 30, kind), Label(45, 58, "none")])
    >>> detector = SupervisedChangepointDetector(max_segments=8, random_state=0)
    >>> found = detector.fit(signals[:40], labels[:40]).predict(signals[40:])
    >>> [change.tolist() for change in found[:2]]
    [[], [20, 40]]
    >>> detector.score(signals[40:], labels[40:])
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
    def fit(
        self, signals: Any, labels: Any, groups: ArrayLike | None = None
    ) -> SupervisedChangepointDetector:
        """Learn the penalty from signals and labels.

        Parameters
        ----------
        signals : list of array-like, mapping from names to them, or DataFrame
            A DataFrame has the columns ``sequence`` and ``value``, one row per sample, and optionally
            ``position`` or ``time``. This column, or the index of a pandas Series, gives the
            coordinates of the labels. Otherwise samples are numbered from 0.
        labels : list, mapping or DataFrame
            Labels of each signal: a list of `Label`, or a DataFrame with columns start, end, kind; in
            the order of the signals or by their names. Or one DataFrame with a column ``sequence``.
        groups : array-like of shape (n_signals,), default=None
            Signals of one group, such as those of one patient, stay in the same fold. By default,
            signals that share the exact value of a feature, such as their length, form a group if this
            gives at least 8 groups of 5 signals on average; otherwise each signal is a group.

        Returns
        -------
        SupervisedChangepointDetector
        """
        self._check_settings()
        named = named_signals(signals)
        # One report per signal, one of the interval regression, one per iterate of the descent.
        limit = len(named) + int(self.max_iter) + 2
        with fresh_fit(self), fit_monitor(self, signals, labels, limit) as monitor:
            X, errors = self._prepare(named, labels, monitor)
            self._learn(X, errors, groups, monitor)
        return self

    def prepare(self, signals: Any, labels: Any) -> tuple[FloatArray, list[LabelErrors]]:
        """Compute the features and label errors of labelled signals, the input of `fit_features`.

        Segmentation is the slow part: prepare once to fit several detectors or to compare penalties.

        Returns
        -------
        X : ndarray of shape (n_signals, n_features)
        errors : list of LabelErrors
        """
        self._check_settings()
        return self._prepare(named_signals(signals), labels, None)

    @with_callbacks
    def fit_features(
        self,
        X: ArrayLike,
        errors: Sequence[LabelErrors],
        groups: ArrayLike | None = None,
    ) -> SupervisedChangepointDetector:
        """Learn from precomputed features and label errors, such as those of published benchmarks.

        Parameters
        ----------
        X : array-like of shape (n_sequences, n_features)
            Entries may be NaN or infinite.
        errors : list of LabelErrors
        groups : array-like of shape (n_sequences,), default=None
            As in `fit`.
        """
        self._check_settings()
        with fresh_fit(self), fit_monitor(self, X, errors, int(self.max_iter) + 2) as monitor:
            self._learn(X, errors, groups, monitor)
        return self

    def predict_log_penalty(self, signals: Any) -> FloatArray:
        """Predict the logarithm of the penalty of each signal."""
        check_is_fitted(self)
        return self._log_penalties(named_signals(signals))

    def predict_log_penalty_features(self, X: ArrayLike) -> FloatArray:
        """Predict the logarithm of the penalty of each row of features."""
        check_is_fitted(self)
        features = feature_table(X, None)
        if features.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {features.shape[1]} features, but the detector was fitted with "
                f"{self.n_features_in_}."
            )
        clean = self._cleaning().apply(features)
        log_penalty: FloatArray = -(clean @ self.coef_[self.used_features_] + self.intercept_)
        unknown = ~np.isfinite(features[:, self.coef_ != 0]).any(axis=1)
        if self.coef_.any() and unknown.any():
            log_penalty[unknown] = self.constant_log_penalty_
            warn_user(
                f"Rows {listed(np.flatnonzero(unknown))} have no finite value in any of the features "
                f"{listed(np.flatnonzero(self.coef_))} that the penalty depends on; they get the "
                "constant penalty."
            )
        return log_penalty

    def predict(self, signals: Any) -> list[Any]:
        """Predict the changepoints of each signal, the first samples of new segments.

        Parameters
        ----------
        signals
            As in `fit`.

        Returns
        -------
        list of ndarray
            Sample numbers; for a pandas Series values of its index, for a table values of its column
            ``position`` or ``time``.
        """
        check_is_fitted(self)
        named = named_signals(signals)
        found = self._signal_search().changes(named, self._log_penalties(named))
        return [signal.samples(first) for signal, first in zip(named, found, strict=True)]

    def displays(self, signals: Any, labels: Any) -> dict[Any, ChangepointDisplay]:
        """Collect displays of the signals with their labels and predicted changes, by name.

        Parameters
        ----------
        signals, labels
            As in `fit`.
        """
        check_is_fitted(self)
        named = named_signals(signals)
        log_penalty = self._log_penalties(named)
        tables = labels_by_sequence(labels, [signal.name for signal in named])
        changes = self._signal_search().changes(named, log_penalty)
        found = zip(named, tables, changes, log_penalty, strict=True)
        return {
            signal.name: ChangepointDisplay(
                signal=signal.values,
                positions=signal.positions,
                changepoints=changes,
                labels=label_table(rows, signal.positions, name=signal.title),
                log_penalty=float(value),
            )
            for signal, rows, changes, value in found
        }

    def score(self, signals: Any, labels: Any) -> float:
        """Return the fraction of labels, by weight, with which the predicted changes agree."""
        shown = self.displays(signals, labels).values()
        total = sum(float(display.labels.weight.sum()) for display in shown if display.labels)
        if total == 0:
            raise ValueError(
                f"No label has a positive weight, so the {len(shown)} signals cannot be scored; give "
                "at least one such label."
            )
        return float(1.0 - sum(display.label_errors for display in shown) / total)

    def roc(self, signals: Any, labels: Any) -> PenaltyROC:
        """Compute the ROC curve of the predicted penalties on labelled signals."""
        features, errors = self.prepare(signals, labels)
        return penalty_roc(errors, self.predict_log_penalty_features(features))

    def _check_settings(self) -> None:
        check_positive_number(self.max_segments, "max_segments", integer=True)
        check_choice(self.loss, "loss", LOSS_NAMES)
        AUMDescent(self.step, self.tol)
        if self.max_iter != 0:
            check_positive_number(self.max_iter, "max_iter", integer=True)
        if self.validation_fraction is not None:
            check_fraction(
                self.validation_fraction, "validation_fraction", low_open=True, high_open=True
            )
        elif self.step == "validation_auc":
            raise ValueError("step='validation_auc' needs a validation_fraction.")

    def _prepare(
        self, named: list[Signal], labels: Any, monitor: Monitor | None
    ) -> tuple[FloatArray, list[LabelErrors]]:
        tables = labels_by_sequence(labels, [signal.name for signal in named])
        search = self._signal_search()
        rows, errors = [], []
        for signal, table in zip(named, tables, strict=True):
            rows.append(search.features_of(signal))
            errors.append(label_errors(search.all_sizes(signal), table, name=signal.title))
            if monitor is not None:
                monitor({"sequence": signal.name})
        return np.stack(rows), errors

    def _learn(
        self,
        X: ArrayLike,
        errors: Sequence[LabelErrors],
        groups: ArrayLike | None,
        monitor: Monitor | None,
    ) -> None:
        features = feature_table(X, len(errors))
        cleaning = FeatureCleaning.from_training(features)
        if not cleaning.used.any():
            raise ValueError(
                "No feature is finite and varies between the sequences; give other features or more "
                "varied sequences."
            )
        order = check_random_state(self.random_state).permutation(len(errors))
        descent = None
        if self.max_iter != 0:
            descent = AUMDescent(
                step=self.step, tol=self.tol, n_iter_no_change=1, max_iter=self.max_iter
            )
        learner = PenaltyLearner(self.cv, descent, self.validation_fraction)
        shuffled = [errors[i] for i in order]
        clean = cleaning.apply(features)
        group = row_groups(groups, clean)
        learned = learner.learn(
            clean[order], shuffled, None if group is None else group[order], monitor
        )
        self.n_features_in_ = features.shape[1]
        self.used_features_ = cleaning.used
        self.feature_range_ = np.stack([cleaning.low, cleaning.high])
        self.feature_median_ = cleaning.median
        self.coef_ = np.zeros(features.shape[1])
        self.coef_[cleaning.used] = learned.coef
        self.intercept_ = learned.intercept
        self.constant_log_penalty_ = learned.constant
        self.interval_regression_ = learned.regression
        self.history_, self.best_step_ = learned.history, learned.best_step
        self.status_ = learned.status

    def _cleaning(self) -> FeatureCleaning:
        low, high = self.feature_range_
        return FeatureCleaning(self.used_features_, low, high, self.feature_median_)

    def _log_penalties(self, named: list[Signal]) -> FloatArray:
        search = self._signal_search()
        return self.predict_log_penalty_features(
            np.stack([search.features_of(signal) for signal in named])
        )

    def _signal_search(self) -> SignalSearch:
        return SignalSearch(self.max_segments, self.loss, self.features)
