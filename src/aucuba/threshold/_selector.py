"""Selection of rows from a batch, with few false ones among them."""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from aucuba._base._callbacks import with_callbacks
from aucuba._base._estimator import all_or_nothing
from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import (
    as_table,
    check_choice,
    check_fraction,
    finite_scores,
    identifiers,
)
from aucuba._rows._sample import RankingSample, Sample
from aucuba.threshold._calibration import HeldOutCalibration
from aucuba.threshold._conformal import (
    NegativeScores,
    p_values,
    selected,
    smallest_p_value,
    warn_if_too_few_negatives,
)
from aucuba.threshold._held_out import Strata, stratum_index
from aucuba.threshold._rows_needed import rows_needed
from aucuba.threshold._units import highest_of_groups, negative_units, new_groups


class Selection(NamedTuple):
    """Which rows of a batch are selected, and their p-values; rows of a group share both."""

    mask: BoolArray
    p_values: FloatArray


class FalseDiscoverySelector(HeldOutCalibration):
    r"""Selector of the probably positive rows of each batch, with few false ones among them.

    .. math:: E\left[\frac{\text{negatives selected}}{\max(\text{rows selected}, 1)}\right] \le
       \mathtt{max\_fdr}

    in every batch, whatever its prevalence, even without a positive row. A row's p-value compares its
    score with those of held-out negatives [1]_; Benjamini and Hochberg's rule selects from the batch.
    The negatives of the batch must be exchangeable with the held-out ones; positives may change in any
    way.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``, or an outlier detector of
        scikit-learn or PyOD.
    max_fdr : float, default=0.1
        The largest expected fraction of negatives among the selected rows, in (0, 1).
    confidence : float, default=None
        None promises ``max_fdr`` on average over the draw of the held-out rows. A number in (0, 1)
        promises it for every later batch, with that confidence over these rows, by larger p-values.
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`.
    strata : str, int or callable, default=None
        Compare rows with held-out negatives of their own stratum: a column of X by name or index,
        or a callable that maps X to one label per row.
    joint : bool, default=True
        Whether to make one selection from all strata; if False, one from each.
    ties : {"random", "conservative"}, default="random"
        Break ties between scores by one random key per row, or count them against the row.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``, the larger label.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores; "auto" takes the first of the two that it has.
    score_direction : {"auto", "high", "low"}, default="auto"
        Which scores of the base are selected, as in :class:`FixedFPRClassifier`.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows and of the keys.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    n_negatives_ : int, or ndarray of shape (n_strata,)
        Held-out negatives, or held-out groups without a positive row.
    smallest_share_ : float, or ndarray of shape (n_strata,)
        The smallest possible selection, as a fraction of its batch.
    calibration_scores_, calibration_keys_ : ndarray
        Scores and keys of the held-out negatives, sorted within strata; no keys if ties count.
    calibration_groups_ : ndarray
        The held-out groups, which `select` refuses; empty without ``groups``.
    strata_ : ndarray
        The strata; empty without ``strata``.
    classes_ : ndarray of shape (2,)
        The labels.
    pos_label_ : label
        The positive one.
    guarantee_ : bool
        Whether the promise is a theorem (held-out rows) or a heuristic (pooled folds).
    promise_ : str
        The promise in words.
    n_features_in_ : int
        Number of features; only if ``estimator_`` has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if ``estimator_`` has it.

    See Also
    --------
    FixedPrecisionClassifier : One threshold for all batches, and a precision over all rows.
    aucuba.threshold.rows_needed : How many held-out rows a selection needs.

    Notes
    -----
    The promise is about each batch. It does not bound the fraction of false rows pooled over days:
    a day with two selected rows, one of them false, counts as much as one with a hundred.

    References
    ----------
    .. [1] Bates, Candes, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values,
       Annals of Statistics 51(1).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba.threshold import FalseDiscoverySelector
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(8_000) < 0.05
    >>> X = rng.normal(size=(8_000, 2)) + 2.5 * y[:, None]
    >>> selector = FalseDiscoverySelector(LogisticRegression(), max_fdr=0.1, random_state=0)
    >>> print(selector.fit(X[:6_000], y[:6_000]).promise_)
    False discovery rate at most 0.1 in each batch, on average over calibrations, from 2846 held-out
    negatives; at least 1 alert per 284 rows.
    >>> mask, p = selector.select(X[6_000:])
    >>> int(mask.sum()), int((mask & ~y[6_000:]).sum()), int(y[6_000:].sum())
    (81, 3, 91)
    """

    _takes_normal_rows = True

    def __init__(
        self,
        estimator: Any,
        max_fdr: float = 0.1,
        confidence: float | None = None,
        cv: Any = 0.5,
        *,
        joint: bool = True,
        strata: Any = None,
        ties: str = "random",
        pos_label: Any = None,
        response_method: str = "auto",
        score_direction: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_fdr = max_fdr
        self.confidence = confidence
        self.cv = cv
        self.joint = joint
        self.strata = strata
        self.ties = ties
        self.pos_label = pos_label
        self.response_method = response_method
        self.score_direction = score_direction
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        **params: Any,
    ) -> FalseDiscoverySelector:
        """Fit the base estimator, unless it is fitted, and keep the scores of held-out negatives.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to train on and to hold out; with ``cv="prefit"`` all are held out.
        y : array-like of shape (n_samples,)
            Labels of two classes. An outlier detector needs none: all rows are then normal.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, such as patients; whole groups are then selected, by their highest score.
        time : array-like of shape (n_samples,), default=None
            When each row was seen; the latest rows are held out.
        **params : dict
            Further fit parameters of the base estimator.

        Returns
        -------
        FalseDiscoverySelector
            This selector, fitted.
        """
        check_fraction(self.max_fdr, "max_fdr", low_open=True, high_open=True)
        check_choice(self.ties, "ties", ("random", "conservative"))
        if self.confidence is not None:
            check_fraction(self.confidence, "confidence", low_open=True, high_open=True)
        if params.get("sample_weight") is not None:
            raise ValueError(
                "FalseDiscoverySelector counts held-out negatives, so its p-values ignore weights. "
                "Leave sample_weight out, or fit the base with it on other rows and use cv='prefit'."
            )
        rng = check_random_state(self.random_state)
        names = None if groups is None else identifiers(groups, "groups", _num_samples(X))
        scored, rows = self._hold_out(X, y, None, groups, time, params, self._require_enough)
        units = negative_units(scored)
        keys = rng.random_sample(units.n_rows) if self.ties == "random" else np.empty(0)
        stratum = np.zeros(units.n_rows, dtype=np.intp) if units.stratum is None else units.stratum
        order = np.lexsort((keys, units.score, stratum) if keys.size else (units.score, stratum))
        self.calibration_scores_ = np.asarray(units.score[order], dtype=np.float64)
        self.calibration_keys_ = keys[order] if keys.size else keys
        counts = np.bincount(stratum, minlength=len(Strata(self.strata_)))
        self.n_negatives_ = Strata(self.strata_).squeezed(counts)
        self.calibration_groups_ = np.empty(0) if names is None else np.unique(names[rows])
        self.seed_ = int(rng.randint(2**31 - 1))
        self._describe(counts)
        return self

    def select(self, X: Any, groups: ArrayLike | None = None) -> Selection:
        """Select the rows of one batch.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            All rows of the batch: the selection depends on the others.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, if `fit` was given groups; none of them may have been held out.

        Returns
        -------
        Selection
            ``mask`` and ``p_values``, one entry per row; rows of a group share both.
        """
        check_is_fitted(self, "calibration_scores_")
        X = as_table(X)
        place = self._strata_of(X) if self.strata_.size else None
        return self._selection(self._checked_scores(X), groups, place)

    def select_scores(
        self, scores: ArrayLike, groups: ArrayLike | None = None, strata: ArrayLike | None = None
    ) -> Selection:
        """Select the rows of one batch by their scores, which may be computed in pieces.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            What `decision_function` returns for all rows of the batch.
        groups : array-like of shape (n_samples,), default=None
            As in `select`.
        strata : array-like of shape (n_samples,), default=None
            The stratum of every row, if `fit` had strata.

        Returns
        -------
        Selection
            As from `select`.
        """
        check_is_fitted(self, "calibration_scores_")
        score = self._towards_positive(finite_scores(scores, "scores").astype(np.float64))
        if (strata is None) == bool(self.strata_.size):
            why = "needs strata, as fit had them" if strata is None else "has strata, fit had none"
            raise ValueError(f"select_scores {why}: rows are compared within their own stratum.")
        if strata is None:
            return self._selection(score, groups, None)
        labels = identifiers(strata, "strata", score.size)
        return self._selection(score, groups, stratum_index(labels, self.strata_))

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows, for the comparison with held-out negatives.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores signed towards ``classes_[1]``, without a threshold.
        """
        check_is_fitted(self, "calibration_scores_")
        return self._towards_positive(self._checked_scores(as_table(X)))

    def _towards_positive(self, score: FloatArray) -> FloatArray:
        """Convert scores that grow towards ``classes_[1]`` to grow towards ``pos_label_``, or back."""
        return score if self._positive_index else -score

    def _selection(self, score: FloatArray, groups: Any, place: IntArray | None) -> Selection:
        group = new_groups(groups, score.size, self.calibration_groups_)
        rows = Sample(np.zeros(score.size, dtype=bool), group=group, stratum=place)
        units = highest_of_groups(rows.with_scores(score))
        p = self._p_values(units)
        mask = np.zeros(p.size, dtype=bool)
        smallest = np.max(np.atleast_1d(self.smallest_share_)) * self.max_fdr
        for part in [slice(None)] if self.joint else self._by_stratum(units):
            mask[part] = selected(p[part], self.max_fdr)
            if not mask[part].any():
                warn_if_too_few_negatives(p[part], self.max_fdr, smallest)
        return Selection(mask, p) if group is None else Selection(mask[group], p[group])

    def _by_stratum(self, units: RankingSample) -> list[Any]:
        """Return the index of the units of every stratum."""
        if units.stratum is None:
            return [slice(None)]
        return [units.stratum == place for place in range(len(Strata(self.strata_)))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False, poor_score=True)
        return tags

    @property
    def _counts_weights(self) -> bool:
        return False

    @property
    def _error(self) -> float | None:
        """Error of the conditional p-values of one stratum; None for marginal ones."""
        if self.confidence is None:
            return None
        return Strata(self.strata_).error_of_one(self.confidence, self.joint)

    def _require_enough(self, held_out: Sample) -> None:
        """Raise an error if some stratum has too few negatives for any selection."""
        strata = Strata(self.strata_)
        units = negative_units(held_out.with_scores(np.zeros(held_out.n_rows)))
        needed = rows_needed("fdr", self.max_fdr, None if self._error is None else 1 - self._error)
        for place, part in enumerate(strata.parts(units)):
            if part.n_rows < needed:
                noun = "negatives" if held_out.group is None else "groups without a positive row"
                raise ValueError(
                    strata.named(
                        f"max_fdr={self.max_fdr:g} needs at least {needed} held-out {noun}, got "
                        f"{part.n_rows}: with fewer nothing could be selected. Hold out more, or allow "
                        "a larger max_fdr.",
                        place,
                    )
                )

    def _negatives(self, place: int) -> NegativeScores:
        counts = np.atleast_1d(self.n_negatives_)
        start = int(counts[:place].sum())
        rows = slice(start, start + int(counts[place]))
        keys = self.calibration_keys_[rows] if self.calibration_keys_.size else None
        return NegativeScores(self.calibration_scores_[rows], keys)

    def _p_values(self, units: RankingSample) -> FloatArray:
        # Keys depend on the batch and on random_state alone, and no two batches share them.
        content = hashlib.sha256(np.ascontiguousarray(units.score).tobytes()).digest()
        rng = np.random.default_rng([self.seed_, *np.frombuffer(content[:16], dtype=np.uint32)])
        keys = rng.random(units.n_rows)
        found = np.empty(units.n_rows)
        for place, rows in enumerate(self._by_stratum(units)):
            negatives = self._negatives(place)
            above = negatives.count_above(units.score[rows], keys[rows])
            found[rows] = p_values(above, negatives.n, self.max_fdr, self._error)
        return found

    def _describe(self, counts: IntArray) -> None:
        shares = np.array([smallest_p_value(int(n), self.max_fdr, self._error) for n in counts])
        shares /= self.max_fdr
        strata = Strata(self.strata_)
        self.smallest_share_ = strata.squeezed(shares)
        if not self.guarantee_:
            self.promise_ = (
                f"No promise: the selection aims at a false discovery rate of {self.max_fdr:g}, but "
                "the scores of folds come from models other than the one that selects; hold rows out "
                "(cv=0.5) for a promise."
            )
            return
        sure = (
            "on average over calibrations"
            if self.confidence is None
            else f"with confidence {self.confidence:g} for all later batches"
        )
        noun = "groups without a positive row" if self.calibration_groups_.size else "negatives"
        where = "" if not self.strata_.size else f" in {counts.size} strata"
        part = " of each stratum" if self.strata_.size and not self.joint else ""
        self.promise_ = (
            f"False discovery rate at most {self.max_fdr:g} in each batch{part}, {sure}, from "
            f"{counts.sum()} held-out {noun}{where}; at least 1 alert per "
            f"{math.floor(1 / shares.max())} rows."
        )
