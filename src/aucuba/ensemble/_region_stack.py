"""Stack several models for a region of the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_memory

from aucuba._base._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._base._estimator import all_or_nothing
from aucuba._base._parallel import draw_seed, with_fixed_seed
from aucuba._base._progress_bar import progress_bar
from aucuba._base._typing import ArrayLike
from aucuba._roc._region import FprWeight
from aucuba._rows._out_of_fold import partition
from aucuba.ensemble._blend import StackedBlend
from aucuba.ensemble._budget import Budget, fit_members
from aucuba.ensemble._defaults import (
    SPARSE_MEMBERS,
    NamedMembers,
    checked_limit,
    chosen_members,
    is_pair,
    pairs_of,
)
from aucuba.ensemble._fitted_stack import FittedStack
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._sampling import check_max_rows, sample_rows
from aucuba.ensemble._table import (
    check_strength,
    make_table,
)


class RegionStack(FittedStack):
    r"""Stack of several models, blended for a region of the ROC curve by logistic regression.

    .. math::
        \mathrm{logit}\, p(x) = b + \sum_k c_k\, \frac{s_k(x) - \mathrm{mean}(s_k)}{\mathrm{sd}(s_k)}

    with :math:`s_k` the score of the k-th model, fitted to out-of-fold scores.

    By default: gradient boosting, its rounds chosen by partial AUC and its rows re-weighted for
    the region, a random forest, extremely randomised trees, logistic regression on splines of the
    columns and on Nystroem features, a small neural network, and a linear model trained for the region.
    DataFrames may have categories, strings and missing values; arrays may have missing values. Sparse
    tables get a linear model trained for the region, a random forest, extremely randomised trees and,
    if it is installed, LightGBM.
    Probabilities are calibrated by the log-loss of the blend on out-of-fold scores. A penalty shrinks
    the weights towards each other unless that costs log-loss: with few positives, equal weights do
    better than weights fitted to noise. Members trained for the region count only as much as they gain
    out-of-fold partial AUC. A range that holds fewer than ten negatives is widened to ten for
    training, with a warning; with fewer than ten rows of a class every member is trained by log-loss.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    min_tpr : float, default=0.0
        Lowest true positive rate that matters (two-way partial AUC).
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        Weight of the false positive rates u inside ``fpr_range``, up to a constant factor: a
        non-negative function of u, 1/u (the range must start above 0), exp(-alpha u), or None to
        weight all rates equally. A function cannot be saved; the named weights can.
    estimators : list, default=None
        Members instead of those of ``preset``: pairs (name, classifier) and any of the names

        - ``"boosting"`` (rounds chosen by partial AUC, then re-weighted for the region),
          ``"boosting_tuned"`` (without re-weighting), ``"boosting_log_loss"`` (rounds by log-loss);
        - ``"forest"``, ``"extra_trees"``, ``"extra_trees_bagged"`` (on bootstrap samples);
        - ``"linear"``: `PartialAUCClassifier` on the columns; ``"linear_logistic"``,
          ``"splines_logistic"``, ``"nystroem_logistic"``: logistic regression on the columns, on
          splines of them, on Nystroem features of a Gaussian kernel;
        - ``"network"``: a neural network of one hidden layer;
        - ``"lightgbm"``, ``"xgboost"``, ``"catboost"``, if installed, re-weighted for the region.

        A `RegionReweighted` keeps its own region and is fitted on the folds of the stack.
    preset : {"fast", "default", "best"}, default="default"
        How much to spend: "fast" scores its trees out of bag, leaves out the kernel features and the
        network, and trains for the region only by choosing the rounds of boosting; "best" has more
        rounds, trees and landmarks. The guide has their quality and cost.
    time_limit : float, default=None
        Seconds after which no further member is started. The first member (the cheapest of a preset)
        is always fitted; the others only if two short trials predict that the time suffices, with fewer
        rounds or trees if necessary. The result depends on the speed of the machine; ``plan_`` repeats
        it.
    plan : list of dict, default=None
        ``plan_`` of an earlier fit: the same members with the same settings, instead of ``preset`` and
        without a time limit. Pairs (name, classifier) that it names are taken from ``estimators``.
    strength : float, default=10.0
        Strength of the re-weighting of ``"boosting"``, ``"lightgbm"``, ``"xgboost"`` and
        ``"catboost"``. Larger than for `RegionReweighted` alone, because the blend gives less weight to
        a member that suffers from it.
    cv : int, splitter or iterable of splits, default=5
        As in `RegionReweighted`. With a number, and neither groups nor time, forests on bootstrap
        samples are scored out of bag instead.
    max_rows : int, default=None
        Train every member on at most this many rows, as in `RegionReweighted`; a first model of the
        first member's kind ranks the negatives.
    pos_label : label, default=None
        The positive class, to which the region refers; None means ``classes_[1]``. Scores and the
        columns of ``predict_proba`` keep scikit-learn's order of the classes.
    n_jobs : int or None, default=None
        Number of fits, or of trees of one forest, that run in parallel, each on one thread of BLAS and
        OpenMP; the result does not depend on it.
    memory : str, joblib.Memory or None, default=None
        Where to cache fits, so that another region on the same rows, or a run after an interruption,
        need not repeat them. Entries are written completely or not at all.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of every ``random_state`` that members leave at None.
    verbose : int, default=0
        Above 0, show a bar on stderr with the member that is being fitted and the time left, and log
        every member to the logger ``aucuba`` at level INFO.

    Attributes
    ----------
    members_ : list of (str, classifier)
        Fitted on all rows, with class 1 for ``pos_label_`` and 0 for the other.
    coef_ : ndarray of shape (n_members,)
        Weights of the standardised scores.
    intercept_, mean_, scale_ : float, ndarray, ndarray
        The rest of the stacking formula.
    shrinkage_ : float
        How strongly the blend shrinks its weights towards each other: 1 if its cross-fitted log-loss is
        within one standard error of that of 0, else 0.
    region_weight_ : float
        Weight, from 0 to 1, of the blend of all members against that of the members trained by
        log-loss alone: 0 unless its cross-fitted partial AUC is higher, .68 at one paired standard
        error above, .95 at two. It is 1 where all members are of one kind.
    plan_ : list of dict
        What was fitted: ``"member"`` and its settings, such as ``"max_rounds"`` of boosting and
        ``"n_trees"`` of forests.
    report_ : list of dict
        For each member and for the stack itself: out-of-fold ``partial_auc`` with its
        ``standard_error``, in the region, and ``coef``. The stack's value is cross-fitted: every fold
        (block of time) is blended with weights learned on the others; ``"boosting"`` is represented
        in both by its plain model. With ``groups`` these are the independent units of the error.
    oof_scores_ : ndarray of shape (n_samples, n_members)
        Out-of-fold scores; nan for rows of zero weight and for the first block of time.
    threshold_ : float
        The log-odds of ``pos_label_`` above which it is predicted: the FPR of out-of-fold scores is the
        upper limit of the region; for a limit of 1, their balanced accuracy is best.
    predict_fpr_ : float
        The false positive rate that ``threshold_`` was set for.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The positive class.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba.ensemble import RegionStack
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> stack = RegionStack((0.0, 0.1), estimators=["forest", "linear"], cv=3, random_state=0)
    >>> [row["member"] for row in stack.fit(X, y).report_]
    ['forest', 'linear', 'stack']
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        estimators: list[Any] | None = None,
        preset: str = "default",
        time_limit: float | None = None,
        plan: list[dict[str, Any]] | None = None,
        strength: float = 10.0,
        cv: Any = 5,
        max_rows: int | None = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        memory: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
        self.estimators = estimators
        self.preset = preset
        self.time_limit = time_limit
        self.plan = plan
        self.strength = strength
        self.cv = cv
        self.max_rows = max_rows
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> RegionStack:
        """Fit the members, then the blend of their out-of-fold scores.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows if the splits are given and the members treat
            weights this way. The stack's own members ignore weights when they prepare columns (means,
            knots, landmarks).
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as a patient or an account, stay together in every split.
        time : array-like of shape (n_samples,), default=None
            When each row was seen: numbers, dates, or dates as ISO text. The rows are cut into
            ``cv + 1`` blocks of equal count in order of time, equal times together, and each block is
            scored by models of earlier blocks alone; the first has no score and enters neither blend
            nor report. With ``groups`` too, earlier rows of a tested group do not train. Final members
            are fitted on all rows.

        Returns
        -------
        RegionStack
            The fitted classifier.
        """
        budget = Budget.from_limit(checked_limit(self.time_limit, self.plan))
        region = self._region()
        check_strength(self.strength)
        max_rows = check_max_rows(self.max_rows)
        table, kept, classes = make_table(self, X, y, sample_weight, groups, time)
        weighted = table.sample.weight is not None or max_rows is not None
        named = NamedMembers(table.X, region.for_training(table.sample), self.strength)
        members = chosen_members(self.estimators, self.preset, self.plan, named, weighted=weighted)
        seed = draw_seed(self.random_state)
        folds = partition(self.cv, kept, seed)
        trained_on = region.warned_for_training(
            table.sample, "A stack of members trained by log-loss"
        )
        sample = table.sample
        every_row = sample.weight is None and (max_rows or np.inf) >= sample.n_rows
        n_fits = sum(member.n_fits(folds, every_row=every_row) for _, member in members)
        with (
            fit_monitor(self, X, y, max_iter=n_fits) as monitor,
            progress_bar(monitor, "RegionStack", n_fits, self.verbose) as shown,
        ):
            progress = Progress(shown)
            ranker = with_fixed_seed(clone(members[0][1].ranker()), seed)
            sampling = sample_rows(ranker, table, trained_on or region, max_rows, seed)
            memory = check_memory(self.memory)
            runner = Runner(table, folds, kept, self.n_jobs, memory, progress, sampling)
            fits = fit_members(members, runner, trained_on or region, seed, budget, self.verbose)
        scores = np.column_stack([fit.scores for fit in fits])
        for_region = np.array([fit.for_region and trained_on is not None for fit in fits])
        blend = StackedBlend.from_scores(
            scores, runner.scored, folds.splits_of_scores(), for_region, trained_on or region
        )
        self._adopt_stack(fits, blend, runner.scored, region, classes)
        self._adopt_scores(runner.among_all(scores))
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` those of the pairs in ``estimators`` by name.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, estimator in pairs_of(self.estimators).items():
                params[name] = estimator
                inner = estimator.get_params() if hasattr(estimator, "get_params") else {}
                params |= {f"{name}__{key}": value for key, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> RegionStack:
        """Set parameters: the stack's own, members by name, and theirs as ``name__parameter``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        RegionStack
        """
        own = {name: params.pop(name) for name in list(params) if hasattr(self, name)}
        super().set_params(**own)
        pairs = pairs_of(self.estimators)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in pairs:
                raise ValueError(
                    f"Invalid parameter {key!r} for RegionStack; its parameters are "
                    f"{sorted(self.get_params(deep=False))} and those of the members {sorted(pairs)}."
                )
            if inner:
                pairs[name].set_params(**{inner: value})
            else:
                self.estimators = [
                    (name, value) if is_pair(entry) and entry[0] == name else entry
                    for entry in self.estimators or ()
                ]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = [
            get_tags(estimator).input_tags for estimator in pairs_of(self.estimators).values()
        ]
        tags.input_tags.allow_nan = all(one.allow_nan for one in inputs)
        given = self.estimators if isinstance(self.estimators, list | tuple) else ()
        named = all(entry in SPARSE_MEMBERS for entry in given if isinstance(entry, str))
        tags.input_tags.sparse = named and all(one.sparse for one in inputs)
        return tags
