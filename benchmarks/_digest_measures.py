"""Measures, intervals, comparisons, summaries, losses and model files for ``benchmarks.digests``."""

from __future__ import annotations

import tempfile
from dataclasses import astuple
from pathlib import Path

import numpy as np

from aucuba import PartialAUCClassifier, metrics
from aucuba.objectives import PartialAUCMetric, PartialAUCObjective
from aucuba.persistence import load_model, save_model
from aucuba.threshold import RateMonitor, rows_needed
from benchmarks._digest_tables import Arrays, digested, fixed_rows, rows, training

RANGE = (0.0, 0.2)


def scored() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and the scores of two models, the second with ties."""
    X, y = rows()
    return y, X[:, 0], np.round(X[:, 0] + X[:, 1] ** 2, 1)


def queries() -> np.ndarray:
    """Ten queries, not sorted."""
    return np.random.default_rng(5).permutation(rows()[1].size) % 10


def weights() -> np.ndarray:
    return np.random.default_rng(6).integers(1, 4, size=rows()[1].size).astype(float)


@digested
def measures_of_a_region() -> Arrays:
    y, first, tied = scored()
    area, given = metrics.partial_auc_score, {"fpr_range": RANGE}
    return {
        "plain": area(y, first, **given),
        "tied": area(y, tied, **given),
        "standardized": area(y, tied, **given, standardized=True),
        "weighted": area(y, tied, **given, sample_weight=weights()),
        "queries": area(y, tied, **given, qid=queries()),
        "both": area(y, tied, **given, qid=queries(), sample_weight=weights()),
        "two_way": area(y, tied, **given, min_tpr=0.3),
        "log": area(y, tied, fpr_range=(0.01, 0.5), fpr_weight="log"),
        "tpr_at_fpr": metrics.tpr_at_fpr_score(y, tied, fpr=0.1),
        "fpr_at_tpr": metrics.fpr_at_tpr_score(y, tied, tpr=0.8, sample_weight=weights()),
        "log_auc": metrics.log_auc_score(y, tied, fpr_range=(0.01, 0.3)),
    }


@digested
def measures_of_the_top() -> Arrays:
    y, _, tied = scored()
    return {
        "auc_at_k": metrics.auc_at_k_score(y, tied, k=50),
        "binned": metrics.binned_auc_score(y, tied, bin_sizes=5),
        "bedroc": metrics.bedroc_score(y, tied, qid=queries()),
        "rie": metrics.rie_score(y, tied),
        "enrichment": metrics.enrichment_factor_score(y, tied, fraction=0.1),
        "precision_at_k": metrics.precision_at_k_score(y, tied, k=50, sample_weight=weights()),
        "recall_at_k": metrics.recall_at_k_score(y, tied, k=50),
        "precision_at_recall": metrics.precision_at_recall_score(y, tied, recall=0.5),
        "recall_at_precision": metrics.recall_at_precision_score(y, tied, precision=0.5),
        "equal_error_rate": metrics.equal_error_rate_score(y, tied),
        "aum": metrics.aum_score(y, tied, sample_weight=weights()),
        "operating_point": astuple(metrics.operating_point(y, tied, fpr=0.1)),
        "rates": astuple(metrics.rates_at_threshold(y, tied, threshold=1.0)),
    }


@digested
def intervals() -> Arrays:
    y, first, tied = scored()
    found = {}
    asked = {
        "area": ("partial_auc", {"fpr_range": RANGE}),
        "area_queries": ("partial_auc", {"fpr_range": RANGE, "qid": queries()}),
        "area_groups": ("partial_auc", {"fpr_range": RANGE, "groups": queries()}),
        "area_weighted": ("partial_auc", {"fpr_range": RANGE, "sample_weight": weights()}),
        "area_bootstrap": ("partial_auc", {"fpr_range": RANGE, "method": "bootstrap"}),
        "tpr_at_fpr": ("tpr_at_fpr", {"fpr": 0.1}),
        "precision_at_k": ("precision_at_k", {"k": 50}),
        "bedroc": ("bedroc", {}),
    }
    for name, (metric, params) in asked.items():
        one = metrics.score_interval(metric, y, tied, n_resamples=200, random_state=0, **params)
        found[name] = (one.value, one.low, one.high)
    area = metrics.score_interval(
        "partial_auc", y, first, fpr_range=RANGE, n_resamples=200, random_state=0
    )
    return found | {"by_its_own_name": (area.value, area.low, area.high)}


@digested
def comparisons() -> Arrays:
    y, first, tied = scored()
    found = {}
    asked = {
        "area": ("partial_auc", {"fpr_range": RANGE}),
        "area_queries": ("partial_auc", {"fpr_range": RANGE, "qid": queries()}),
        "area_groups": ("partial_auc", {"fpr_range": RANGE, "groups": queries()}),
        "area_bootstrap": ("partial_auc", {"fpr_range": RANGE, "method": "bootstrap"}),
        "area_not_worse": (
            "partial_auc",
            {"fpr_range": RANGE, "margin": 0.05, "alternative": "non-inferior"},
        ),
        "tpr_at_fpr": ("tpr_at_fpr", {"fpr": 0.1}),
    }
    for name, (metric, params) in asked.items():
        one = metrics.compare_scores(
            metric, y, first, tied, n_resamples=200, random_state=0, **params
        )
        found[name] = (one.difference, one.low, one.high, one.p_value)
    return found


@digested
def study_sizes() -> Arrays:
    y, first, tied = scored()
    given = {"fpr_range": RANGE, "random_state": 0}
    size = metrics.sample_size_for("partial_auc", y, first, half_width=0.05, **given)
    power = metrics.power_of(
        "partial_auc", y, first, tied, n_positives=100, n_negatives=400, difference=0.1, **given
    )
    needed = [rows_needed(promise, 0.1, prevalence=0.2) for promise in ("fpr", "alerts")]
    return {"size": astuple(size), "power": power, "rows_needed": needed}


@digested
def sketch_in_parts() -> Arrays:
    y, _, tied = scored()
    sketch = metrics.RocSketch(RANGE, capacity=150)
    for part in np.array_split(np.arange(y.size), 4):
        one = metrics.RocSketch(RANGE, capacity=150)
        sketch = sketch.merge(one.update(y[part], tied[part], sample_weight=weights()[part]))
    area = sketch.interval()
    return {
        "area": sketch.partial_auc(),
        "tpr": sketch.tpr_at_fpr(0.1),
        "threshold": sketch.threshold(0.1),
        "covered": sketch.covered_fpr,
        "interval": (area.value, area.low, area.high),
    }


@digested
def monitor_of_a_rate() -> Arrays:
    rng = np.random.default_rng(7)
    found: Arrays = {}
    for rate, limit in (("fpr", 0.05), ("tpr", 0.8), ("precision", 0.5), ("alerts", 0.1)):
        monitor = RateMonitor(limit, rate)
        for chance in (0.02, 0.05, 0.2):
            y = None if rate == "alerts" else rng.random(300) < 0.3
            groups = np.arange(300) // 3 if rate == "fpr" else None
            monitor.update(y, rng.random(300) < chance, groups)
        numbers = (monitor.log_evidence, monitor.log_detector, monitor.observed, *monitor.interval)
        found |= {rate: numbers, f"{rate}_status": [monitor.status, str(monitor.changed)]}
    return found


@digested
def objectives_of_boosting() -> Arrays:
    y, first, _ = scored()
    found: Arrays = {"metric": PartialAUCMetric(RANGE)(y, first)}
    for name in ("tight", "direct"):
        objective = PartialAUCObjective(RANGE, name, min_tpr=0.2)
        found[f"{name}_gradient"], found[f"{name}_curvature"] = objective(y, first, weights())
        found[f"{name}_grouped"], _ = objective(y, first, None, [200, 300])
    return found


@digested
def losses_of_networks() -> Arrays:
    import torch

    from aucuba.objectives import AUMLoss, PartialAUCLoss

    y, first, _ = scored()
    losses = {
        "tight": PartialAUCLoss(RANGE),
        "direct": PartialAUCLoss(RANGE, surrogate="direct", bank_size=0),
        "aum": AUMLoss(),
    }
    found: Arrays = {}
    for name, loss in losses.items():
        for part in (slice(0, 250), slice(250, 500)):
            score = torch.tensor(first[part]).requires_grad_()
            value = loss(score, torch.tensor(y[part].astype(float)))
            value.backward()
        found |= {f"{name}_value": value.item(), f"{name}_gradient": score.grad}
    return found


@digested
def model_read_back() -> Arrays:
    model = PartialAUCClassifier((0.0, 0.3)).fit(*training())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.aucuba"
        save_model(model, path)
        back = load_model(path)
    return {"scores": back.decision_function(fixed_rows())}
