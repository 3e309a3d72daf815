"""Support vector machines for a region of the ROC curve, with linear or kernel scores."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._callbacks import fit_monitor, logged, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import ArrayLike, FloatArray, IntArray, Monitor
from aucuba._base._validation import check_choice, check_positive_number
from aucuba._base._warnings import warn_user
from aucuba._roc._region import FprWeight, Region
from aucuba.design import KernelDesign, RowDesign, TableDesign
from aucuba.linear._base import RegionClassifier, check_stopping, warn_if_badly_scaled
from aucuba.linear._convex_fit import LOSSES, SOLVERS, ConvexFit, convergence_advice
from aucuba.linear._kernel import KERNELS, MAX_KERNEL_ROWS, Kernel, check_kernel_matrix
from aucuba.risks import Sample
from aucuba.solvers import Solution, Start

# The default; "tight_dc" takes no other.
_RTOL = 1e-3


class PartialAUCSVC(RegionClassifier):
    r"""Linear or kernel support vector machine for a region of the ROC curve.

    .. math::
        \min_w \ \tfrac12 |w|^2 + C\, R(Xw)

    with R a hinge loss of the partial AUC in the region. X is not scaled here; put a `StandardScaler`
    before this estimator. Ranking needs no ``class_weight``: the loss compares positives with
    negatives pair by pair, whatever their numbers. Choose C with ``GridSearchCV`` and a scorer of the
    region, and wrap the classifier in ``CalibratedClassifierCV`` for probabilities.

    On most real tables `PartialAUCClassifier`, whose loss is bounded, ranks new rows better.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter, ``0 <= alpha < beta <= 1``.
    loss : {"structural", "tight", "tight_dc"}, default="structural"
        - "structural": the structural SVM of Narasimhan and Agarwal (ICML 2013), convex.
        - "tight": the hinge on the range's negatives; where alpha is above 0, a convex upper bound
          of it. Convex.
        - "tight_dc": that hinge itself for alpha above 0, by difference-of-convex programming from
          logistic regression. Not convex: a local minimum without a certificate.
    C : float, default=1.0
        Weight of the loss against the norm.
    kernel : {"linear", "rbf", "poly", "precomputed"}, default="linear"
        The kernel is exact up to 10,000 rows; Nystroem features approximate it beyond.
    gamma : float or "scale", default="scale"
        Coefficient of the rbf and poly kernels; "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=1.0
        Constant of the poly kernel.
    n_components : int, default=300
        Number of Nystroem features.
    min_tpr : float, default=0.0
        Lowest true positive rate that matters (two-way partial AUC). Not for "structural".
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        Weight of the false positive rates u inside ``fpr_range``, up to a constant factor: a
        non-negative function of u, 1/u (the range must start above 0), exp(-alpha u), or None for
        equal weights. A model with a function cannot be saved; one with a named weight can. Not for
        "tight_dc".
    solver : {"bundle", "cutting_plane"}, default="bundle"
        "cutting_plane" is the plain method of the paper, for comparison. Not for "tight_dc".
    tol : float, default=1e-3
        The fit stops at a certified gap ``(objective - lower bound) / C`` below ``tol``. For
        "tight_dc" this is the gap of each convex problem, and the decrease below which rounds end.
    rtol : float or None, default=1e-3
        The fit must also reach a gap ``(objective - lower bound) / objective`` below ``rtol``; None
        switches this off. Not for "tight_dc", which ends by ``tol`` alone.
    max_iter : int, default=1000
        Limit on iterations.
    warm_start : bool, default=False
        Start a linear fit from the present ``coef_``.
    pos_label : label, default=None
        The positive class, which the region refers to; None is ``classes_[1]``. Scores and
        coefficients always grow towards ``classes_[1]``, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Seed for the sampling of Nystroem features; nothing else is random.
    verbose : int, default=0
        Above 0, log every iteration to the logger ``aucuba`` at level INFO.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of a linear model, or of the Nystroem features.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, signed like ``coef_``.
    threshold_ : float
        The score of ``pos_label_`` above which it is predicted. The training rows have the upper
        limit of the region as their FPR there; for a limit of 1, the best balanced accuracy.
    predict_fpr_ : float
        The false positive rate that ``threshold_`` was set for.
    dual_coef_, kernel_rows_ : ndarray
        Exact kernel models: coefficients, and the training rows they belong to (indices for a
        precomputed kernel).
    feature_map_ : Nystroem
        Large kernel models: the fitted map to features.
    kernel_params_ : tuple
        Kernel models: name, gamma, degree and constant of the kernel.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The positive class.
    objective_ : float
        The value reached.
    lower_bound_, gap_, relative_gap_ : float
        Certified lower bound of the objective, and the distance from it over C and over the
        objective. The bound allows for rounding errors. Not set for "tight_dc".
    n_iter_ : int
    status_ : str
        Why the fit stopped.
    history_ : list of dict
        One dict per iteration.

    See Also
    --------
    PartialAUCClassifier : A bounded loss, by descent from logistic regression.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCSVC
    >>> X, y = make_classification(500, weights=[0.8], random_state=0)
    >>> model = PartialAUCSVC((0.0, 0.2), loss="tight").fit(X, y)
    >>> model.gap_ < 1e-3
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        loss: str = "structural",
        C: float = 1.0,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int = 300,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        solver: str = "bundle",
        tol: float = 1e-3,
        rtol: float | None = _RTOL,
        max_iter: int = 1000,
        warm_start: bool = False,
        pos_label: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
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
    ) -> PartialAUCSVC:
        """Train the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, tensor, Dask collection} of shape (n_samples, n_features)
            Or the kernel matrix, for ``kernel="precomputed"``. Kernels take arrays and CSR matrices.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows.
        qid : array-like of shape (n_samples,), default=None
            Query of each row: pairs are compared within queries only, and every query counts alike.
            Not for "tight_dc".

        Returns
        -------
        PartialAUCSVC
            The fitted classifier.
        """
        fit = self._checked_fit()
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        with fresh_fit(self) as before:
            warm = before.get("coef_") if self.warm_start else None
            design, sample, kept = self._validate(X, y, sample_weight, qid)
            region.warn_if_few(sample)
            with one_blas_thread(), fit_monitor(self, X, y, fit.max_iter) as monitor:
                report = logged(monitor, self.verbose)
                if self.kernel == "linear":
                    warn_if_badly_scaled(design)
                    solution = self._fit_table(fit, design, sample, region, report, warm)
                else:
                    table = self._kernel_table(design, X, y)
                    solution = self._fit_kernel(
                        fit, table, sample, region, report, warm, kept.index
                    )
            self._adopt_certificate(solution)
        # The best model so far is kept, and the interrupt still reaches the caller.
        solution.raise_interrupt()
        return self

    def summary(self) -> str:
        """Describe in one paragraph what was fitted and how well."""
        size = None
        if hasattr(self, "dual_coef_"):
            size = f"a {self.kernel} kernel model on {self.dual_coef_.size} training rows"
        certificate = "The problem is not convex, so there is no certificate."
        if hasattr(self, "gap_"):
            certificate = (
                f"The objective is {self.objective_:.6g}; no model is below "
                f"{self.lower_bound_:.6g} (gap {self.gap_:.2g} in units of the risk)."
            )
        return self._described(f"the {self.loss} loss (C={self.C:g})", certificate, size)

    def _raw_scores(self, X: Any) -> FloatArray:
        """Score validated rows towards ``classes_[1]``, through the kernel if there is one."""
        if self.kernel == "linear":
            return super()._raw_scores(X)
        if hasattr(self, "feature_map_"):
            return super()._raw_scores(self.feature_map_.transform(X))
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.kernel_rows_] @ self.dual_coef_)
        kernel = Kernel(*self.kernel_params_)
        return np.asarray(kernel.matrix(X, self.kernel_rows_) @ self.dual_coef_)

    def _checked_fit(self) -> ConvexFit:
        """Check the parameters; return those that the optimisation needs."""
        check_choice(self.loss, "loss", LOSSES)
        check_choice(self.kernel, "kernel", KERNELS)
        check_choice(self.solver, "solver", tuple(SOLVERS))
        if self.loss == "tight_dc" and self.solver != "bundle":
            raise ValueError(
                f"loss='tight_dc' is solved by bundle methods, got solver={self.solver!r}; use "
                "solver='bundle'."
            )
        if self.loss == "tight_dc" and self.rtol not in (None, _RTOL):
            raise ValueError(
                "loss='tight_dc' certifies no gap and ends by tol alone, got "
                f"rtol={self.rtol!r}; leave rtol out, or use loss='tight'."
            )
        if self.kernel != "linear":
            check_positive_number(self.n_components, "n_components", integer=True)
        check_positive_number(self.C, "C")
        check_stopping(self.tol, self.rtol, self.max_iter)
        return ConvexFit(
            self.loss, self.solver, self.C, self.tol, self.rtol, max_iter=int(self.max_iter)
        )

    def _kernel_table(self, design: RowDesign, X: Any, y: Any) -> Any:
        """Return the array or CSR matrix that a kernel is computed from."""
        if design.table is None:
            raise ValueError(
                f"kernel={self.kernel!r} takes arrays and CSR matrices, got "
                f"{type(X).__module__}.{type(X).__name__}; use kernel='linear'."
            )
        if self.kernel == "precomputed" and self.n_features_in_ != len(y):
            raise ValueError(
                "A precomputed kernel must be square in fit, got shape "
                f"({len(y)}, {self.n_features_in_})."
            )
        return design.table

    def _fit_table(
        self,
        fit: ConvexFit,
        design: RowDesign,
        sample: Sample,
        region: Region,
        monitor: Monitor | None,
        warm: FloatArray | None,
    ) -> Solution:
        """Fit a linear model on a table, from the coefficients given where they match it."""
        if warm is not None and warm.shape[1] == design.zeros().size:
            start = Start(self._oriented(warm[0]))
        else:
            start = fit.start(design, sample, region)
        solution = fit.solve(design, sample, region, start, monitor)
        scores = design.scores(solution.coef) if solution.scores is None else solution.scores
        self._adopt_linear(solution.coef, scores, sample, region.upper_limit)
        return solution

    def _fit_kernel(
        self,
        fit: ConvexFit,
        X: Any,
        sample: Sample,
        region: Region,
        monitor: Monitor | None,
        warm: FloatArray | None,
        kept: IntArray,
    ) -> Solution:
        """Fit a kernel model, exactly where the size of the matrix allows it."""
        if not sparse.issparse(X):
            # Products round differently in another memory order.
            X = np.ascontiguousarray(X)
        kernel = Kernel.from_params(
            self.kernel, self.gamma, self.degree, self.coef0, X, sample.weight
        )
        self.kernel_params_ = astuple(kernel)
        precomputed = self.kernel == "precomputed"
        if precomputed:
            X = X[:, kept]
            check_kernel_matrix(X)
        elif X.shape[0] > MAX_KERNEL_ROWS:
            self.feature_map_ = self._features(kernel, X.shape[0])
            features = TableDesign(self.feature_map_.fit_transform(X))
            return self._fit_table(fit, features, sample, region, monitor, warm)
        design = KernelDesign(X.astype(np.float64) if precomputed else kernel.matrix(X, X))
        solution = fit.solve(design, sample, region, Start(), monitor)
        # A zero model keeps one row, so that kernels with new rows are defined.
        carries = np.flatnonzero(solution.coef) if solution.coef.any() else np.array([0])
        self.dual_coef_ = self._oriented(solution.coef[carries])
        self.kernel_rows_ = kept[carries] if precomputed else X[carries]
        scores = design.scores(solution.coef) if solution.scores is None else solution.scores
        self._adopt_threshold(scores, sample, region.upper_limit)
        return solution

    def _features(self, kernel: Kernel, n_rows: int) -> Any:
        n_components = min(int(self.n_components), n_rows)
        warn_user(
            f"A kernel matrix of {n_rows} rows would take {n_rows**2 * 8 / 1e9:.0f} GB; using "
            f"{n_components} Nystroem features instead. Raise n_components for a closer fit."
        )
        return kernel.features(n_components, self.random_state)

    def _adopt_certificate(self, solution: Solution) -> None:
        """Store how the solver ended, and warn if that is not what was asked for."""
        self._adopt_run(solution)
        if self.loss != "tight_dc":
            self.lower_bound_ = float(solution.lower_bound)
            self.gap_ = float(solution.gap)
            self.relative_gap_ = float(solution.relative_gap)
        advice = convergence_advice(solution, self.loss, self.C, self.tol, self.rtol)
        if advice is not None:
            warn_user(advice)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
