"""The scorecard that is chosen for a region of the ROC curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from aucuba._base._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._base._estimator import BinaryClassifier, all_or_nothing
from aucuba._base._parallel import draw_seed, map_parallel, one_blas_thread
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import as_table
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._roc._region import Region
from aucuba._roc._threshold import operating_point
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._sample import RankingSample, Sample
from aucuba._rows._splits import rows_to_fit
from aucuba.scorecard._choice import (
    CAUTIONS,
    FoundCards,
    chosen_caution,
    find_cards,
    held_out_log_odds,
    leads_of,
    status_of,
)
from aucuba.scorecard._limits import Restrictions
from aucuba.scorecard._lines import CardLine, card_lines
from aucuba.scorecard._risk import calibrated_risks, risk_rows, risks_of
from aucuba.scorecard._search import Card
from aucuba.scorecard._table import ScoredColumns, as_items, checked_table, described, of_items

_FALLBACK = "The card of least log-loss"


class RegionScorecard(BinaryClassifier):
    r"""A few conditions with whole points, whose sum is best in a region of the ROC curve.

    .. math::
        s(x) = \sum_{i=1}^{k} p_i \, [x \text{ meets condition } i], \qquad
        p_i \in \{-5, \ldots, -1, 1, \ldots, 5\}

    Conditions are thresholds of numbers ("age > 60"), groups of categories ("status is divorced or
    widowed") and missing values. The search has two stages: cards of least log-loss by a beam over
    items, then descents that exchange one item at a time for the criterion

    .. math::
        (1 - c)\, \mathrm{pAUC} + c\, R^2

    with the exact partial AUC of the region, :math:`R^2`, the part of the null deviance that logistic
    regression on the total explains, and c = .1. A narrow region hangs on few rows, and a search on
    their classes follows the noise of small tables. So a row counts two thirds by its class and one
    third by its probability, which random trees estimate that were trained without it.
    Cross-validation of the whole search, conditions included, compares these cards with those of least
    log-loss (c = 1), which are taken instead if they lead by more than one standard error.

    Missing values meet no condition but those that say so, such as ``age > 60 or is missing``: points
    below 0 on a column that misses values are written like this, as points above 0 of all other rows.
    Categories that training has not seen are in no group.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter; (0, 1) for the whole curve.
    max_items : int, default=5
        Most conditions on the card.
    max_points : int, default=5
        Largest points of a condition, of either sign.
    max_per_column : int, default=None
        Most conditions on one column; None for no limit.
    sign : {1, -1} or dict, default=None
        Sign of all points, or of the points of some columns: 1 for cards that only add.
    monotone : dict, default=None
        Whether the points of a column rise (1) or fall (-1) with its numbers or dates.
    include, exclude : sequence of column names or indices, default=()
        Columns that must, or may not, be on the card.
    column_cost : dict, default=None
        Cost of a column, paid once if the card uses it; 0 for others. Only ``max_cost`` reads it.
    max_cost : float, default=None
        Largest cost of a card; None for no limit.
    cv : int, splitter or iterable of splits, default=5
        Folds that guard the choice of c and correct the risks: for a number stratified and shuffled,
        or of whole ``groups``, or blocks of ``time``. Other splits must test every row exactly once.
    pos_label : label, default=None
        The class that points speak for; None is ``classes_[1]``.
    n_jobs : int or None, default=None
        Number of folds that are searched in parallel; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the folds and the trees.

    Attributes
    ----------
    items_ : list of dict
        ``"column"``, ``"place"`` (its index), ``"test"``, ``"value"``, ``"is_date"``, ``"or_missing"``
        and ``"points"`` of every item, in the order of the columns.
    training_ : dict
        On the training rows ``"partial_auc"`` and ``"r2"``, the part of the null deviance explained.
    next_best_ : list of dict
        Up to four further cards: ``"items"``, ``"texts"``, and the same two values.
    caution_ : float
        The weight c of the log-loss: .1 for the region, 1 where the card of least log-loss is kept.
    partial_auc_ : dict
        Partial AUC on held-out rows for either c, averaged over the folds.
    partial_auc_error_ : dict
        Standard error of the lead over c = 1.
    calibration_ : ndarray of shape (2,)
        Slope and intercept of the log-odds of ``pos_label_`` as a function of the total: fitted to the
        training rows, then corrected for optimism by the held-out rows.
    risk_ : list of dict
        For every total that a row can have its ``"risk"``, and from the held-out rows of the same risk
        ``"rows"``, ``"positives"`` and the 95 % Wilson interval ``"low"`` to ``"high"`` of their rate.
    threshold_, predict_fpr_ : float
        Totals above the threshold are predicted to be ``pos_label_``; the false positive rate of the
        training rows there is at most the upper limit of the region.
    status_ : str
        How far the card leaves the one of least log-loss, and why.
    classes_, pos_label_
        The labels in sorted order, and the one that points speak for.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucuba import RegionScorecard
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> card = RegionScorecard((0.0, 0.05), max_items=3, pos_label=0, random_state=0).fit(X, y)
    >>> len(card.items_) <= 3
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        max_items: int = 5,
        max_points: int = 5,
        max_per_column: int | None = None,
        sign: Any = None,
        monotone: Mapping[Any, int] | None = None,
        include: Any = (),
        exclude: Any = (),
        column_cost: Mapping[Any, float] | None = None,
        max_cost: float | None = None,
        cv: Any = 5,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fpr_range = fpr_range
        self.max_items = max_items
        self.max_points = max_points
        self.max_per_column = max_per_column
        self.sign = sign
        self.monotone = monotone
        self.include = include
        self.exclude = exclude
        self.column_cost = column_cost
        self.max_cost = max_cost
        self.cv = cv
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> RegionScorecard:
        """Search for the card.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Numbers, categories and dates, with missing values.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows (for given splits).
        groups : array-like of shape (n_samples,), default=None
            Rows of one group stay together in every fold.
        time : array-like of shape (n_samples,), default=None
            When each row was seen; blocks of time are scored by cards of earlier rows.

        Returns
        -------
        RegionScorecard
            The fitted card.
        """
        region = Region.from_params(self.fpr_range)
        given = X = as_table(X)
        X = checked_table(self, X, reset=True)
        n_rows = _num_samples(X)
        sample, kept, classes = rows_to_fit(
            self, given, y, n_rows, sample_weight, groups=groups, time=time
        )
        self.classes_, self.pos_label_ = classes
        columns = ScoredColumns.from_table(X)
        self.kinds_ = columns.kinds
        if sample.n_rows < n_rows:
            columns = columns.take(kept.index)
        restrictions = Restrictions.from_params(self.get_params(), columns.names, self.kinds_)
        trained_on = region.warned_for_training(sample, _FALLBACK)
        seed = draw_seed(self.random_state)
        with one_blas_thread():
            if trained_on is None:
                found = find_cards(columns, sample, restrictions, None, seed)
                self._adopt(found, 1.0, sample, region)
                self.partial_auc_: dict[str, float] = {}
                self.partial_auc_error_: dict[str, float] = {}
                self.status_ = "Card of least log-loss: too few rows to train for the region."
                return self
            folds = partition(self.cv, kept, seed)
            with fit_monitor(self, X, y, max_iter=len(folds.splits)) as monitor:
                self._choose(
                    columns, sample, restrictions, trained_on, folds, seed, Progress(monitor)
                )
        return self

    def _choose(
        self,
        columns: ScoredColumns,
        sample: Sample,
        restrictions: Restrictions,
        region: Region,
        folds: Folds,
        seed: int,
        progress: Progress,
    ) -> None:
        """Choose the caution on held-out rows, search all rows, and correct the risks."""
        splits = list(progress.until_stopped(folds.splits))
        parts = map_parallel(
            *(held_out_log_odds, splits, columns, sample, restrictions, region, seed),
            n_jobs=self.n_jobs,
            progress=progress,
        )
        scores = np.full((len(CAUTIONS), sample.n_rows), np.nan)
        for (_, test), part in zip(splits, parts, strict=True):
            scores[:, test] = part
        values, leads = leads_of(splits, scores, sample, region)
        chosen = chosen_caution(leads)
        caution = CAUTIONS[chosen]
        self.partial_auc_ = {f"c = {c:g}": float(v) for c, v in zip(CAUTIONS, values, strict=True)}
        self.partial_auc_error_ = {
            f"c = {c:g}": one.error for c, one in zip(CAUTIONS[1:], leads[1:], strict=True)
        }
        cautions = (1.0, *(c for c in CAUTIONS[1:] if c >= caution))
        found = find_cards(columns, sample, restrictions, region, seed, cautions)
        scored = np.flatnonzero(~np.isnan(scores[0]))
        self._adopt(found, caution, sample, region, scores[chosen, scored], scored)
        self.status_ = status_of(leads[-1], chosen)

    def _adopt(
        self,
        found: FoundCards,
        caution: float,
        sample: Sample,
        region: Region,
        held_out: FloatArray | None = None,
        scored: IntArray | None = None,
    ) -> None:
        """Store the best card of a caution, its risks and its threshold."""
        # Points of the further cards are told by the rows as they are.
        cards, search = found.cards[caution], replace(found.search, share=None)
        if not cards or not cards[0]:
            warn_user(
                "No condition is met by five rows and missed by five: every total is 0. Add data.",
                FewRowsWarning,
            )
        card: Card = cards[0] if cards else ()
        self._require_included(search.limits.complete(card, found.table.column))
        self.caution_ = caution
        items = found.items(card)
        self.items_ = as_items(items)
        listed = [
            described(found.items(one), search.value(one, 0.0), search.value(one, 1.0))
            for one in cards[:5]
        ]
        self.next_best_: list[dict[str, Any]] = listed[1:]
        own = listed[0] if listed else described([], 0.0, 0.0)
        self.training_ = {name: own[name] for name in ("partial_auc", "r2")}
        # Every row has the points that were turned around, or has got their opposite.
        turned = sum(was for (_, was), (_, now) in zip(card, items, strict=True) if was != now)
        totals = found.table.totals(card).astype(np.float64) - turned
        self.calibration_, self.risk_ = calibrated_risks(items, totals, sample, held_out, scored)
        threshold, self.predict_fpr_ = operating_point(totals, sample, region.upper_limit)
        # No total is at the threshold, which lies in the middle of two.
        self.threshold_ = float(np.floor(threshold)) + 0.5

    def _require_included(self, complete: bool) -> None:
        if not complete:
            raise ValueError(
                f"No card of at most {self.max_items} items has all columns of include="
                f"{list(self.include)!r}: some have no condition with points of the allowed sign that "
                "five rows meet and five do not."
            )

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the total minus ``threshold_``, with its sign turned for ``classes_[0]``.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._oriented(self.total(X) - self.threshold_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the risks of the totals for both classes, in the order of ``classes_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        total = self.total(X)
        return self._probabilities(self.calibration_[0] * total + self.calibration_[1])

    def total(self, X: Any) -> IntArray:
        """Add up the points of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        return np.asarray(self.contributions(X).sum(axis=1))

    def contributions(self, X: Any) -> IntArray:
        """Return the points of every row for every line of the printed card; they add up to its total.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples, n_lines)
        """
        lines = self._lines()
        X = checked_table(self, as_table(X))
        used = {one["place"] for one in self.items_}
        columns = ScoredColumns.from_table(X, self.kinds_, used)
        points = [line.points * line.met(columns.values[line.place]) for line in lines]
        return np.array(points, dtype=np.int64).reshape(len(lines), _num_samples(X)).T

    def line_texts(self) -> list[str]:
        """Write the lines of the printed card, such as ``40 < age <= 60``."""
        return [line.text for line in self._lines()]

    def _lines(self) -> list[CardLine]:
        check_is_fitted(self)
        return card_lines(of_items(self.items_))

    def count_risks(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> list[dict[str, Any]]:
        """Count rows and positives by total, on rows that did not train the card.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        list of dict
            As ``risk_``.
        """
        total = self.total(X).astype(np.float64)
        sample = RankingSample.from_arrays(y, total, sample_weight, None, self.pos_label_, "y")
        levels = np.array([one["total"] for one in self.risk_], dtype=np.float64)
        return risk_rows(levels, risks_of(self.calibration_, levels), sample.score, sample)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
