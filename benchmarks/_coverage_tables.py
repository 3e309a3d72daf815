"""Tables of the study of coverage: its counts, and those of earlier code for cells not run again."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks._coverage_cells import (
    RUN_AGAIN,
    SHIFTS,
    Cell,
    all_cells,
    every_measure,
    has_rows,
    measures,
)
from reproductions.tables import markdown_table

COUNTS = ("simulations", "too_low", "too_high", "warned", "width")
LOWEST, MOST_BEYOND = 92.5, 5.0
OTHER_WORLDS = ("wide", "misses")
EARLIER = Path(__file__).parent / "results" / "interval_coverage_earlier.csv"
# How far the present code's limits lie from those of the earlier cells, and how far they may.
SAME_LIMITS = Path(__file__).parent / "results" / "interval_same_limits.csv"
SAME = 0.02


def summary(counts: Counter, measure: str, prefix: str) -> dict | None:
    """Percentages over the methods whose label starts with a prefix."""
    labels = [key[1] for key in counts if key[0] == measure and key[2] == "simulations"]
    labels = [one for one in labels if one.startswith(prefix)]
    n = sum(counts[measure, one, "simulations"] for one in labels)
    if not n:
        return None
    found: dict = {
        field: 100 * sum(counts[measure, one, field] for one in labels) / n for field in COUNTS[1:]
    }
    found["simulations"], found["is_earlier"], found["is_same"] = int(n), False, True
    found["method"] = max(labels, key=lambda one: counts[measure, one, "simulations"])
    return found | {"covered": 100 - found["too_low"] - found["too_high"]}


@cache
def earlier() -> dict[tuple[str, str], dict]:
    """What earlier code gave, by cell and measure; warnings by the present rule."""
    found = {}
    with EARLIER.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            one: dict = {field: float(row[field]) for field in ("too_low", "too_high")}
            one["covered"] = 100 - one["too_low"] - one["too_high"]
            one |= {"warned": 100.0 * int(row["warned"]), "is_earlier": True, "is_same": False}
            one["simulations"] = int(row["simulations"])
            found[row["cell"], row["measure"]] = one
    return found


@cache
def differences() -> dict[tuple[str, str], float]:
    """Largest difference of a limit by the present code and by the earlier one, in half-widths."""
    if not SAME_LIMITS.exists():
        return {}
    with SAME_LIMITS.open(encoding="utf-8", newline="") as file:
        return {
            (row["cell"], row["measure"]): float(row["largest"]) for row in csv.DictReader(file)
        }


def cell_named(name: str) -> Cell:
    """Return the cell of a name in the csv."""
    shift, sizes, kind = name.split(", ")
    m, n = (int(one.replace(",", "")) for one in sizes.split(" + "))
    return Cell(m, n, kind, float(shift))


def cell_of(found: dict[str, Counter], cell: Cell, measure: str) -> dict | None:
    """Percentages of a cell by ``method="auto"``, of the present code if it was run."""
    one = summary(found.get(cell.name, Counter()), measure, "auto")
    if one is None:
        one = earlier().get((cell.name, measure))
        if one is not None and differences().get((cell.name, measure), 1.0) <= SAME:
            one = one | {"is_same": True}
        if one is not None and not _has_rows(cell, measure):
            one = one | {"warned": 100.0}
    return one


def _has_rows(cell: Cell, measure: str) -> bool:
    return has_rows(cell, every_measure(cell)[measure])


def keeps_rule(found: dict) -> bool:
    return found["covered"] >= LOWEST and max(found["too_low"], found["too_high"]) <= MOST_BEYOND


def shown(one: dict) -> str:
    """Write a cell: bold if it breaks the rule, italic from other code, a dagger where it warns."""
    text = f"{one['covered']:.1f} ({one['too_low']:.1f}, {one['too_high']:.1f})"
    is_warned = one["warned"] > 50
    if not one["is_same"]:
        text = f"*{text}*"
    if not keeps_rule(one) and not is_warned:
        text = f"**{text}**"
    return f"{text} †" if is_warned else text


def columns() -> list[tuple[int, int, str]]:
    """Sizes and kinds of the present study and of the earlier one."""
    known = [(one.n_positives, one.n_negatives, one.kind) for one in all_cells()]
    for one in map(cell_named, dict.fromkeys(cell for cell, _ in earlier())):
        known.append((one.n_positives, one.n_negatives, one.kind))
    kinds = ("plain", "ties", "weights", "clusters", *OTHER_WORLDS)
    return sorted(set(known), key=lambda one: (one[0], one[1], kinds.index(one[2])))


def tables(found: dict[str, Counter]) -> tuple[list[str], list[str], list[str], Counter]:
    """One table per kind and size, the cells that break the rule, those warned although they may not
    be, and the numbers of cells by the code that made them."""
    text, failed, warned, made = [], [], [], Counter()
    for m, n, kind in columns():
        cells = [Cell(m, n, kind, shift) for shift in SHIFTS]
        rows, sizes = [], [Counter[int]() for _ in cells]
        for measure in every_measure(cells[0]):
            row = [measure]
            for cell, size in zip(cells, sizes, strict=True):
                one = cell_of(found, cell, measure)
                row.append("" if one is None else shown(one))
                if one is None:
                    continue
                made["earlier" if one["is_earlier"] else "present"] += 1
                made["same"] += one["is_earlier"] and one["is_same"]
                size[one["simulations"]] += 1
                label = f"{cell.name}: {measure} {row[-1].strip('*')}"
                if not keeps_rule(one) and one["warned"] <= 50 and kind not in OTHER_WORLDS:
                    failed.append(label + (" (earlier code)" if one["is_earlier"] else ""))
                if one["warned"] > 5 and not one["is_earlier"] and _may_not_warn(cell, measure):
                    warned.append(label)
            rows.append(row)
        if any(sizes):
            header = [f"{m:,} + {n:,}, {kind}"]
            for cell, size in zip(cells, sizes, strict=True):
                number = f" ({size.most_common(1)[0][0]:,})" if size else ""
                header.append(f"{cell.shift:g}{number}")
            text.append(markdown_table(header, [row for row in rows if any(row[1:])]))
    return text, failed, warned, made


def _may_not_warn(cell: Cell, measure: str) -> bool:
    is_fixed = measures(cell)[measure].sampling == "by_class" and cell.kind != "clusters"
    enough = cell.n_positives >= (30 if is_fixed else 100) and cell.n_negatives >= 300
    return enough and cell.shift <= 2.5 and _has_rows(cell, measure)


def again_rows(found: dict[str, Counter]):
    """The cells that broke the rule on earlier code: then and now."""
    for cell, measure in RUN_AGAIN:
        then = earlier()[cell.name, measure]
        now = summary(found.get(cell.name, Counter()), measure, "auto")
        row = [
            f"{cell.name}: {measure}",
            f"{then['covered']:.1f} ({then['too_low']:.1f}, {then['too_high']:.1f})",
        ]
        yield [*row, *(("not run", "", "") if now is None else (
            f"{now['simulations']:,}", shown(now), f"{now['warned']:.0f}"))]  # fmt: skip


def method_rows(found: dict[str, Counter]):
    """Lowest coverage and mean width of every method, per measure, over the columns of the rule."""
    cells = [one for one in all_cells() if one.kind not in OTHER_WORLDS and found.get(one.name)]
    for measure in dict.fromkeys(name for cell in cells for name in measures(cell)):
        for prefix in ("auto", "delong", "bootstrap"):
            seen = [
                (summary(found[cell.name], measure, prefix), cell)
                for cell in cells
                if measure in measures(cell) and _has_rows(cell, measure)
            ]
            seen = [(one, cell) for one, cell in seen if one is not None]
            if seen:
                lowest, cell = min(seen, key=lambda pair: pair[0]["covered"])
                width = np.mean([one["width"] / 100 for one, _ in seen])
                method = lowest["method"].removeprefix("auto: ")
                name = f"auto ({method})" if prefix == "auto" else prefix
                yield [measure, name, f"{lowest['covered']:.1f}", cell.name, f"{width:.3f}"]


def _worst_outside(found: dict[str, Counter]) -> str:
    """Name the lowest coverage without a warning in the populations outside the rule."""
    known = {(cell, name) for cell, name in earlier() if cell.endswith(OTHER_WORLDS)}
    cells = {one.name: one for one in all_cells() if one.kind in OTHER_WORLDS}
    seen = [
        (one, cell, name)
        for cell, name in known
        if (one := cell_of(found, cells[cell], name)) is not None and one["warned"] <= 50
    ]
    one, cell, name = min(seen, key=lambda part: part[0]["covered"])
    return f"Lowest without a warning: {cell}: {name}, {one['covered']:.1f} %."


def report(found: dict[str, Counter], n_resamples: int) -> str:
    """The whole page."""
    text, failed, warned, made = tables(found)
    kept = "Every cell keeps it." if not failed else f"{len(failed)} cells do not: "
    again = ["cell", "earlier code", "samples", "present code", "warned (%)"]
    return "\n\n".join(
        [
            "# Coverage of 95 % intervals",
            "**The rule.** At least 92.5 % of the intervals by `method=\"auto\"` hold the population's "
            "value, and at most 5 % lie wholly below it and 5 % wholly above it, wherever at most half "
            "of the samples give a `FewRowsWarning`: a cell counts as warned if more than half of its "
            "samples warn, and each with fewer than 30 effective positives, 3 positives or 6 negatives "
            "in the range does, so that the rule exempts the cells with fewer. From 30 + 300 effective "
            "rows on, no column at a distance up to 2.5 gives one (samples whose numbers are random "
            "warn below 30 positives). "
            "Limits of rates at a fixed threshold are exact and so "
            "conservative by construction. " + kept + "; ".join(failed) + ("." if failed else "") + (
                "" if not warned else " Warned although they may not be: " + "; ".join(warned) + "."
            ),
            f"**Two runs.** {made['present']:,} cells are from the present code (commit cd0e5b0 and "
            "later: `interval_coverage.csv`), and "
            f"{made['earlier']:,} from a run of commit 4db03e1 (500 to 1,000 samples each, resampled "
            "on an NVIDIA H200, `interval_coverage_earlier.csv`). Of the latter "
            f"{made['same']:,} have the same limits by the code of today, on the same samples and "
            f"resamples, to {100 * SAME:g} % of a half-width, which is .2 points of a tail "
            "(`interval_same_limits.md`); the other "
            f"{made['earlier'] - made['same']:,}, in *italics*, have not and were not run again. Since "
            "then the working model resolves the very top, rates in "
            "clusters count only the rows of their class, and fewer than 6 negatives in the range are "
            "warned of (here 3).",
            "A cell reads: coverage (intervals below the value, above the value), in percent of the "
            "samples whose number is in the header; one standard error is about "
            "1.0 point with 500, .7 with 1,000 and .5 with 2,000. Bold cells break the rule, † marks "
            "those that warn. Columns are "
            "distances between the classes in standard deviations: AUC .638, .856, .961, .990 and "
            f".9985. {n_resamples} resamples. Numbers of either class are fixed for measures of the "
            "ROC curve and random with these means for the others and in clusters. Ties: scores "
            "rounded to one decimal. Weights: uniform from .2 to 3, with so many more rows that the "
            "effective rows are those named. Clusters: at least 40, of about eight or 20 rows (1.5 of "
            "30 + 30), "
            "intraclass correlation .3, drawn whole. k is a twentieth of all rows (by weight); recall "
            "is asked for at the precision that a recall of .7 has; the fixed threshold is 1.25. "
            "*wide* and *misses* lie outside the rule by our choice: positives have 1.5 times the "
            "spread of negatives, or 5 % of them score like negatives, which 30 positives do not show "
            "in every fifth sample. " + _worst_outside(found),
            "## Cells that broke the rule on earlier code",
            markdown_table(again, list(again_rows(found))),
            "## All cells",
            *text,
            "## Other methods",
            "Lowest coverage over the columns of the rule that were run on the present code, where it "
            "was, and mean width.",
            markdown_table(
                ["measure", "method", "lowest coverage (%)", "at", "mean width"],
                list(method_rows(found)),
            ),
        ]
    )  # fmt: skip
