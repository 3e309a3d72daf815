"""The linear classifier anchored at logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._callbacks import fit_monitor, logged, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_positive_number
from aucuba._roc._region import FprWeight, Region
from aucuba.linear._anchored_fit import (
    FALLBACK,
    OBJECTIVE_TOL,
    anchor_direction,
    anchored_fit,
)
from aucuba.linear._base import RegionClassifier, check_stopping, warn_if_badly_scaled


class PartialAUCClassifier(RegionClassifier):
    r"""Linear scorer trained for the part of the ROC curve that matters.

    .. math::
        \min_w \ R(Xw) + \tfrac{\lambda}{2}\, \overline{(Xw - Xu)^2}

    with R the partial AUC's smooth ramp loss, u the direction of logistic regression (the anchor) and
    :math:`\lambda = 0.1`. The loss is bounded, so a few outliers cannot dominate it; it is not convex,
    so one descent starts at the anchor and the penalty keeps it near. In our studies it ranks new
    rows better than the convex losses of `PartialAUCSVC`.

    X is not scaled here; put a `StandardScaler` before this estimator. Ranking needs no
    ``class_weight``: the loss compares positives with negatives pair by pair, whatever their numbers.
    For probabilities use `PartialAUCClassifierCV`, or wrap the classifier in `CalibratedClassifierCV`
    with ``ensemble=False``. For curved boundaries put `sklearn.kernel_approximation.Nystroem` before
    it and set ``tol=1e-3``.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter, ``0 <= alpha < beta <= 1``.
    C : float, default=1.0
        Inverse strength of the penalty of the logistic regression, as in scikit-learn's.
    min_tpr : float, default=0.0
        Lowest true positive rate that matters (two-way partial AUC).
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        Weight of the false positive rates u inside ``fpr_range``, up to a constant factor: a
        non-negative function of u, 1/u (the range must start above 0), exp(-alpha u), or None for
        equal weights. A model with a function cannot be saved; one with a named weight can.
    tol : float, default=1e-5
        The descent stops where an iteration lowers the objective by less than this fraction of it. On
        kernel features use 1e-3: stopping early regularises them.
    max_iter : int, default=100
        Limit on iterations of the descent.
    pos_label : label, default=None
        The positive class, which the region refers to; None is ``classes_[1]``. Scores and
        coefficients always grow towards ``classes_[1]``, as in scikit-learn.
    verbose : int, default=0
        Above 0, log every iteration to the logger ``aucuba`` at level INFO.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights, scaled to training scores of unit variance.
    anchor_coef_ : ndarray of shape (1, n_features)
        Weights of the logistic regression, scaled likewise.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, signed like ``coef_``.
    threshold_ : float
        The score of ``pos_label_`` above which it is predicted. The training rows have the upper
        limit of the region as their FPR there; for a limit of 1, the best balanced accuracy.
    predict_fpr_ : float
        The false positive rate that ``threshold_`` was set for.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The positive class.
    objective_ : float
        The value reached; nan where there were too few rows to train for the region.
    n_iter_ : int
    status_ : str
        Why the fit stopped.
    history_ : list of dict
        One dict per iteration.

    See Also
    --------
    PartialAUCClassifierCV : Chooses C and the weight of logistic regression by cross-validation.
    PartialAUCSVC : Convex losses with a certificate, and exact kernels.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.metrics import partial_auc_score
    >>> X, y = make_classification(500, weights=[0.8], random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    >>> trained = partial_auc_score(y, X @ model.coef_[0], fpr_range=(0.0, 0.2))
    >>> logistic = partial_auc_score(y, X @ model.anchor_coef_[0], fpr_range=(0.0, 0.2))
    >>> trained > logistic
    True
    """

    _keeps_half = True

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        C: float = 1.0,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        tol: float = OBJECTIVE_TOL,
        max_iter: int = 100,
        pos_label: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.C = C
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
        self.tol = tol
        self.max_iter = max_iter
        self.pos_label = pos_label
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> PartialAUCClassifier:
        """Train the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, tensor, Dask collection} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows.
        qid : array-like of shape (n_samples,), default=None
            Query of each row: pairs are compared within queries only, and every query counts alike.

        Returns
        -------
        PartialAUCClassifier
            The fitted classifier.
        """
        check_positive_number(self.C, "C")
        check_stopping(self.tol, None, self.max_iter)
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        max_iter = int(self.max_iter)
        with fresh_fit(self):
            design, sample, _ = self._validate(X, y, sample_weight, qid)
            warn_if_badly_scaled(design)
            trained_on = region.warned_for_training(sample, FALLBACK)
            with one_blas_thread(), fit_monitor(self, X, y, max_iter) as monitor:
                anchor, logistic = anchor_direction(design, sample, self.C)
                fit = anchored_fit(
                    design,
                    sample,
                    trained_on,
                    anchor,
                    max_iter=max_iter,
                    objective_tol=self.tol,
                    monitor=logged(monitor, self.verbose),
                )
                scores = design.exact().scores(fit.coef)
                self._adopt_linear(fit.coef, scores, sample, region.upper_limit)
            self.anchor_coef_ = self._oriented(fit.anchor[np.newaxis])
            if fit.solution is None:
                self.objective_, self.history_ = np.nan, []
                self.n_iter_ = logistic.n_iter
                self.status_ = (
                    "Logistic regression kept: too few rows in the range to train for it."
                )
            else:
                self._adopt_run(fit.solution)
        if fit.solution is not None:
            # The best model so far is kept, and the interrupt still reaches the caller.
            fit.solution.raise_interrupt()
        return self

    def summary(self) -> str:
        """Describe in one paragraph what was fitted and how well."""
        certificate = "The problem is not convex, so there is no certificate."
        return self._described(f"the ramp loss, anchored at C={self.C:g}", certificate)
