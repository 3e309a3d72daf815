"""The classifiers that ``aucuba fit`` trains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from aucuba._base._validation import check_choice, check_positive_number
from aucuba._columns._table_columns import Columns, NamedColumns
from aucuba.cli._console import fit_with_progress, progress_bar
from aucuba.cli._fit_record import FitRecord
from aucuba.cli._labelled_rows import LabelledTable
from aucuba.cli._options import FitOptions, Range
from aucuba.ensemble import RegionStack
from aucuba.linear import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV

SURROGATES = ("direct", "tight", "structural", "aum")
# Fitted attributes that `aucuba fit` and `aucuba info` show.
_SHOWN = (
    *("status_", "n_iter_", "objective_", "lower_bound_", "gap_", "C_", "blend_", "predict_fpr_"),
)
_PROMISED = ("promise_", "guarantee_", "confidence", "threshold_")


@dataclass(frozen=True)
class Plan:
    """What to train: kind of model, region and settings, checked before any data are read.

    Parameters
    ----------
    fpr_range : (float, float)
    min_tpr : float
    kind : {"linear", "stack"}
    surrogate : str or None
        Loss of a linear model.
    classifier : estimator
    """

    fpr_range: Range
    min_tpr: float
    kind: str
    surrogate: str | None
    classifier: Any

    @classmethod
    def from_options(cls, options: FitOptions) -> Plan:
        """Choose the classifier; an option without effect on it is an error."""
        fpr_range, min_tpr = options.chosen_range(), options.lowest_tpr()
        surrogate, classifier = _MODELS[options.model](options, fpr_range, min_tpr)
        return cls(fpr_range, min_tpr, options.model, surrogate, classifier)

    def check_table(self, table: LabelledTable, cv: int | None) -> None:
        """Refuse data that the classifier does not support."""
        if table.rows.query is not None and (self.kind == "stack" or self.surrogate == "aum"):
            option = "--surrogate aum" if self.surrogate == "aum" else "--model stack"
            raise ValueError(f"{option} does not support --qid; leave --qid out or choose another.")
        if self.kind == "stack" and table.schema.n_features is not None:
            raise ValueError("--model stack needs named columns, not svmlight; use --model linear.")
        if cv:
            _check_folds(cv, table)

    def record(self, table: LabelledTable) -> FitRecord:
        """Collect what is saved beside the model."""
        return FitRecord(
            table.roles.target,
            table.labels,
            self.fpr_range,
            self.min_tpr,
            self.kind,
            self.surrogate,
            table.roles.sample_weight,
            table.roles.qid,
            table.schema,
            table.summary(),
        )

    def train(self, table: LabelledTable) -> tuple[Pipeline, Pipeline]:
        """Fit the model, and logistic regression on the same columns."""
        prepare = _preparation(table)
        prepared = prepare.fit_transform(table.X)
        fit_params: dict[str, Any] = {"sample_weight": table.rows.weight}
        if table.rows.query is not None:
            fit_params["qid"] = table.rows.query
        # A stack prepares the named columns for each of its members.
        is_stack = self.kind == "stack"
        with progress_bar(f"Training {type(self.classifier).__name__}") as bar:
            X = table.X if is_stack else prepared
            fit_with_progress(bar, self.classifier, X, table.y, **fit_params)
            baseline = LogisticRegression(C=self.logistic_C, max_iter=1000)
            baseline.fit(prepared, table.y, sample_weight=table.rows.weight)
        first = prepare.steps[:1] if is_stack else prepare.steps
        model = Pipeline([*first, ("model", self.classifier)])
        return model, Pipeline([*prepare.steps, ("model", baseline)])

    @property
    def logistic_C(self) -> float:
        """The penalty that was chosen for logistic regression, where one was."""
        return float(vars(self.classifier).get("C_", 1.0) if self.surrogate == "direct" else 1.0)


def fit_facts(classifier: Any) -> dict[str, Any]:
    """Collect the certificate and the choices of a fitted classifier, those that it has.

    A promised threshold comes with those of its base.
    """
    known = vars(classifier)
    if "promise_" in known:
        base = fit_facts(classifier.estimator_)
        promise = {name.rstrip("_"): known[name] for name in _PROMISED}
        names = {"estimator": type(classifier).__name__, "base": base["estimator"]}
        return {**base, **names, **promise}
    facts = {name[:-1]: known[name] for name in _SHOWN if name in known}
    if known.get("partial_auc_"):
        facts["partial_auc"] = classifier.partial_auc_
    if isinstance(classifier, RegionStack):
        facts["partial_auc"] = {row["member"]: row["partial_auc"] for row in classifier.report_}
    return {"estimator": type(classifier).__name__, **facts}


def _stack(options: FitOptions, fpr_range: Range, min_tpr: float) -> tuple[None, Any]:
    options.refuse("is for --model linear", "surrogate", "C", "max_iter")
    folds = 5 if options.cv is None else options.cv
    if folds < 2:
        raise ValueError(f"--cv must be at least 2 for a stack, got {folds}.")
    seed = options.random_state
    return None, RegionStack(fpr_range, min_tpr=min_tpr, cv=folds, random_state=seed)


def _linear(options: FitOptions, fpr_range: Range, min_tpr: float) -> tuple[str, Any]:
    surrogate = check_choice(options.surrogate or "direct", "--surrogate", SURROGATES)
    _check_folds_and_penalty(surrogate, options.cv, options.C)
    params: dict[str, Any] = {}
    if options.max_iter is not None:
        limit = check_positive_number(options.max_iter, "--max-iter", integer=True)
        params["max_iter"] = int(limit)
    if surrogate == "aum":
        if min_tpr > 0.0:
            raise ValueError("--surrogate aum does not support --min-tpr.")
        return surrogate, AUMClassifier(**params)
    params |= {"surrogate": surrogate, "min_tpr": min_tpr, "random_state": options.random_state}
    if options.cv == 0:
        C = 1.0 if options.C is None else options.C
        return surrogate, PartialAUCClassifier(fpr_range, C=C, **params)
    return surrogate, PartialAUCClassifierCV(fpr_range, cv=options.cv, **params)


# By the name that --model takes: makes the surrogate and the classifier.
_MODELS: dict[str, Callable[[FitOptions, Range, float], tuple[str | None, Any]]] = {
    "linear": _linear,
    "stack": _stack,
}


def _preparation(table: LabelledTable) -> Pipeline:
    """Make the preparation for linear models."""
    if table.schema.n_features is not None:
        return Pipeline([("columns", MaxAbsScaler())])
    columns = Columns.from_table(table.X).for_linear(None, sparse=True)[0]
    return Pipeline([("named", NamedColumns(list(table.schema.kinds))), ("columns", columns)])


def _check_folds_and_penalty(surrogate: str, cv: int | None, C: float | None) -> None:
    if cv is not None and (cv < 0 or cv == 1):
        raise ValueError(f"--cv must be 0 or at least 2, got {cv}.")
    if C is not None:
        check_positive_number(C, "--C")
        if cv != 0 or surrogate == "aum":
            raise ValueError(
                "--C is for a single fit: give --cv 0 with it and a --surrogate other than aum, or "
                "leave it out."
            )
    if surrogate == "aum" and cv:
        raise ValueError("--surrogate aum has nothing to choose by --cv; leave --cv out.")


def _check_folds(cv: int, table: LabelledTable) -> None:
    """Every fold needs a row of each class, or a query."""
    if table.rows.query is None:
        n_units, units = int(np.bincount(table.y).min()), "rows in the smaller class"
    else:
        n_units, units = int(np.unique(table.rows.query).size), "queries"
    if cv > n_units:
        raise ValueError(f"--cv {cv} needs at least {cv} {units}; there are {n_units}.")
