"""Linear and kernel classifiers trained for a region of the ROC curve."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._callbacks import fit_monitor, logged, with_callbacks
from aucuba._base._fit_guard import fresh_fit
from aucuba._base._threads import one_blas_thread
from aucuba._base._typing import ArrayLike, FloatArray, IntArray, Monitor
from aucuba._base._validation import check_choice, check_positive_number
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._roc._rank_weights import FprWeight
from aucuba._roc._region import Region
from aucuba.design import KernelDesign, RowDesign, TableDesign
from aucuba.linear._anchored_fit import (
    KERNEL_OBJECTIVE_TOL,
    OBJECTIVE_TOL,
    anchor_direction,
    anchored_fit,
    training_region,
)
from aucuba.linear._base import RegionClassifier, check_stopping, warn_if_badly_scaled
from aucuba.linear._convergence import convergence_advice
from aucuba.linear._convex_fit import SOLVERS, ConvexFit
from aucuba.linear._kernel import KERNELS, MAX_KERNEL_ROWS, Kernel, check_kernel_matrix
from aucuba.linear._summary import describe
from aucuba.risks import Sample
from aucuba.solvers import Solution, Start, Status

_SURROGATES = ("direct", "tight", "structural")
# Iterations: the anchored descent is meant to stop early, plane methods to reach their gap.
_MAX_ITER = {"direct": 100, "tight": 1000, "structural": 1000}


class PartialAUCClassifier(RegionClassifier):
    r"""Linear or kernel scorer trained for the part of the ROC curve that matters.

    .. math::
        \min_w \ \tfrac12 |w|^2 + C\, R(Xw) \quad\text{(convex surrogates)}, \qquad
        \min_w \ R(Xw) + \tfrac{\lambda}{2}\, \overline{(Xw - Xu)^2} \quad\text{(direct)}

    with R a risk of the partial AUC in the region and, for the direct surrogate, u the direction of
    logistic regression (the anchor). X is never scaled here; put a `StandardScaler` before. Ranking
    needs no ``class_weight``: positives and negatives are compared pair by pair, whatever their
    numbers. For probabilities wrap the classifier in `CalibratedClassifierCV` with ``ensemble=False``.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter, ``0 <= alpha < beta <= 1``.
    surrogate : {"direct", "tight", "structural"}, default="direct"
        ``"direct"``: a bounded loss, by one descent that starts at logistic regression and stays near
        it; the best on new data in our studies, not convex. ``"tight"``: hinge on the range's
        negatives. ``"structural"``: the structural SVM of the ICML 2013 paper. The last two are convex
        and come with a certificate.
    C : float, default=1.0
        Weight of the risk against the norm. For ``"direct"`` the C of its logistic regression.
    min_tpr : float, default=0.0
        Lowest true positive rate that matters (two-way partial AUC); for tight and direct.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        Weight of the false positive rates u inside ``fpr_range``, up to a constant factor: a
        non-negative function of u, 1/u (the range must start above 0), exp(-alpha u), or None for all
        alike. A function cannot be saved; the named weights can.
    kernel : {"linear", "rbf", "poly", "precomputed"}, default="linear"
        Convex surrogates use the exact kernel up to 10,000 rows; beyond, and always for
        ``"direct"``, Nystroem features stand in for it.
    gamma : float or "scale", default="scale"
        Kernel coefficient; "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    n_components : int, default=300
        Number of Nystroem features.
    tight_form : {"bound", "dc"}, default="bound"
        For ``"tight"`` with alpha > 0: its convex bound, or the hinge itself by
        difference-of-convex programming, started at logistic regression, without a certificate.
    solver : {"bundle", "cutting_plane"}, default="bundle"
        For the convex surrogates. The second is the plain method of the paper, for comparison.
    tol : float, default=1e-3
        Certified gap ``(objective - lower bound) / C`` at which a convex fit stops.
    rtol : float or None, default=1e-3
        Certified gap ``(objective - lower bound) / objective``, which a convex fit must reach too;
        None switches it off.
    max_iter : int, default=None
        Limit on iterations; by default 1000 for the convex surrogates, 100 for ``"direct"``.
    warm_start : bool, default=False
        Start a linear convex fit from the present ``coef_``.
    pos_label : label, default=None
        The class to be found, of which the region speaks; None is ``classes_[1]``. Scores and
        coefficients always grow towards ``classes_[1]``, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        For the sampling of Nystroem features; nothing else is random.
    verbose : int, default=0
        Above 0, log every iteration to the logger ``aucuba`` at level INFO.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of a linear model. For ``"direct"`` scaled to training scores of unit variance.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, signed like ``coef_``.
    threshold_ : float
        The score of ``pos_label_`` above which it is predicted: its training FPR is the upper limit
        of the region; for a limit of 1, balanced training accuracy is best.
    predict_fpr_ : float
        The false positive rate that ``threshold_`` was set for.
    dual_coef_, kernel_rows_ : ndarray
        Exact kernel models: coefficients, and the training rows that carry them (their indices for
        a precomputed kernel).
    kernel_params_ : tuple
        Kernel models: name, gamma, degree and constant of the kernel.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The class to be found.
    objective_, lower_bound_, gap_, relative_gap_ : float
        Value reached, certified lower bound, and their difference over C and over the objective. The
        bound is lowered by what rounding may have added to it. nan for fits that are not convex.
    n_iter_ : int
    status_ : str
        Why the fit stopped.
    history_ : list of dict
        One dict per iteration.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> X, y = make_classification(500, weights=[0.8], random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2), surrogate="tight").fit(X, y)
    >>> model.gap_ < 1e-3
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        surrogate: str = "direct",
        C: float = 1.0,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int = 300,
        tight_form: str = "bound",
        solver: str = "bundle",
        tol: float = 1e-3,
        rtol: float | None = 1e-3,
        max_iter: int | None = None,
        warm_start: bool = False,
        pos_label: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.surrogate = surrogate
        self.C = C
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.tight_form = tight_form
        self.solver = solver
        self.tol = tol
        self.rtol = rtol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> PartialAUCClassifier:
        """Train the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask collection} of shape (n_samples, n_features)
            Or the kernel matrix, for ``kernel="precomputed"``.
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
        self._check_params()
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        with fresh_fit(self) as before:
            warm = before.get("coef_") if self.warm_start else None
            design, sample, kept = self._validate(X, y, sample_weight, qid)
            if self.kernel == "precomputed" and self.n_features_in_ != len(y):
                raise ValueError(
                    "A precomputed kernel must be square in fit, got shape "
                    f"({len(y)}, {self.n_features_in_})."
                )
            with one_blas_thread(), fit_monitor(self, X, y, self._max_iter()) as monitor:
                report = logged(monitor, self.verbose)
                if self.kernel == "linear":
                    warn_if_badly_scaled(design)
                    self._fit_table(design, sample, region, report, warm)
                else:
                    if design.table is None:
                        raise ValueError(
                            f"kernel={self.kernel!r} takes arrays and CSR matrices, got "
                            f"{type(X).__module__}.{type(X).__name__}; use kernel='linear'."
                        )
                    self._fit_kernel(design.table, sample, region, report, warm, kept.index)
        # The best model so far is kept, and the interrupt still ends what called for it.
        if self.status_ == str(Status.INTERRUPTED):
            raise KeyboardInterrupt
        return self

    def _raw_scores(self, X: Any) -> FloatArray:
        """Score validated rows towards ``classes_[1]``, through the kernel if there is one."""
        if self.kernel == "linear":
            return super()._raw_scores(X)
        if self.kernel == "precomputed":
            X = X[:, self.kernel_rows_]
        if hasattr(self, "feature_map_"):
            return super()._raw_scores(self.feature_map_.transform(X))
        if self.kernel != "precomputed":
            X = Kernel(*self.kernel_params_).matrix(X, self.kernel_rows_)
        return np.asarray(X @ self.dual_coef_)

    def summary(self) -> str:
        """Describe in one paragraph what was fitted and how well."""
        return describe(self)

    def _check_params(self) -> None:
        check_choice(self.surrogate, "surrogate", _SURROGATES)
        check_choice(self.kernel, "kernel", KERNELS)
        check_choice(self.solver, "solver", tuple(SOLVERS))
        check_choice(self.tight_form, "tight_form", ("bound", "dc"))
        check_positive_number(self.C, "C")
        check_stopping(self.tol, self.rtol, 1 if self.max_iter is None else self.max_iter)

    def _max_iter(self) -> int:
        return _MAX_ITER[self.surrogate] if self.max_iter is None else int(self.max_iter)

    def _fit_table(
        self,
        design: RowDesign,
        sample: Sample,
        region: Region,
        monitor: Monitor | None,
        warm: FloatArray | None,
    ) -> None:
        """Fit a linear model on X as it is, a convex one from the previous coefficients."""
        if self.surrogate == "direct":
            self._fit_anchored(design, sample, region, monitor)
            return
        fit = self._convex_fit()
        if warm is not None and warm.shape[1] == design.zeros().size:
            start = Start(self._oriented(warm[0]))
        else:
            start = fit.start(design, sample, region)
        solution = fit.solve(design, sample, region, start, monitor)
        scores = design.scores(solution.coef) if solution.scores is None else solution.scores
        self._adopt_linear(solution.coef, scores, sample, region.upper_limit)
        self._finish(solution)

    def _fit_anchored(
        self, design: RowDesign, sample: Sample, region: Region, monitor: Monitor | None
    ) -> None:
        trained_on, notice = training_region(sample, region)
        if notice:
            warn_user(notice, FewRowsWarning)
        anchor, logistic = anchor_direction(design, sample, self.C)
        fit = anchored_fit(
            design,
            sample,
            trained_on,
            anchor,
            max_iter=self._max_iter(),
            objective_tol=OBJECTIVE_TOL if self.kernel == "linear" else KERNEL_OBJECTIVE_TOL,
            monitor=monitor,
        )
        scores = design.exact().scores(fit.coef)
        self._adopt_linear(fit.coef, scores, sample, region.upper_limit)
        self.anchor_coef_ = self._oriented(fit.anchor[np.newaxis])
        if fit.solution is None:
            self.objective_ = self.lower_bound_ = self.gap_ = self.relative_gap_ = np.nan
            self.n_iter_ = logistic.n_iter
            self.history_ = []
            self.status_ = "Logistic regression kept: too few rows in the range to train for it."
        else:
            self._finish(fit.solution)

    def _fit_kernel(
        self,
        X: Any,
        sample: Sample,
        region: Region,
        monitor: Monitor | None,
        warm: FloatArray | None,
        kept: IntArray,
    ) -> None:
        """Fit a kernel model, exactly where the surrogate and the size of the matrix allow it."""
        if not sparse.issparse(X):
            # Products round differently in another memory order, and the descent on kernel features,
            # badly conditioned and stopped early, would carry the difference into the model.
            X = np.ascontiguousarray(X)
        kernel = Kernel.from_params(
            self.kernel, self.gamma, self.degree, self.coef0, X, sample.weight
        )
        self.kernel_params_ = astuple(kernel)
        precomputed = self.kernel == "precomputed"
        if precomputed:
            X = X[:, kept]
            check_kernel_matrix(X)
        if self._uses_features(X.shape[0]):
            n_components = int(
                check_positive_number(self.n_components, "n_components", integer=True)
            )
            features = kernel.features(min(n_components, X.shape[0]), self.random_state)
            self.feature_map_ = features
            self.kernel_rows_ = kept
            self._fit_table(TableDesign(features.fit_transform(X)), sample, region, monitor, warm)
            return
        design = KernelDesign(X.astype(np.float64) if precomputed else kernel.matrix(X, X))
        solution = self._convex_fit().solve(design, sample, region, Start(), monitor)
        # A zero model keeps one row, so that kernels with new rows are defined.
        carries = np.flatnonzero(solution.coef) if solution.coef.any() else np.array([0])
        self.dual_coef_ = self._oriented(solution.coef[carries])
        self.kernel_rows_ = kept[carries] if precomputed else X[carries]
        scores = design.scores(solution.coef) if solution.scores is None else solution.scores
        self._adopt_threshold(scores, sample, region.upper_limit)
        self._finish(solution)

    def _convex_fit(self) -> ConvexFit:
        return ConvexFit(
            self.surrogate,
            self.tight_form,
            self.solver,
            C=self.C,
            tol=self.tol,
            rtol=self.rtol,
            max_iter=self._max_iter(),
        )

    def _finish(self, solution: Solution) -> None:
        """Store how the solver ended, and warn if that is not what was asked for."""
        self._adopt_certificate(solution)
        if self.surrogate != "direct":
            advice = convergence_advice(solution, self.surrogate, self.C, self.tol, self.rtol)
            if advice is not None:
                warn_user(advice)

    def _uses_features(self, n_rows: int) -> bool:
        """Tell whether Nystroem features replace the kernel; warn where the size forces it."""
        if self.surrogate == "direct":
            return True
        if self.kernel == "precomputed" or n_rows <= MAX_KERNEL_ROWS:
            return False
        warn_user(
            f"A kernel matrix of {n_rows} rows would take {n_rows**2 * 8 / 1e9:.0f} GB; using "
            f"{self.n_components} Nystroem features instead. Raise n_components for a closer fit.",
        )
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
