"""Fits of scorecards, few columns, selections and triage, and measures of decisions and segments."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from aucuba import (
    ColumnPreparer,
    FalseDiscoverySelector,
    FixedPrecisionClassifier,
    PartialAUCClassifierCV,
    RegionScorecard,
    TriageClassifier,
    explain_rows,
    metrics,
)
from benchmarks._digest_measures import queries, scored, weights
from benchmarks._digest_models import promised
from benchmarks._digest_tables import (
    N_TRAIN,
    Arrays,
    digested,
    fixed_rows,
    mixed_frame,
    of_model,
    row_groups,
    row_weights,
    training,
)

RANGE = (0.0, 0.2)


def numbers_of(rows: Any) -> list[list[float]]:
    """Read the numbers of a list of mappings."""
    return [[float(one) for one in row.values() if isinstance(one, int | float)] for row in rows]


def card(**params: Any) -> Arrays:
    X, y = training()
    model = RegionScorecard(RANGE, max_items=3, cv=3, random_state=0, **params)
    model.fit(X, y, sample_weight=row_weights())
    risks = {"calibration": model.calibration_, "risk": numbers_of(model.risk_)}
    return of_model(model, fixed_rows(), points=numbers_of(model.items_), **risks)


@digested
def scorecard() -> Arrays:
    return card()


@digested
def scorecard_restricted() -> Arrays:
    return card(max_points=3, max_per_column=1, sign=1, exclude=[5])


@digested
def linear_of_few_columns() -> Arrays:
    model = PartialAUCClassifierCV(RANGE, Cs=2, cv=3, max_features=2, random_state=0)
    return of_model(model.fit(*training()), fixed_rows())


@digested
def prepared_columns() -> Arrays:
    frame, y = mixed_frame()
    preparer = ColumnPreparer().fit(frame[:N_TRAIN], y[:N_TRAIN])
    return {"columns": preparer.transform(frame[N_TRAIN:])}


def selection(**params: Any) -> Arrays:
    groups = params.pop("groups", None)
    model = FalseDiscoverySelector(LogisticRegression(), 0.3, random_state=0, **params)
    model.fit(*training(), groups=groups)
    new = None if groups is None else 1000 + np.arange(len(fixed_rows())) // 4
    found = model.select(fixed_rows(), groups=new)
    return {"mask": found.mask, "p_values": found.p_values, "share": model.smallest_share_}


@digested
def selection_on_average() -> Arrays:
    return selection()


@digested
def selection_with_confidence() -> Arrays:
    return selection(confidence=0.9)


@digested
def selection_of_groups() -> Arrays:
    return selection(groups=row_groups())


@digested
def triage_by_class() -> Arrays:
    return promised(TriageClassifier(LogisticRegression(), 0.1, 0.9))


@digested
def triage_by_value() -> Arrays:
    model = TriageClassifier(
        LogisticRegression(), min_ppv=0.2, min_npv=0.6, target_prevalence=0.3, confidence=0.8
    )
    return promised(model.set_params(on_failure="trivial"))


@digested
def promised_precision_at_prevalence() -> Arrays:
    model = FixedPrecisionClassifier(LogisticRegression(), 0.3, 0.8, target_prevalence=(0.2, 0.3))
    return promised(model)


@digested
def reasons_of_rows() -> Arrays:
    found = explain_rows(LogisticRegression().fit(*training()), fixed_rows(), random_state=0)
    return {
        "contributions": found.contributions,
        "reasons": [" / ".join(row) for row in found.reasons],
    }


@digested
def measures_of_decisions() -> Arrays:
    y, first, tied = scored()
    cost = {"threshold": 1.0, "cost_false_negative": 5.0}
    rows = {"sample_weight": weights()}
    return {
        "precision": metrics.average_precision_score(y, tied, recall_range=(0.0, 0.8), **rows),
        "expected": metrics.average_precision_score(y, tied, ties="expected"),
        "f": metrics.f_measure_score(y, tied, beta=2.0, qid=queries()),
        "benefit": metrics.net_benefit_score(y, expit(first), threshold=0.2, **rows),
        "cost": metrics.expected_cost_score(y, tied, target_prevalence=0.1, **cost),
        "detection": metrics.detection_cost_score(y, tied, target_prior=0.3),
        "youden": metrics.youden_score(y, tied, **rows),
        "distance": metrics.kolmogorov_smirnov_score(y, tied),
        "value": metrics.value_recall(y, tied, np.arange(y.size), fraction=0.2),
        "gains": [astuple(one)[:-1] for one in metrics.gains_table(y, tied, **rows)],
    }


@digested
def intervals_of_decisions() -> Arrays:
    y, first, tied = scored()
    asked: dict[str, dict[str, Any]] = {
        "average_precision": {},
        "f_measure": {"threshold": 1.0},
        "expected_cost": {"threshold": 1.0},
        "youden": {},
    }
    found: Arrays = {}
    for name, params in asked.items():
        settings = {"n_resamples": 200, "random_state": 0} | params
        one = metrics.score_interval(name, y, tied, **settings)
        two = metrics.compare_scores(name, y, first, tied, **settings)
        found[name] = (one.value, one.low, one.high, two.low, two.high, two.p_value)
    curve = metrics.decision_curve(y, expit(first), expit(tied), thresholds=[0.1, 0.3])
    return found | {"curve": [(one.low, one.high, one.p_value) for one in curve]}


@digested
def measures_by_segment() -> Arrays:
    y, first, tied = scored()
    by = queries() % 3
    gap = metrics.largest_gap(
        "partial_auc", y, tied, by=by, fpr_range=RANGE, n_permutations=99, random_state=0
    )
    points = metrics.operating_point(y, tied, fpr=0.1, by=by)
    listed = metrics.score_interval("partial_auc", y, first, by=by, fpr_range=RANGE)
    return {
        "gap": (gap.difference, gap.p_value),
        "points": [(one.fpr, one.tpr, one.threshold) for one in points],
        "intervals": [(one.value, one.low, one.high) for one in listed],
    }


@digested
def measures_by_class() -> Arrays:
    _, first, tied = scored()
    y = queries() % 3
    scores = np.column_stack([first, tied, first - tied])
    found = metrics.score_by_class(
        "partial_auc", y, scores, fpr_range=RANGE, n_resamples=50, random_state=0
    )
    return {"values": [(one.value, one.low, one.high) for one in found]}
