"""Cells of the study of leads: pairs of models fitted once, and the partial AUC of their blends."""

from __future__ import annotations

import csv
import json
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np

from aucuba import PartialAUCClassifierCV
from aucuba._roc._comparison import RegionComparison
from aucuba._rows._lead import Lead
from aucuba.ensemble import RegionStack
from aucuba.ensemble import _region_stack as stack_module
from aucuba.ensemble._blend import Blend, CrossFittedBlend, StackedBlend
from aucuba.linear import _partial_auc_cv as linear_module
from aucuba.metrics import partial_auc_score
from benchmarks import any_model_quality, changepoint_penalties, partial_auc_quality
from reproductions.data.imbalanced import (
    load_a9a,
    load_adbench,
    load_fingerprint_subset,
    load_tweets,
)

RESULTS = Path(__file__).parent / "results"
CELLS = RESULTS / "one_comparison.csv"
COLUMNS = ["kind", "set", "split", "range", "difference", "error", "curve", "more", "seconds"]
WEIGHTS = np.linspace(0.0, 1.0, 41)
N_SPLITS = 5
# Standard errors by which a choice between two models may have to lead.
ERRORS = (1.0, 2.0)
N_NOISE = 200


def rows_of(load, n_rows, split=0):
    """Some rows of a set, both classes in proportion."""
    X, y = load()
    rng = np.random.default_rng(split)
    kept = np.concatenate(
        [
            rng.permutation(np.flatnonzero(y == one))[: round(n_rows * np.mean(y == one))]
            for one in (0, 1)
        ]
    )
    return X[np.sort(kept)], y[np.sort(kept)]


def with_noise(load, n_rows):
    """Some rows of a set, with 200 columns of noise."""
    X, y = rows_of(load, n_rows)
    noise = np.random.default_rng(0).normal(size=(len(X), N_NOISE))
    return np.column_stack([X, noise]), y


def of_target(target):
    X, targets = load_fingerprint_subset()
    rows = np.flatnonzero((targets == 0) | (targets == target))
    return X[rows], targets[rows] == target


def adbench(name):
    return lambda: load_adbench(name)


def dense_a9a():
    X, y = load_a9a()
    return X.toarray(), y


DEVELOPMENT = partial_auc_quality.SETS
SMALL = {
    f"{name}, 600 rows": (lambda name=name, load=load: rows_of(load, 600))
    for name, load in [
        *((one, adbench(one)) for one in ("annthyroid", "landsat", "campaign", "magic_gamma")),
        ("a9a", dense_a9a),
    ]
}
WIDE = {
    f"{name} + {N_NOISE} noise columns": (lambda name=name: with_noise(adbench(name), 2000))
    for name in ("yeast", "letter", "Wilt", "landsat", "annthyroid")
}
WIDE["tweets, 512 columns"] = lambda: rows_of(load_tweets, 3000)
WIDE |= {f"fingerprints of {t}": (lambda t=t: of_target(t)) for t in (116, 10378)}
GROUPS = {"development": DEVELOPMENT, "small": SMALL, "wide": WIDE}
STACK_SETS = any_model_quality.SETS | SMALL


def leads_in_C(record, n_errors):
    """`choose_C` at a number of errors, with the lead of every C over that of best log-loss."""
    chosen_by_library = linear_module.choose_C

    def choose(logistic, sample, region, Cs, *compare):
        _, results = chosen_by_library(logistic, sample, region, Cs, *compare)
        compared = RegionComparison(sample.take(logistic.covered), logistic.scores, region)
        best = int(np.argmin(results["log_loss"]))
        leads = [compared.lead(k, best).z for k in range(Cs.size)]
        record.update(Cs=Cs.tolist(), best=best, z=np.round(leads, 4).tolist())
        record["values"] = np.round(compared.values, 6).tolist()
        return place_of_C(record, n_errors), results

    return choose


def place_of_C(record, n_errors):
    """The C of highest partial AUC among those that lead by more than a number of errors."""
    ahead = [k for k, z in enumerate(record["z"]) if z > n_errors]
    return max(ahead, key=lambda k: record["values"][k]) if ahead else record["best"]


def linear_cell(data, limits, n_errors=2.0):
    """The cell of `PartialAUCClassifierCV` on one split, C at two standard errors."""
    X_train, X_test, y_train, y_test = data
    more = {}
    with mock.patch.object(linear_module, "choose_C", leads_in_C(more, n_errors)):
        model = PartialAUCClassifierCV(limits, random_state=0).fit(X_train, y_train)
    more["C"] = model.C_
    if not model.partial_auc_:
        lead = Lead(np.nan, np.nan)
    else:
        difference = model.partial_auc_["region"] - model.partial_auc_["logistic"]
        lead = Lead(difference, model.partial_auc_error_["region - logistic"])
    first, second = (
        np.ravel(X_test @ coef[0]) for coef in (model.logistic_coef_, model.region_coef_)
    )
    return lead, curve_of(first, second, y_test, limits), more


def curve_of(first, second, y, limits):
    """pAUC of ``(1 - w) first + w second`` at every weight."""
    mixed = [(1 - w) * first + w * second for w in WEIGHTS]
    return [partial_auc_score(y, scores, fpr_range=limits) for scores in mixed]


def stack_cell(data, limits, split, memory):
    """The cell of the default `RegionStack` on one split."""
    X_train, X_test, y_train, y_test = data
    seen = {}

    class Recorded(StackedBlend):
        @classmethod
        def from_scores(cls, *args):
            seen["args"] = args
            return StackedBlend.from_scores(*args)

    with mock.patch.object(stack_module, "StackedBlend", Recorded):
        stack = RegionStack(limits, memory=memory, random_state=split).fit(X_train, y_train)
    scores, sample, splits, for_region, region = seen["args"]
    test, plain = stack.member_scores(X_test), np.flatnonzero(~for_region)
    more, lead, curve = {"shrinkage": stack.shrinkage_, "weight": stack.region_weight_}, None, None
    losses = {}
    for shrinkage in (0.0, 1.0):
        folds = CrossFittedBlend.from_scores(scores, sample, splits, shrinkage)
        others = CrossFittedBlend.from_scores(scores, sample, splits, shrinkage, plain)
        rivals = np.array([one.log_odds(scores, splits) for one in (folds, others)])
        losses[shrinkage] = np.logaddexp(0.0, np.where(sample.positive, -rivals[0], rivals[0]))
        found = RegionComparison(sample, rivals, region, sample.group).lead(0, 1)
        blends = (
            Blend.from_scores(scores[:, plain], sample, shrinkage).log_odds(test[:, plain]),
            Blend.from_scores(scores, sample, shrinkage).log_odds(test),
        )
        reached = curve_of(*blends, y_test, limits)
        if shrinkage == stack.shrinkage_:
            lead, curve = found, reached
    gap = losses[1.0] - losses[0.0]
    more["shrinkage z"] = Lead(float(gap.mean()), float(gap.std() / np.sqrt(gap.size))).z
    return lead, curve, more


def detector_cells(name):
    """Accuracy of the detector and of the constant on every fold, by the errors a choice takes."""
    problem = changepoint_penalties.load(name)
    is_clear = Lead.is_clear
    for n_errors in ERRORS:
        with mock.patch.object(Lead, "is_clear", lambda lead, _=1.0, n=n_errors: is_clear(lead, n)):
            for fold in np.unique(problem.fold):
                found = changepoint_penalties.fold_results(problem, int(fold))
                gain = found["detector"][0] - found["constant"][0]
                print(f"detector {name} {fold}, {n_errors} errors: {gain:+.4f}", flush=True)
                yield {"split": int(fold), "range": n_errors, "difference": f"{gain:.6f}"}


def done_cells():
    if not CELLS.exists():
        return []
    with CELLS.open() as file:
        return list(csv.DictReader(file))


def run(kind, names):
    """Compute the missing cells of some sets, one line each."""
    done = {(r["kind"], r["set"], int(r["split"]), r["range"]) for r in done_cells()}
    with CELLS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        if kind == "detector":
            for name in names:
                if not any(one[:2] == (kind, name) for one in done):
                    writer.writerows({"kind": kind, "set": name, **c} for c in detector_cells(name))
            return
        for split in range(N_SPLITS):
            for name in names:
                wanted = [
                    one
                    for one in ranges_of(kind, name, split)
                    if (kind, name, split, str(one)) not in done
                ]
                for cell in cells_of(kind, name, split, wanted):
                    writer.writerow(cell)
                    file.flush()


def ranges_of(kind, name, split):
    """Ranges of a set; of ``"C"``, those in which one error would choose another C than two."""
    if kind == "stack":
        return any_model_quality.RANGES
    ranges = partial_auc_quality.RANGES if name in DEVELOPMENT else [(0.0, 0.05), (0.0, 0.1)]
    if kind == "linear":
        return ranges
    cells = [
        r for r in done_cells() if (r["kind"], r["set"], r["split"]) == ("linear", name, str(split))
    ]
    leads = {r["range"]: json.loads(r["more"]) for r in cells}
    return [
        one
        for one in ranges
        if "z" in leads[str(one)]
        and place_of_C(leads[str(one)], 1.0) != place_of_C(leads[str(one)], 2.0)
    ]


def cells_of(kind, name, split, wanted):
    if not wanted:
        return
    if kind in ("linear", "C"):
        load = {**DEVELOPMENT, **SMALL, **WIDE}[name]
        data = partial_auc_quality.halves(*load(), split)
    else:
        data = any_model_quality.halves(*STACK_SETS[name](), split)
    with tempfile.TemporaryDirectory(prefix="one_comparison_") as memory:
        for limits in wanted:
            start = time.process_time()
            if kind in ("linear", "C"):
                lead, curve, more = linear_cell(data, limits, 2.0 if kind == "linear" else 1.0)
            else:
                lead, curve, more = stack_cell(data, limits, split, memory)
            seconds = time.process_time() - start
            print(f"{kind} {name} {split} {limits}: z {lead.z:+.2f} ({seconds:.1f} s)", flush=True)
            yield {
                "kind": kind,
                "set": name,
                "split": split,
                "range": limits,
                "difference": f"{lead.difference:.6g}",
                "error": f"{lead.error:.6g}",
                "curve": " ".join(str(round(1e5 * value)) for value in curve),
                "more": json.dumps(more),
                "seconds": f"{seconds:.2f}",
            }
