"""The classifiers that ``aucuba fit`` trains."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from aucuba._base._validation import check_choice, check_positive_number
from aucuba._columns._table_columns import Columns, NamedColumns
from aucuba._rows._splits import held_out_split, shuffled_folds, time_folds
from aucuba.cli._command_options import FitOptions
from aucuba.cli._console import fit_with_progress, progress_bar
from aucuba.cli._fit_promise import Promised
from aucuba.cli._fit_record import FitRecord
from aucuba.cli._labelled_rows import LabelledTable
from aucuba.cli._options import Range
from aucuba.cli._roles import ROLES
from aucuba.ensemble import RegionStack
from aucuba.linear import (
    AUMClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
)
from aucuba.metrics import make_metric_scorer
from aucuba.scorecard import RegionScorecard, Scorecard
from aucuba.threshold import TriageClassifier

# Models that read named columns as they are.
_OF_NAMED = ("stack", "scorecard")
_SVC_LOSSES = ("structural", "tight", "tight_dc")
# Fitted attributes that `aucuba fit` and `aucuba info` show.
_SHOWN = (
    *("status_", "n_iter_", "objective_", "lower_bound_", "gap_", "C_", "blend_", "predict_fpr_"),
)
_PROMISED = ("promise_", "guarantee_", "confidence", "threshold_")
_HELD_OUT = 0.5


@dataclass(frozen=True)
class Plan:
    """Plan of a training: kind of model, region and settings, checked before any data are read.

    Parameters
    ----------
    fpr_range : (float, float)
    min_tpr : float
    kind : {"linear", "svc", "aum", "scorecard", "stack", "outliers"}
    classifier : estimator
    folds : int
        Folds of a search for C; 0 if the classifier chooses its own, or nothing is chosen.
    promise : Promised or None
    random_state : int
    """

    fpr_range: Range
    min_tpr: float
    kind: str
    classifier: Any
    folds: int
    promise: Promised | None
    random_state: int

    @classmethod
    def from_options(cls, options: FitOptions) -> Plan:
        """Choose the classifier; an option without effect on it is an error."""
        fpr_range, min_tpr = options.chosen_range(), options.lowest_tpr()
        if options.model != "svc":
            options.refuse("is for --model svc and --model changepoint", "loss")
        if options.model != "scorecard":
            options.refuse("is for --model scorecard", "max_items")
        classifier = _MODELS[options.model](options, fpr_range, min_tpr)
        folds = 0
        if options.model == "svc":
            folds = 5 if options.cv is None else options.cv
        promise = Promised.from_options(options)
        seed = options.random_state
        return cls(fpr_range, min_tpr, options.model, classifier, folds, promise, seed)

    def check_table(self, table: LabelledTable, cv: int | None) -> None:
        """Refuse data that the classifier does not support."""
        if table.rows.query is not None and self.kind in (*_OF_NAMED, "aum"):
            raise ValueError(
                f"--model {self.kind} does not support --qid; leave it out or choose another model."
            )
        if self.promise is not None:
            self.promise.check_rows(table.rows)
        single = self.kind == "aum" or isinstance(self.classifier, PartialAUCClassifier)
        if (table.roles.groups or table.roles.time) and single and self.promise is None:
            raise ValueError(
                "--groups and --time say how to split the rows, but a single fit does not split them; "
                "add --promise, use --cv, or leave them out."
            )
        if self.kind in _OF_NAMED and table.schema.n_features is not None:
            raise ValueError(
                f"--model {self.kind} needs named columns, not svmlight; use --model linear."
            )
        if cv:
            _check_folds(cv, table)

    def record(self, table: LabelledTable, outside: int) -> FitRecord:
        """Collect what is saved with the model; ``outside`` counts rows far from the training rows."""
        return FitRecord(
            **{role: getattr(table.roles, role) for role in ROLES},
            labels=table.labels,
            fpr_range=self.fpr_range,
            min_tpr=self.min_tpr,
            kind=self.kind,
            loss=vars(self.classifier).get("loss"),
            schema=table.schema,
            training=table.summary() | {"outside": outside},
        )

    def train(self, table: LabelledTable) -> tuple[Pipeline, Pipeline]:
        """Fit the model, and logistic regression on the same columns.

        With a promise, one half of the rows trains, and the other sets the threshold.
        """
        promise, seed = self.promise, self.random_state
        if promise is None:
            return self._trained(table)
        train, held_out = held_out_split(
            *(_HELD_OUT, table.y, seed),
            groups=table.rows.group,
            time=table.rows.time,
            stratified=promise.stratified,
        )
        model, baseline = self._trained(table.take(train))
        rest = table.take(held_out)
        promised = promise.around(model[-1], seed)
        promised.fit(model[:-1].transform(rest.X), rest.y, groups=rest.rows.group)
        return Pipeline([*model.steps[:-1], ("model", promised)]), baseline

    def _trained(self, table: LabelledTable) -> tuple[Pipeline, Pipeline]:
        prepare = _preparation(table)
        prepared = prepare.fit_transform(table.X)
        fit_params: dict[str, Any] = {"sample_weight": table.rows.weight}
        if table.rows.query is not None:
            fit_params["qid"] = table.rows.query
        if isinstance(self.classifier, PartialAUCClassifierCV | RegionStack | RegionScorecard):
            fit_params |= {"groups": table.rows.group, "time": table.rows.time}
        if self.folds:
            with progress_bar("Choosing C"):
                C = _searched_C(self, prepared, table, fit_params)
                self.classifier.set_params(C=C)
        # These prepare the named columns themselves.
        of_named = self.kind in _OF_NAMED
        with progress_bar(f"Training {type(self.classifier).__name__}") as bar:
            X = table.X if of_named else prepared
            if self.kind == "outliers":
                # A detector learns what is normal; the known outliers only measure it.
                self.classifier.fit(X[~table.rows.positive])
            else:
                fit_with_progress(bar, self.classifier, X, table.y, **fit_params)
            baseline = LogisticRegression(C=self.logistic_C, max_iter=1000)
            if table.rows.positive.any():
                baseline.fit(prepared, table.y, sample_weight=table.rows.weight)
            else:
                # From normal rows alone it learns nothing and gives every row the same score.
                baseline.fit(prepared[[0, 0]], [0, 1])
        first = prepare.steps[:1] if of_named else prepare.steps
        model = Pipeline([*first, ("model", self.classifier)])
        return model, Pipeline([*prepare.steps, ("model", baseline)])

    @property
    def logistic_C(self) -> float:
        """The penalty that was chosen for logistic regression, if any."""
        return float(vars(self.classifier).get("C_", 1.0))


def fit_facts(classifier: Any) -> dict[str, Any]:
    """Collect the certificate and the choices that a fitted classifier has.

    A classifier with a promised threshold adds those of its base.
    """
    known = vars(classifier)
    if "promise_" in known:
        base = fit_facts(classifier.estimator_)
        promise = {name.rstrip("_"): known[name] for name in _PROMISED if name in known}
        if isinstance(classifier, TriageClassifier):
            promise["thresholds"] = classifier.thresholds_.tolist()
            promise["review_share"] = classifier.review_share_
            del promise["threshold"]
        names = {"estimator": type(classifier).__name__, "base": base["estimator"]}
        if "card" in base and not isinstance(classifier, TriageClassifier):
            promise["card"] = str(Scorecard.from_model(classifier))
        return {**base, **names, **promise}
    facts = {name[:-1]: known[name] for name in _SHOWN if name in known}
    if isinstance(classifier, PartialAUCSVC):
        facts["C"] = classifier.C
    if known.get("partial_auc_"):
        facts[known.get("scoring", "partial_auc")] = classifier.partial_auc_
    if isinstance(classifier, RegionStack):
        facts["partial_auc"] = {row["member"]: row["partial_auc"] for row in classifier.report_}
    if isinstance(classifier, RegionScorecard):
        facts["card"] = str(Scorecard.from_model(classifier))
    return {"estimator": type(classifier).__name__, **facts}


def _scorecard(options: FitOptions, fpr_range: Range, min_tpr: float) -> RegionScorecard:
    options.refuse("does not apply to --model scorecard", "C", "max_iter", "min_tpr")
    items = int(check_positive_number(options.max_items, "--max-items", integer=True))
    seed = options.random_state
    return RegionScorecard(fpr_range, max_items=items, cv=_at_least_two(options), random_state=seed)


def _at_least_two(options: FitOptions) -> int:
    """Return the number of folds of a model that needs them."""
    folds = 5 if options.cv is None else options.cv
    if folds < 2:
        raise ValueError(f"--cv must be at least 2 for a {options.model}, got {folds}.")
    return folds


def _stack(options: FitOptions, fpr_range: Range, min_tpr: float) -> RegionStack:
    options.refuse("does not apply to --model stack", "C", "max_iter")
    folds, seed = _at_least_two(options), options.random_state
    return RegionStack(fpr_range, min_tpr=min_tpr, cv=folds, random_state=seed)


def _aum(options: FitOptions, fpr_range: Range, min_tpr: float) -> AUMClassifier:
    options.refuse("does not apply to --model aum", "min_tpr", "C")
    if options.cv:
        raise ValueError("--model aum does not use --cv; leave it out.")
    return AUMClassifier(**_iteration_limit(options))


def _outliers(options: FitOptions, fpr_range: Range, min_tpr: float) -> IsolationForest:
    options.refuse("does not apply to --model outliers", "C", "max_iter", "min_tpr", "cv")
    options.refuse("does not apply to --model outliers", "sample_weight", "qid")
    if not options.given & {"promise", "triage", "max_fdr"}:
        raise ValueError(
            "--model outliers has no threshold of its own; give --promise fpr=0.01, --promise "
            "alerts=0.01, --triage or --max-fdr with it."
        )
    return IsolationForest(random_state=options.random_state)


def _linear(options: FitOptions, fpr_range: Range, min_tpr: float) -> Any:
    C = _checked_C(options)
    if options.cv == 0:
        return PartialAUCClassifier(fpr_range, C=C, min_tpr=min_tpr, **_iteration_limit(options))
    options.refuse("is for a single fit of --model linear: give --cv 0 with it", "max_iter")
    seed = options.random_state
    return PartialAUCClassifierCV(fpr_range, cv=options.cv, min_tpr=min_tpr, random_state=seed)


def _svc(options: FitOptions, fpr_range: Range, min_tpr: float) -> PartialAUCSVC:
    return PartialAUCSVC(
        fpr_range,
        loss=check_choice(options.loss or "structural", "--loss", _SVC_LOSSES),
        C=_checked_C(options),
        min_tpr=min_tpr,
        random_state=options.random_state,
        **_iteration_limit(options),
    )


# By the name that --model takes.
_MODELS: dict[str, Callable[[FitOptions, Range, float], Any]] = {
    "linear": _linear,
    "svc": _svc,
    "aum": _aum,
    "scorecard": _scorecard,
    "stack": _stack,
    "outliers": _outliers,
}


def _iteration_limit(options: FitOptions) -> dict[str, Any]:
    if options.max_iter is None:
        return {}
    return {"max_iter": int(check_positive_number(options.max_iter, "--max-iter", integer=True))}


def _checked_C(options: FitOptions) -> float:
    """Check the folds and the penalty; return the penalty."""
    cv, C = options.cv, options.C
    if cv is not None and (cv < 0 or cv == 1):
        raise ValueError(f"--cv must be 0 or at least 2, got {cv}.")
    if C is None:
        return 1.0
    if cv != 0:
        raise ValueError("--C is for a single fit: give --cv 0 with it, or leave it out.")
    return check_positive_number(C, "--C")


def _searched_C(plan: Plan, X: Any, table: LabelledTable, fit_params: dict[str, Any]) -> float:
    """Choose C by the partial AUC of folds, which keep queries whole."""
    n_folds = min(plan.folds, _fold_units(table)[0])
    if n_folds < 2:
        return float(plan.classifier.C)
    given = {name: values for name, values in fit_params.items() if values is not None}
    asked = dict.fromkeys(given, True)
    region = {"fpr_range": plan.fpr_range, "min_tpr": plan.min_tpr}
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        # The fit of all rows issues the warnings that matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        scorer: Any = make_metric_scorer("partial_auc", **region)
        search = GridSearchCV(
            clone(plan.classifier).set_fit_request(**asked),
            {"C": np.logspace(-3, 3, 7)},
            scoring=scorer.set_score_request(**asked),
            cv=_folds(table, n_folds, plan.random_state),
            refit=False,
            error_score="raise",
        )
        search.fit(X, table.y, **given)
    return float(search.best_params_["C"])


def _folds(table: LabelledTable, n_folds: int, random_state: int) -> list[Any]:
    """Split into blocks of time, or into folds that keep groups and queries whole."""
    rows = table.rows
    if rows.time is not None:
        return time_folds(n_folds, rows.time, rows.group)
    whole = rows.query if rows.group is None else rows.group
    return shuffled_folds(table.y, n_folds, random_state, whole)


def _preparation(table: LabelledTable) -> Pipeline:
    """Make the preparation for linear models."""
    if table.schema.n_features is not None:
        return Pipeline([("columns", MaxAbsScaler())])
    columns = Columns.from_table(table.X).for_linear(None, sparse=True)[0]
    return Pipeline([("named", NamedColumns(list(table.schema.kinds))), ("columns", columns)])


def _check_folds(cv: int, table: LabelledTable) -> None:
    """Raise an error if a fold would lack a row of some class, or a query."""
    n_units, units = _fold_units(table)
    if cv > n_units:
        raise ValueError(f"--cv {cv} needs at least {cv} {units}; there are {n_units}.")


def _fold_units(table: LabelledTable) -> tuple[int, str]:
    """Return how many units the folds can distribute, and their name."""
    if table.rows.query is None:
        return int(np.bincount(table.y).min()), "rows in the smaller class"
    return int(np.unique(table.rows.query).size), "queries"
