"""A linear classifier trained by gradient descent on AUM with exact line searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._callbacks import fit_monitor, with_callbacks
from aucuba._base._estimator import fresh_fit
from aucuba._base._parallel import one_blas_thread
from aucuba._base._typing import ArrayLike, BoolArray, IntArray
from aucuba._base._validation import check_choice, check_fraction
from aucuba._base._warnings import ConvergenceAdvice, Remedy, warn_user
from aucuba._roc._region import Region
from aucuba._rows._splits import held_out_split
from aucuba.aum import AUMDescent, ErrorFunctions, LabelledData
from aucuba.design import RowDesign, TableDesign
from aucuba.linear._base import RegionClassifier
from aucuba.linear._logistic_fit import LogisticPath
from aucuba.risks import Sample
from aucuba.solvers import Solution, Status

# Penalty of the logistic regression that the descent starts from.
_C = 1.0


class AUMClassifier(RegionClassifier):
    r"""Linear model that maximises AUC by descent on the area under min(FPR, FNR).

    .. math::
        \min_{|w| = 1}\; \int_{-\infty}^\infty \min\{\mathrm{FPR}_w(c), \mathrm{FNR}_w(c)\}\, dc

    Every step goes along the negative subgradient, starting from logistic regression, and its length is
    found exactly. AUM alone would be minimised by ``w = 0``, since halving the
    weights halves it; the search therefore stays on the unit sphere, and of all iterates the one of
    best AUC is kept, on held-out rows if there are any.

    Scale the features first (`sklearn.preprocessing.StandardScaler`): like all descent on a linear
    model this depends on their units.

    Parameters
    ----------
    step : str, default="first_min"
        How long each step is:

        - "first_min": to the first minimum of AUM (tangent search, O(n) per step), and where that
          is zero on to the greatest AUC;
        - "linear": to the least AUM among the first n changes of order along the path;
        - "all": the whole path, quadratic in n; the same step as "first_min", kept to compare;
        - "first_max_auc": to the first local maximum of the training AUC, often a few changes of order
          away, so that the descent takes many short steps;
        - "subtrain_auc": to the greatest AUC of the training rows on the whole line (branch and
          bound, to 1e-4);
        - "validation_auc": to the greatest AUC of the held-out rows, likewise;
        - "grid": the best of seven powers of ten, the baseline of the paper.
    start : {"logistic", "means"}, default="logistic"
        The first model: logistic regression with C = 1, or the difference of the class means. The paper
        starts from standard normal weights. On real tables the former ended above logistic regression,
        the latter often below.
    max_iter : int, default=100
        Most steps of gradient descent.
    tol : float, default=1e-3
        A step is stalled when AUM falls by less than this fraction of it and the best AUC rises
        by less than this.
    n_iter_no_change : int, default=5
        Stop after this many stalled steps in a row.
    validation_fraction : float, optional
        Hold out this fraction of the rows, stratified, and keep the iterate of best AUC on them.
        None keeps the iterate of best training AUC.
    pos_label : label, default=None
        The positive class; None is ``classes_[1]``. Scores and
        coefficients always grow towards ``classes_[1]``, as in scikit-learn.
    random_state : int, RandomState or None, default=None
        Draws the held-out rows; nothing else is random.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights, of norm 1.
    intercept_ : ndarray of shape (1,)
        Minus the threshold, signed like ``coef_``.
    threshold_ : float
        The score of ``pos_label_`` above which it is predicted: the training rows have their best
        balanced accuracy there. AUC does not depend on it.
    predict_fpr_ : float
        The false positive rate of the training rows at ``threshold_``.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The positive class.
    history_ : list of dict
        One row per step: ``iteration``, ``step`` (its length), ``aum``, ``auc``, ``validation_auc``
        with held-out rows, and ``seconds`` since the start.
    n_iter_ : int
        Steps taken.
    status_ : str
        Why the descent stopped.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,), when X has column names

    See Also
    --------
    aucuba.aum.minimize_aum : The default search for the step.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba.linear import AUMClassifier
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> model = AUMClassifier().fit(X, y)
    >>> model.history_[-1]["aum"] < model.history_[0]["aum"]
    True
    """

    def __init__(
        self,
        step: str = "first_min",
        *,
        start: str = "logistic",
        max_iter: int = 100,
        tol: float = 1e-3,
        n_iter_no_change: int = 5,
        validation_fraction: float | None = None,
        pos_label: Any = None,
        random_state: Any = None,
    ) -> None:
        self.step = step
        self.start = start
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.pos_label = pos_label
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> AUMClassifier:
        """Learn the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask collection} of shape (n_samples, n_features)
            Copies of a row are joined into one of their weight, except in a Dask collection.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight is a number of copies of the row.

        Returns
        -------
        AUMClassifier
            The fitted estimator.
        """
        solver = self._solver()
        with fresh_fit(self):
            design, sample, _ = self._validate(X, y, sample_weight, None)
            sample = sample.on_host()
            Region.from_params((0.0, 1.0)).warn_if_few(sample)
            subtrain_rows, validation_rows = self._split(sample.positive)
            rows, labels = _without_copies(design, sample, subtrain_rows)
            subtrain, validation = _labelled(rows, labels), None
            if validation_rows is not None:
                validation = _labelled(*_without_copies(design, sample, validation_rows))
            with one_blas_thread(), fit_monitor(self, X, y, solver.max_iter) as monitor:
                start = subtrain.difference_of_means()
                if self.start == "logistic":
                    logistic = LogisticPath(rows, labels).fit(_C).coef
                    # With constant columns, or both classes in equal rows, logistic regression is zero.
                    start = subtrain.upright(logistic) if logistic.any() else start
                solution = solver.solve(subtrain, start, validation, monitor)
                scores = design.arrays.host(design.exact().scores(solution.coef))
                self._adopt_linear(solution.coef, scores, sample, 1.0)
            self._report(solution)
        # The best model so far is kept, and the interrupt still reaches the caller.
        solution.raise_interrupt()
        return self

    def _solver(self) -> AUMDescent:
        check_choice(self.start, "start", ("logistic", "means"))
        if self.step == "validation_auc" and self.validation_fraction is None:
            raise ValueError(
                "step='validation_auc' needs held-out rows: set validation_fraction, for example 0.2."
            )
        if self.validation_fraction is not None:
            check_fraction(
                self.validation_fraction, "validation_fraction", low_open=True, high_open=True
            )
        return AUMDescent(
            step=self.step,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            max_iter=self.max_iter,
        )

    def _report(self, solution: Solution) -> None:
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        self.status_ = str(solution.status)
        if solution.status is Status.ITERATION_LIMIT:
            advice = ConvergenceAdvice(
                f"AUMClassifier took max_iter={self.max_iter} steps and AUM or AUC was still "
                f"improving by more than tol={self.tol}.",
                Remedy("raise max_iter", "max_iter"),
                Remedy("raise tol", "tol"),
            )
            warn_user(advice)

    def _split(self, positive: BoolArray) -> tuple[IntArray, IntArray | None]:
        if self.validation_fraction is None:
            return np.arange(positive.size), None
        return held_out_split(self.validation_fraction, positive, self.random_state)


def _labelled(design: RowDesign, sample: Sample) -> LabelledData:
    # The search for a step sorts on the host.
    return LabelledData(design.on_host(), ErrorFunctions.from_sample(sample))


def _without_copies(design: RowDesign, sample: Sample, rows: IntArray) -> tuple[RowDesign, Sample]:
    """Select rows, and join equal ones of one class into one of their total weight.

    Descent on tied rows magnifies rounding errors: only so a weight and as many copies of its row
    give the same model.
    """
    sample = sample.take(rows)
    if design.table is None:
        # Copies can be joined only where all rows are at hand.
        return design if rows.size == design.n_rows else design.take(rows), sample
    X = design.table[rows]
    values = X if sparse.issparse(X) else np.asarray(X)
    direction = np.cos(np.arange(1.0, X.shape[1] + 1))
    # A matrix product may round equal rows differently.
    key = X @ direction if sparse.issparse(X) else (values * direction).sum(axis=1)
    order = np.lexsort((sample.positive, key))
    near, one = order[1:], order[:-1]
    close = (key[near] == key[one]) & (sample.positive[near] == sample.positive[one])
    if not close.any():
        return TableDesign(X), sample
    difference = values[near[close]] != values[one[close]]
    close[close] = np.asarray(difference.sum(axis=1)).ravel() == 0
    group = np.cumsum(np.r_[True, ~close]) - 1
    first, weight = np.full(group[-1] + 1, key.size), np.zeros(group[-1] + 1)
    np.minimum.at(first, group, order)
    np.add.at(weight, group, sample.weights[order])
    kept = np.argsort(first)
    return TableDesign(X[first[kept]]), Sample(sample.positive[first[kept]], weight[kept])
