"""The linear classifier that chooses everything by cross-validation in the region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import map_parallel, one_blas_thread
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_choice
from aucuba._base._warnings import warn_user
from aucuba._roc._comparison import COMPARISONS
from aucuba._roc._region import FprWeight, Region
from aucuba._rows._out_of_fold import OutOfFold
from aucuba._rows._splits import Split
from aucuba.design import RowDesign, TableDesign
from aucuba.linear._anchored_fit import (
    FALLBACK,
    anchor_direction,
    normalised,
    score_moments,
)
from aucuba.linear._base import RegionClassifier, warn_if_badly_scaled
from aucuba.linear._cross_validation import (
    ChosenBlend,
    ChosenModel,
    Cs_to_try,
    Splits,
    anchored_half,
    at_home,
    choose_C,
    few_rows_advice,
    home_of_scores,
    logistic_path,
)
from aucuba.linear._logistic_fit import LogisticFit, LogisticPath
from aucuba.linear._support_choice import Constraints, among_columns, choose_support
from aucuba.linear._support_path import draw_support_path
from aucuba.risks import Sample
from aucuba.solvers import Status


class PartialAUCClassifierCV(RegionClassifier):
    r"""Linear scorer for a region of the ROC curve, with nothing left to tune.

    .. math::
        w = (1 - t)\, w_{\mathrm{LR}} + t\, w_{\mathrm{region}}, \qquad
        t = \max\bigl(0,\, 2 \Phi(z) - 1\bigr), \qquad
        z = \frac{\mathrm{pAUC}_{\mathrm{region}} - \mathrm{pAUC}_{\mathrm{LR}}}{\mathrm{SE}}

    (1) C of logistic regression by cross-validated log-loss, unless another C is ahead in the region by
    more than one standard error; (2) fits of `PartialAUCClassifier` on ten random halvings of the data
    (fewer of many rows), whose mean departure from logistic regression of the same rows is added to
    logistic regression of all rows; (3) a blend of the two, in which the region's own model has the
    weight ``t``: the probability that it is the better one minus the probability that it is the worse,
    given the difference of the partial AUC of both on the rows left out and its paired standard error,
    and 0 unless it leads. Where the region has nothing to gain the result stays at or near logistic
    regression, so on new data it is rarely worse and often better.

    Probabilities are calibrated by logistic regression on the held-out scores of the model chosen.
    X is not scaled here; put a `StandardScaler` before. Ranking needs no ``class_weight``. Parts of an
    array of more than 200 columns are fitted in single precision, all of its rows in double precision.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    Cs : int or array-like, default=7
        Values of C to try, or how many between 1e-3 and 1e3.
    cv : int, splitter, iterable of splits or None, default=None
        None: five stratified folds for C, and halvings for the fits on half the data (queries stay
        whole): ten, of more than 10,000 rows in inverse proportion fewer, at least two. Other splits
        are used for both.
    min_tpr, fpr_weight
        As in `PartialAUCClassifier`.
    scoring : {"partial_auc", "average_precision"}, default="partial_auc"
        What held-out scores are compared by where C, the columns and the blend are chosen: partial AUC
        in the region, or average precision. The fits are for the region either way.
    max_features : int or None, default=None
        Use at most this many columns: those of best log-loss, by an L1 path and swaps, unless others
        are ahead in the region by more than one standard error on rows left out. Everything else is
        chosen with these columns alone. X must be an array or sparse matrix in memory.
    feature_groups : array-like of shape (n_features,), default=None
        A label for each column; columns of one label, such as the indicators of a category, enter
        together, and ``max_features`` counts labels.
    sign : array-like of shape (n_features,) or mapping, default=None
        1 or -1 for columns whose coefficients must not point the other way (1 is towards
        ``pos_label_``), 0 for others; or these by name or place. A column that would is left out.
    pos_label : label, default=None
        The positive class, which the region refers to; None is ``classes_[1]``. Scores and
        coefficients always grow towards ``classes_[1]``, as in scikit-learn.
    n_jobs : int or None, default=None
        Number of parallel jobs; the result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the random splits.

    Attributes
    ----------
    coef_, intercept_, threshold_, predict_fpr_, classes_, pos_label_
        As in `PartialAUCClassifier`.
    calibration_ : ndarray of shape (2,)
        Slope and intercept of the log-odds of ``pos_label_`` as a function of its score, fitted to
        held-out scores; to training scores where there are too few rows for cross-validation.
    C_ : float
        The C chosen.
    blend_ : float
        Weight ``t`` of the region's own model: 0, logistic regression, where it does not lead on
        held-out rows, .68 where it leads by one standard error, .95 by two.
    logistic_coef_ : ndarray of shape (1, n_features)
        Logistic regression, scaled to training scores of unit variance.
    region_coef_ : ndarray of shape (1, n_features)
        The model trained for the region, scaled likewise.
    partial_auc_ : dict
        Partial AUC of rows left out, averaged over the fits on half-samples: of ``"logistic"``, of
        ``"region"``, and of both with the weight chosen, ``"blend"``. Their average precision with
        ``scoring="average_precision"``, as in the next two.
    partial_auc_error_ : dict
        Standard error of the difference that decided, ``"region - logistic"``.
    cv_results_ : dict of ndarray
        For every C: ``"C"``, ``"log_loss"`` and ``"logistic"`` (partial AUC of logistic regression).
    n_iter_ : int
        Iterations of the logistic regression on all rows.
    status_ : str
        The weight of the region's own model, and why.
    support_ : ndarray of int
        With ``max_features`` or ``sign``: the columns in use.
    support_path_ : list of dict
        With ``max_features``: ``"size"``, ``"columns"`` and ``"coef"`` (of the log-odds) of the best
        supports by log-loss, from one group to ``max_features``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifierCV
    >>> X, y = make_classification(600, weights=[0.8], flip_y=0.1, random_state=0)
    >>> model = PartialAUCClassifierCV((0.0, 0.2), random_state=0).fit(X, y)
    >>> ahead = model.partial_auc_["region"] - model.partial_auc_["logistic"]
    >>> (model.blend_ > 0) == (ahead > 0)
    True
    """

    _keeps_half = True

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        Cs: Any = 7,
        cv: Any = None,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        scoring: str = "partial_auc",
        max_features: int | None = None,
        feature_groups: Any = None,
        sign: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fpr_range = fpr_range
        self.Cs = Cs
        self.cv = cv
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
        self.scoring = scoring
        self.max_features = max_features
        self.feature_groups = feature_groups
        self.sign = sign
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> PartialAUCClassifierCV:
        """Choose the model and train it.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask collection} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows (for given splits; random splits are drawn over
            rows).
        qid : array-like of shape (n_samples,), default=None
            Query of each row; queries are never split.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as a patient or an account, stay together in every split.
        time : array-like of shape (n_samples,), default=None
            When each row was seen: numbers, dates, or dates as ISO text. Everything is chosen by scores
            of blocks of equal count in order of time (``cv``, by default five), each scored by models
            of earlier rows alone; earlier rows of a tested group or query do not train. The model
            itself is fitted on all rows.

        Returns
        -------
        PartialAUCClassifierCV
            The fitted classifier.
        """
        Cs = Cs_to_try(self.Cs)
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        check_choice(self.scoring, "scoring", tuple(COMPARISONS))
        with fresh_fit(self):
            design, sample, kept = self._validate(X, y, sample_weight, qid)
            kept = kept.resampled_by(groups, time)
            # Splits and held-out scores live where the classes of the rows do.
            sample = sample.moved_to(home_of_scores(design, sample, region))
            warn_if_badly_scaled(design)
            splits = Splits.from_cv(self.cv, kept, sample.positive, self.random_state)
            limit = len(splits.folds) * (1 + splits.in_time) + len(splits.halves)
            with one_blas_thread(), fit_monitor(self, X, y, max_iter=limit) as monitor:
                chosen = self._choose_within(design, sample, region, splits, Cs, Progress(monitor))
                scores = at_home(design.exact().scores(chosen.coef), sample)
                self._adopt_linear(chosen.coef, scores, sample, region.upper_limit)
                self.calibration_ = chosen.calibration(scores, sample)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute calibrated probabilities of both classes, which the threshold does not move.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities in the order of ``classes_``.
        """
        scores = self._oriented(self._unmoved_scores(X))
        scores = arrays_of(scores).host(scores)
        slope, intercept = self.calibration_
        return self._probabilities(slope * scores + intercept)

    def _choose_within(
        self, design: RowDesign, sample: Sample, region: Region, *rest: Any
    ) -> ChosenModel:
        """Choose the columns first, where they are limited, and the model with these alone."""
        width, names = design.zeros().size, getattr(self, "feature_names_in_", None)
        constraints = Constraints.from_params(
            self.max_features, self.feature_groups, self.sign, names, width
        )
        if constraints is None:
            return self._choose(design, sample, region, *rest)
        if not isinstance(design, TableDesign):
            raise ValueError(
                "max_features and sign need an array or a sparse matrix in memory; leave them out, or "
                "choose the columns on a sample of rows."
            )
        columns, splits = np.arange(width), rest[0].usable(sample)
        if self.max_features is not None:
            found = choose_support(
                design, sample, region, splits.folds, constraints, COMPARISONS[self.scoring]
            )
            columns, self.support_path_ = found.columns, found.path
        while columns.size:
            chosen = self._choose(design.columns(columns), sample, region, *rest)
            wrong = constraints.violated(columns, chosen.coef)
            if not wrong.any():
                self.support_ = columns
                return self._among_all(chosen, columns, width)
            columns = columns[~wrong]
        raise ValueError(
            "No column is left: every coefficient would have the sign that is ruled out. Check sign, "
            "whose 1 is towards pos_label."
        )

    def _among_all(self, chosen: ChosenModel, columns: IntArray, width: int) -> ChosenModel:
        """Give the columns that are not in use the coefficient 0."""
        for name in ("logistic_coef_", "region_coef_"):
            setattr(self, name, among_columns(getattr(self, name), columns, width))
        return replace(chosen, coef=among_columns(chosen.coef, columns, width))

    def plot_support_path(self, ax: Any = None) -> Any:
        """Draw the coefficients of the best supports by log-loss against their size.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None is a new figure.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self, "support_path_")
        names = getattr(self, "feature_names_in_", None)
        return draw_support_path(self.support_path_, self.support_, names, ax)

    def _choose(
        self,
        design: RowDesign,
        sample: Sample,
        region: Region,
        splits: Splits,
        Cs: FloatArray,
        progress: Progress,
    ) -> ChosenModel:
        """Choose C, train the region's own model, choose the blend."""
        splits = splits.usable(sample)
        if not splits.can_compare(sample):
            return self._keep_logistic(design, sample, float(Cs[Cs.size // 2]))
        path = LogisticPath(design, sample)
        # Fits of parts of the rows choose C and the blend, or are averaged.
        rough = design.in_single_precision() if path.is_wide() else design
        parts = self._over(
            splits.folds,
            progress,
            logistic_path,
            rough,
            sample,
            Cs,
            path.fit(float(Cs[0])),
        )
        joined = partial(OutOfFold.from_parts, sample.n_rows, splits.folds)
        chosen, self.cv_results_ = choose_C(
            joined(part.log_odds for part in parts), sample, region, Cs, COMPARISONS[self.scoring]
        )
        logistic = joined(part.standardised(chosen) for part in parts)
        # Of many rows the scores at every C need much memory.
        del parts
        self.C_ = float(Cs[chosen])
        full = path.fit(self.C_)
        anchor = normalised(full.coef, design, sample.weight)
        self.n_iter_ = full.n_iter
        if progress.stopped:
            self._stop_at_logistic(anchor)
            return ChosenModel(anchor, logistic.covered, logistic.scores[0])
        region.warned_for_training(sample, FALLBACK)
        own, held_out = self._moved(rough, sample, region, splits, full, anchor, progress)
        # Like with like: both were trained on the same halves, and their scores averaged alike.
        halves_of_logistic, halves_of_own = held_out.scores
        blend = ChosenBlend.from_scores(
            sample.take(held_out.covered),
            region,
            halves_of_logistic,
            halves_of_own,
            COMPARISONS[self.scoring],
        )
        self.blend_, self.status_ = blend.weight, blend.status
        self.partial_auc_, self.partial_auc_error_ = blend.partial_auc, blend.errors
        self._keep_parts(anchor, own)
        rows, at_logistic, at_own = logistic.in_common(held_out)
        blended = self._mixed(logistic.scores[0][at_logistic], halves_of_own[at_own])
        return ChosenModel(self._mixed(anchor, own), rows, blended)

    def _mixed(self, of_logistic: Vector, of_own: Vector) -> Vector:
        return (1.0 - self.blend_) * of_logistic + self.blend_ * of_own

    def _keep_parts(self, anchor: FloatArray, own: FloatArray) -> None:
        self.logistic_coef_ = self._oriented(anchor[np.newaxis])
        self.region_coef_ = self._oriented(own[np.newaxis])

    def _over(
        self, splits: list[Split], progress: Progress, task: Callable[..., Any], *args: Any
    ) -> list[Any]:
        """Run one task per split until a callback asks to stop."""
        return map_parallel(
            task, progress.until_stopped(splits), *args, n_jobs=self.n_jobs, progress=progress
        )

    def _moved(
        self,
        design: RowDesign,
        sample: Sample,
        region: Region,
        splits: Splits,
        full: LogisticFit,
        anchor: FloatArray,
        progress: Progress,
    ) -> tuple[FloatArray, OutOfFold]:
        """Add the mean departure of fits on half-samples from their anchors to that of all rows.

        Returns the model, scaled, and the scores of the rows left out by the anchors and by the fits.
        A mean of the fits themselves would lose what logistic regression gains by the other half.
        """
        judged = splits.judged
        wanted = [*judged, *splits.halves] if splits.in_time else judged
        fits = self._over(wanted, progress, anchored_half, design, sample, region, self.C_, full)
        averaged = fits[len(judged) :] if splits.in_time else fits
        # Stopped early, the fits on blocks of time are all there is.
        moved = anchor + np.mean([departure for departure, _ in averaged or fits], axis=0)
        scale = score_moments(moved, design, sample.weight)[1]
        parts = [part / arrays_of(part).vector([[1.0], [scale]]) for _, part in fits[: len(judged)]]
        return moved / scale, OutOfFold.from_parts(sample.n_rows, judged, parts)

    def _stop_at_logistic(self, anchor: FloatArray) -> None:
        """Keep logistic regression: a callback asked to stop before the region's own model."""
        self.blend_, self.status_ = 0.0, str(Status.STOPPED_BY_CALLBACK)
        self._keep_parts(anchor, anchor)
        self.partial_auc_, self.partial_auc_error_ = {}, {}

    def _keep_logistic(self, design: RowDesign, sample: Sample, C: float) -> ChosenModel:
        """Keep logistic regression, with a warning: there are too few rows to cross-validate."""
        advice = few_rows_advice(f"plain logistic regression with C={C:g} is returned")
        warn_user(advice)
        self.C_, self.blend_ = C, 0.0
        coef, full = anchor_direction(design, sample, C)
        self.n_iter_ = full.n_iter
        self._keep_parts(coef, coef)
        self.status_ = "Logistic regression kept: too few rows for cross-validation."
        self.partial_auc_, self.partial_auc_error_, self.cv_results_ = {}, {}, {}
        return ChosenModel(coef)
