"""The estimators that ``aucuba fit`` trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from aucuba._base._callbacks import HAS_CALLBACKS
from aucuba._base._validation import check_choice, check_positive_number
from aucuba._columns._named import Columns, NamedColumns
from aucuba._roc._region import Region
from aucuba.cli._console import FitProgress, progress_bar
from aucuba.cli._options import lowest_tpr, refuse_given
from aucuba.cli._probe import Probe, run_probe
from aucuba.cli._record import FitRecord
from aucuba.cli._samples import LabelledTable
from aucuba.ensemble import RegionStack
from aucuba.linear import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV

SURROGATES = ("direct", "tight", "structural", "aum")
_KINDS = ("linear", "stack")


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

    fpr_range: tuple[float, float]
    min_tpr: float
    kind: str
    surrogate: str | None
    classifier: Any

    @classmethod
    def from_options(
        cls,
        fpr_range: tuple[float, float],
        min_tpr: float | None,
        kind: str,
        surrogate: str | None,
        cv: int | None,
        C: float | None,
        max_iter: int | None,
        random_state: int,
    ) -> Plan:
        """Choose the estimator; an option without effect on it is an error."""
        lowest = lowest_tpr(min_tpr)
        if check_choice(kind, "--model", _KINDS) == "stack":
            refuse_given("is for --model linear", surrogate=surrogate, C=C, max_iter=max_iter)
            if cv is not None and cv < 2:
                raise ValueError(f"--cv must be at least 2 for a stack, got {cv}.")
            folds = 5 if cv is None else cv
            stack = RegionStack(fpr_range, min_tpr=lowest, cv=folds, random_state=random_state)
            return cls(fpr_range, lowest, kind, None, stack)
        surrogate = check_choice(surrogate or "direct", "--surrogate", SURROGATES)
        _check_folds_and_penalty(surrogate, cv, C)
        limit: dict[str, Any] = {}
        if max_iter is not None:
            limit["max_iter"] = int(check_positive_number(max_iter, "--max-iter", integer=True))
        if surrogate == "aum":
            if lowest > 0.0:
                raise ValueError("--surrogate aum does not support --min-tpr.")
            return cls(fpr_range, lowest, kind, surrogate, AUMClassifier(**limit))
        limit |= {"surrogate": surrogate, "min_tpr": lowest, "random_state": random_state}
        classifier = (
            PartialAUCClassifier(fpr_range, C=1.0 if C is None else C, **limit)
            if cv == 0
            else PartialAUCClassifierCV(fpr_range, cv=cv, **limit)
        )
        return cls(fpr_range, lowest, kind, surrogate, classifier)

    def check_table(self, table: LabelledTable, cv: int | None) -> None:
        """Refuse data that the estimator does not support."""
        if table.rows.query is not None and (self.kind == "stack" or self.surrogate == "aum"):
            option = "--surrogate aum" if self.surrogate == "aum" else "--model stack"
            raise ValueError(f"{option} does not support --qid; leave --qid out or choose another.")
        if self.kind == "stack" and table.schema.n_features is not None:
            raise ValueError("--model stack needs named columns, not svmlight; use --model linear.")
        if cv:
            _check_folds(cv, table)

    def record(self, table: LabelledTable) -> FitRecord:
        """Note what a saved model must know of its training."""
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
        classifier = self.classifier
        prepare, prepared = _prepare(table)
        fit_params: dict[str, Any] = {"sample_weight": table.rows.weight}
        if table.rows.query is not None:
            fit_params["qid"] = table.rows.query
        X = table.X if self.kind == "stack" else prepared
        with progress_bar(f"Training {type(classifier).__name__}") as bar:
            if HAS_CALLBACKS:
                classifier.set_callbacks(FitProgress(bar))
            try:
                classifier.fit(X, table.y, **fit_params)
            finally:
                if HAS_CALLBACKS:
                    classifier.set_callbacks()
            baseline = LogisticRegression(C=self._logistic_C(), max_iter=1000)
            baseline.fit(prepared, table.y, sample_weight=table.rows.weight)
        first = prepare.steps[:1] if self.kind == "stack" else prepare.steps
        model = Pipeline([*first, ("model", classifier)])
        return model, Pipeline([*prepare.steps, ("model", baseline)])

    def probe(self, table: LabelledTable, budget_s: float, random_state: int) -> Probe | None:
        """Compare a fitted linear model's kind with boosted trees, where a stack could replace it."""
        replaceable = table.schema.n_features is None and table.rows.query is None
        if self.kind == "stack" or self.surrogate == "aum" or not replaceable:
            return None
        region = Region.from_params(self.fpr_range, None, self.min_tpr)
        with progress_bar("Probing with boosted trees"):
            return run_probe(table, region, self._logistic_C(), budget_s, random_state)

    def _logistic_C(self) -> float:
        """The penalty that was chosen for logistic regression, where one was."""
        chosen = vars(self.classifier).get("C_", 1.0) if self.surrogate == "direct" else 1.0
        return float(chosen)


def fit_facts(classifier: Any) -> dict[str, Any]:
    """Collect the certificate and the choices of a fitted classifier, those that it has.

    A promised threshold comes with those of its base.
    """
    if "promise_" in vars(classifier):
        base = fit_facts(classifier.estimator_)
        kept = ("promise_", "guarantee_", "confidence", "threshold_")
        promise = {name.rstrip("_"): vars(classifier)[name] for name in kept}
        return {
            **base,
            "estimator": type(classifier).__name__,
            "base": base["estimator"],
            **promise,
        }
    names = (
        "status_",
        "n_iter_",
        "objective_",
        "lower_bound_",
        "gap_",
        "C_",
        "blend_",
        "predict_fpr_",
    )
    facts = {name[:-1]: vars(classifier)[name] for name in names if name in vars(classifier)}
    if vars(classifier).get("partial_auc_"):
        facts["partial_auc"] = classifier.partial_auc_
    if isinstance(classifier, RegionStack):
        facts["partial_auc"] = {row["member"]: row["partial_auc"] for row in classifier.report_}
    return {"estimator": type(classifier).__name__, **facts}


def _prepare(table: LabelledTable) -> tuple[Pipeline, Any]:
    """Fit the preparation for linear models, and prepare the rows."""
    if table.schema.n_features is not None:
        steps: list[Any] = [("columns", MaxAbsScaler())]
    else:
        columns = Columns.from_table(table.X).for_linear(None, sparse=True)[0]
        steps = [("named", NamedColumns(table.schema.names)), ("columns", columns)]
    prepare = Pipeline(steps)
    return prepare, prepare.fit_transform(table.X)


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
