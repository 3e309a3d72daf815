"""Choosing by average precision instead of the region's measure: does held-out average precision gain?

Users who judge a model by its average precision might want `PartialAUCClassifierCV` and `RegionStack`
to choose by it. Here every comparison of two models (the penalty C, the blend of the linear models, the
weight of the members trained for the region, the rounds of a booster) looks at the average precision of
the same held-out scores, with its paired standard error from first-order effects. The losses keep the
region. Stacks have no parameter for it: while one is fitted, its comparisons are replaced. The control
is the same fit with the region's own comparisons; both share splits, seeds and, where the choices
agree, fits. `RegionReweighted` compares no models, so there is nothing to choose.

    python -m benchmarks average_precision_choice [linear | stack [set ...]]
    python -m benchmarks.average_precision_choice --table

Finished cells are kept in ``results/average_precision_choice.csv``, and beside it those in the folder
named by the variable ``OUT``; a rerun computes what is missing.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucuba import PartialAUCClassifierCV
from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._comparison import PrecisionComparison
from aucuba.ensemble import RegionStack, _blend, _members
from aucuba.linear import _partial_auc_cv as linear_module
from aucuba.metrics import average_precision_score, partial_auc_score
from benchmarks import any_model_quality, partial_auc_quality
from reproductions.paired import corrected_p, holm
from reproductions.tables import markdown_table, write_signed

NAME = "average_precision_choice"
KEPT = Path(__file__).parent / "results"
RESULTS = Path(os.environ.get("OUT", KEPT))
COLUMNS = ("kind", "set", "split", "range", "choice", "weight", "detail", "ap", "pauc")
CHOICES = ("region", "average precision")
N_SPLITS = 5
STACK_ROWS = 5_000
# One member by log-loss and two for the region, whose weight, and the booster's rounds, are chosen.
MEMBERS = ["splines_logistic", "boosting", "linear"]
SETS = {"linear": partial_auc_quality.SETS, "stack": any_model_quality.SETS}
RANGES = {"linear": partial_auc_quality.RANGES, "stack": any_model_quality.RANGES[:2]}


def precision_placements(sample, scores, region) -> SimpleNamespace:
    """The value by which a booster's rounds are chosen."""
    return SimpleNamespace(value=float(PrecisionComparison(sample, scores[None], region).values[0]))


@contextmanager
def choosing_by(choice: str):
    """Let the comparisons of a stack look at the average precision, or leave them to the region."""
    with ExitStack() as stack:
        if choice != CHOICES[0]:
            for module, name, new in (
                (_blend, "RegionComparison", PrecisionComparison),
                (_members, "region_placements", precision_placements),
            ):
                stack.enter_context(mock.patch.object(module, name, new))
        yield


class Remembered:
    """A task of cross-validation that is done once per training part and C, whatever chooses."""

    def __init__(self, task: Callable) -> None:
        self.task, self.known = task, {}

    def __call__(self, split, design, sample, region, *rest):
        own = tuple(np.ravel(one).tobytes() if np.ndim(one) else one for one in rest[:1])
        key = (split[0].tobytes(), region.fpr_range, *own)
        if key not in self.known:
            self.known[key] = self.task(split, design, sample, region, *rest)
        return self.known[key]


def linear_cells(name: str, split: int, wanted: list):
    """Both choices of `PartialAUCClassifierCV` in every range, from shared fits."""
    X, y = SETS["linear"][name]()
    X_train, X_test, y_train, y_test = partial_auc_quality.halves(X, y, split)
    for limits in wanted:
        tasks = {
            one: Remembered(getattr(linear_module, one))
            for one in ("logistic_path", "anchored_half")
        }
        with mock.patch.multiple(linear_module, **tasks):
            for choice in CHOICES:
                scoring = "partial_auc" if choice == CHOICES[0] else "average_precision"
                model = PartialAUCClassifierCV(limits, scoring=scoring, random_state=0)
                model.fit(X_train, y_train)
                score = model.decision_function(X_test)
                yield limits, choice, model.blend_, f"C {model.C_:g}", y_test, score


def stack_cells(name: str, split: int, wanted: list):
    """Both choices of a stack in every range; fits that agree are shared."""
    X, y = SETS["stack"][name]()
    with mock.patch.object(any_model_quality, "MAX_ROWS", STACK_ROWS):
        X_train, X_test, y_train, y_test = any_model_quality.halves(X, y, split)
    with tempfile.TemporaryDirectory() as memory:
        for limits in wanted:
            for choice in CHOICES:
                with choosing_by(choice):
                    stack = RegionStack(
                        limits, estimators=MEMBERS, memory=memory, random_state=split
                    ).fit(X_train, y_train)
                # The booster's own scores show whether both choices took the same rounds.
                rounds = np.sum(dict(stack.members_)["boosting"].oof_scores_)
                score = stack.decision_function(X_test)
                yield limits, choice, stack.region_weight_, f"rounds {rounds:.6g}", y_test, score


def read_cells() -> list[dict]:
    found: dict = {}
    for path in dict.fromkeys((KEPT / f"{NAME}.csv", RESULTS / f"{NAME}.csv")):
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    found[tuple(row[one] for one in COLUMNS[:5])] = row
    return list(found.values())


def run(kind: str, names: list[str]) -> None:
    """Compute the missing cells, one split of every set after the other."""
    done = {tuple(row[one] for one in COLUMNS[:5]) for row in read_cells()}
    cells = {"linear": linear_cells, "stack": stack_cells}[kind]
    with (RESULTS / f"{NAME}.csv").open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(COLUMNS)
        for split in range(N_SPLITS):
            for name in names:
                wanted = [
                    one
                    for one in RANGES[kind]
                    if (kind, name, str(split), str(one), CHOICES[1]) not in done
                ]
                for limits, choice, weight, detail, y, score in cells(name, split, wanted):
                    reached = (
                        average_precision_score(y, score),
                        partial_auc_score(y, score, fpr_range=limits),
                    )
                    values = [f"{one:.6f}" for one in (weight, *reached)]
                    row = [kind, name, split, limits, choice, values[0], detail, *values[1:]]
                    writer.writerow(row)
                    file.flush()
                    print(*row, flush=True)


def gains_of(kind: str) -> dict:
    """Gains of the choice by average precision, split by split, and its held-out values."""
    cells: dict = {}
    for row in read_cells():
        if row["kind"] == kind:
            one = cells.setdefault((row["set"], row["range"]), {})
            one[int(row["split"]), row["choice"]] = row
    found = {}
    for key, rows in cells.items():
        pairs = [
            [rows[split, choice] for choice in CHOICES]
            for split in range(N_SPLITS)
            if all((split, choice) in rows for choice in CHOICES)
        ]
        if len(pairs) == N_SPLITS:
            values = {
                m: 100 * np.array([[float(r[m]) for r in p] for p in pairs]) for m in ("ap", "pauc")
            }
            alike = sum(all(a[one] == b[one] for one in ("weight", "detail")) for a, b in pairs)
            found[key] = values, alike
    return found


def summary(kind: str, found: dict) -> list:
    """One line over all cells of a kind."""
    gains = {
        m: np.array([np.diff(values[m])[:, 0] for values, _ in found.values()])
        for m in ("ap", "pauc")
    }
    means = gains["ap"].mean(axis=1)
    adjusted = holm([corrected_p(one) for one in gains["ap"]])
    alike, is_clear = sum(alike for _, alike in found.values()), adjusted < 0.05
    return [
        kind,
        f"{len(found)}",
        f"{100 * alike / (N_SPLITS * len(found)):.0f} %",
        f"{means.mean():+.3f}",
        f"{corrected_p(gains['ap'].mean(axis=0)):.2g}",
        f"{np.median(means):+.3f}",
        f"{int(np.sum(means > 0))} / {int(np.sum(means < 0))}",
        f"{int(np.sum(is_clear & (means > 0)))} / {int(np.sum(is_clear & (means < 0)))}",
        f"{means.min():+.2f} / {means.max():+.2f}",
        f"{gains['pauc'].mean():+.3f}",
    ]


HEADER = [
    *("models", "cells", "same choice", "mean gain", "p of the mean", "median gain", "up / down"),
    *("significant after Holm, up / down", "worst / best", "partial AUC, mean gain"),
]
TEXT = """# Choosing by average precision

{verdict}

Points of held-out average precision x 100 that a choice by average precision gains over the choice by
the region's measure: five 50/50 splits, the linear models on the development sets and ranges of
`partial_auc_quality`, stacks of {members} on the sets of
`any_model_quality` with at most {rows:,} rows. The choice moves C and the blend of
`PartialAUCClassifierCV`; the rounds of the booster and the weight of the members trained for the region
in the stack. Losses and re-weighting keep the region, so `RegionReweighted`, which compares no models,
has nothing to choose. "Same choice": both chose the same C and weight, or the same rounds and weight.
The p-values are of the t-test over splits corrected for their overlap (Nadeau and Bengio 2003): of the
mean over all cells, and of every cell, with Holm's correction over the cells of a kind. Five splits
leave a single cell little power. The sets are those on which the models were developed; the choice by
average precision was tried once, with the rules of the choice in the region."""


def report() -> str:
    found = {kind: gains_of(kind) for kind in SETS}
    lines = [summary(kind, cells) for kind, cells in found.items() if cells]
    parts = [
        TEXT.format(rows=STACK_ROWS, members=", ".join(MEMBERS), verdict=verdict(found)),
        markdown_table(HEADER, lines),
    ]
    for kind, cells in found.items():
        if not cells:
            parts.append(f"The {kind} models have not run yet.")
            continue
        adjusted = holm([corrected_p(np.diff(values["ap"])[:, 0]) for values, _ in cells.values()])
        rows = [
            [
                *key,
                *(f"{one:.2f}" for one in values["ap"].mean(axis=0)),
                f"{np.diff(values['ap']).mean():+.3f}",
                f"{p:.2g}",
                f"{np.diff(values['pauc']).mean():+.3f}",
                f"{alike} of {N_SPLITS}",
            ]
            for (key, (values, alike)), p in zip(cells.items(), adjusted, strict=True)
        ]
        header = [kind, "range", *(f"chosen by {one}" for one in CHOICES)]
        header += ["gain", "p, Holm", "partial AUC, gain", "same choice"]
        parts.append(markdown_table(header, rows))
    return "\n\n".join(parts)


OWNERS = {"linear": "`PartialAUCClassifierCV`", "stack": "`RegionStack`"}


def verdict(found: dict) -> str:
    """Say for which models the mean over all cells gains, with Holm's correction over the kinds."""
    gains = {
        kind: np.array([np.diff(values["ap"])[:, 0] for values, _ in cells.values()]).mean(axis=0)
        for kind, cells in found.items()
        if cells
    }
    adjusted = holm([corrected_p(one) for one in gains.values()])
    lines = []
    for (kind, gain), p in zip(gains.items(), adjusted, strict=True):
        is_clear = gain.mean() > 0 and p < 0.05
        words = "gains" if is_clear else "does not gain clearly"
        has = "has" if is_clear else "has no"
        lines.append(
            f"{OWNERS[kind]} {words} ({gain.mean():+.2f} points on average, p = {p:.2g} with Holm's "
            f'correction over the kinds of models), so it {has} `scoring="average_precision"`.'
        )
    return " ".join(lines)


def main(kind: str | None = None, *names: str) -> None:
    for category in (ConvergenceWarning, FewRowsWarning):
        warnings.simplefilter("ignore", category)
    warnings.filterwarnings("ignore", message="The range covers only")
    if kind != "--table":
        for one in SETS if kind is None else (kind,):
            run(one, list(names) or list(SETS[one]))
    write_signed(RESULTS / f"{NAME}.md", report(), f"benchmarks {NAME}")


if __name__ == "__main__":
    main(*sys.argv[1:])
