"""ONNX graphs beside their models: ``python -m benchmarks onnx_export``.

The first table scores rows by the model in Python and by its graph in onnxruntime, on the same rows
of single precision: the largest difference of scores, the rows near the threshold (within that
difference or a relative 1e-9, or within the bound by which the graph moves the score), and the rows
that only one of the two flags. Rows are of numbers, and where the name says so with gaps, with
codes of categories, a DataFrame, or with columns of text. "Promise by" names what keeps the promise
in the graph; none: the threshold without the promise, -: a model without one. A commit beside rows
or worlds says that they are of that code, or of some before it. Every kind has a row in the first
table; of the second, cells without a row are still to be run.

The second table counts broken promises of graphs: in each of {worlds} simulated worlds a
threshold is promised at FPR 0.05 with confidence 0.95 on rows of double precision, the graph is
exported, and its false positive rate measured on {population} fresh negatives, which it gets in
single precision; at most 5 % may be broken, up to noise (2 standard errors of {worlds} worlds:
{noise:.1%}). Tenths are rounded up or down, and of seconds since 1970 two minutes remain. Where the
graph makes no promise, the table counts what its threshold would have broken. Writes
``benchmarks/results/onnx_export.md``; finished parts are kept in ``results/onnx_export.json`` and
not run again.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import FixedFPRClassifier, RegionScorecard
from aucuba.export import check_onnx, register_converters, to_onnx
from benchmarks._graph_kinds import (
    BY_SKL2ONNX,
    CALIBRATED,
    N_COLUMNS,
    N_TRAIN_ROWS,
    RANGE,
    TABLES,
    kinds,
    rows,
)
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "onnx_export.md"
N_ROWS, N_TRAIN = 1_000_000, 4_000
STORE = RESULT.with_suffix(".json")
N_AT_ONCE = 100_000
N_WORLDS, N_POPULATION, MAX_FPR = 200, 50_000, 0.05


def stored() -> dict[str, Any]:
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


def keep(name: str, cell: Any) -> None:
    cells = stored() | {name: cell}
    STORE.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")


def exported(name: str, model: Any, X: Any, y: np.ndarray) -> Any:
    """Make the graph of a model in the way that its name says."""
    if name.endswith(BY_SKL2ONNX):
        import skl2onnx

        register_converters()
        return skl2onnx.to_onnx(model, X[:1].astype(np.float32))
    return to_onnx(model, calibration=(X, y) if name.endswith(CALIBRATED) else None)


def is_of_earlier_code(name: str) -> bool:
    """Tell whether a cell names the commit that it is from, and is to be run again."""
    return "code" in stored().get(name, {})


def promise_kept_by(made: Any) -> str:
    """Say in a word what keeps the promise of a graph."""
    facts = {one.key: one.value for one in made.metadata_props}
    if not facts.get("aucuba.promise"):
        return "none" if "aucuba.promise" in facts else "-"
    return CALIBRATED if "recomputed" in facts["aucuba.promise_kept_by"] else "bound"


def compare(name: str, model: Any, test: np.ndarray) -> None:
    """Compare part by part, beyond the rows that an earlier run has compared."""
    cell = {"rows": 0, "error": 0.0, "near": 0, "other": 0}
    if not is_of_earlier_code(name):
        cell = stored().get(name, cell)
    if cell["rows"] >= len(test):
        return
    table = TABLES[name.partition("; ")[2]]
    X, y = rows(N_TRAIN_ROWS.get(name, N_TRAIN), 0)
    X = table(X)
    # For a student `fit` returns another model than the one it was called on.
    model = model.fit(X, y)
    made = exported(name, model, X, y)
    cell["promise"] = promise_kept_by(made)
    for start in range(cell["rows"], len(test), N_AT_ONCE):
        given = table(test[start : start + N_AT_ONCE])
        found = check_onnx(made, model, given)
        cell["rows"] += found.n_rows
        cell["error"] = max(cell["error"], found.score_error)
        cell["near"] += found.n_near
        cell["other"] += found.n_other_flags
        keep(name, cell)
        print(name, cell, flush=True)


def normal(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(len(y), N_COLUMNS)) + 0.5 * y[:, None] * (np.arange(N_COLUMNS) < 4)


def tenths(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Five columns between 0 and 2 of one decimal, such as 0.6."""
    return np.clip(np.round(rng.normal(0.8 + 0.3 * y[:, None], 0.4, (len(y), 5)), 1), 0.0, 2.0)


def seconds(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A moment within ten minutes, in whole seconds since 1970, and two normal columns."""
    moment = np.floor(1.7e9 + 600 * rng.beta(1 + y, 2))
    return np.column_stack([moment, rng.normal(size=(len(y), 2)) + 0.5 * y[:, None]])


BASES = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "forest of 10 trees": lambda: RandomForestClassifier(10, max_depth=5, random_state=0),
    "boosting, 30 trees": lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "scorecard of 3 items": lambda: RegionScorecard(RANGE, max_items=3, cv=2, random_state=0),
}
WORLDS: dict[str, tuple[Any, Any]] = {
    f"{base}; {draw.__name__}": (draw, BASES[base])
    for draw, names in (
        (normal, [*BASES][:2]),
        (tenths, ["logistic regression", "boosting, 30 trees", "scorecard of 3 items"]),
        (seconds, [*BASES][:3]),
    )
    for base in names
}


def breaks(world: int, draw: Any, calibrated: bool, make: Any) -> tuple[bool, bool]:
    """Tell whether the graph promises a rate, and whether its threshold exceeds that rate."""
    import onnxruntime

    rng = np.random.default_rng(world)
    y = (rng.random(800) < 0.2).astype(int)
    X = draw(y, rng)
    model = FixedFPRClassifier(make(), MAX_FPR, random_state=world).fit(X, y)
    made = to_onnx(model, calibration=(X, y) if calibrated else None)
    promise = {one.key: one.value for one in made.metadata_props}["aucuba.promise"]
    assert promise in ("", model.promise_)
    fresh = draw(np.zeros(N_POPULATION, dtype=int), np.random.default_rng([world, 1]))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    (flag,) = session.run(["flag"], {"X": fresh.astype(np.float32)})
    return bool(promise), bool(flag.mean() > MAX_FPR)


def run_worlds(n_worlds: int) -> None:
    """Bring every cell of worlds up to their number."""
    for words, (draw, make) in WORLDS.items():
        for how in ("bound", CALIBRATED):
            name = f"{words}: {how}"
            cell = {"worlds": 0, "promises": 0, "broken": 0}
            if not is_of_earlier_code(name):
                cell = stored().get(name, cell)
            for world in range(cell["worlds"], n_worlds):
                promised, broken = breaks(world, draw, how == CALIBRATED, make)
                cell["promises"] += promised
                cell["broken"] += broken
                cell["worlds"] += 1
            keep(name, cell)
            print(name, cell, flush=True)


def run_kinds(models: dict[str, Any], test: np.ndarray) -> None:
    for name, model in models.items():
        compare(name, model, test)
        write()


def main() -> None:
    warnings.simplefilter("ignore")
    test = rows(N_ROWS, 1)[0].astype(np.float32)
    try:
        if "--table" not in sys.argv[1:]:
            # What has no cell comes first.
            last = {name: model for name, model in kinds().items() if is_of_earlier_code(name)}
            first = {name: model for name, model in kinds().items() if name not in last}
            run_kinds(first, test)
            run_worlds(N_WORLDS)
            run_kinds(last, test)
    finally:
        write()


def counted(cell: dict[str, Any], what: str) -> str:
    return f"{cell[what]:,}" + (f" ({cell['code']})" if "code" in cell else "")


def write() -> None:
    """Write the table of what has been run."""
    cells = stored()
    models, worlds = [], []
    for name in kinds():
        if name in cells:
            c = cells[name]
            found = [f"{c[key]:,}" for key in ("near", "other")]
            models.append([name, c["promise"], counted(c, "rows"), f"{c['error']:.1e}", *found])
    for words in WORLDS:
        for how in ("bound", CALIBRATED):
            if cell := cells.get(f"{words}: {how}"):
                # All graphs of a cell promise a rate, or none does.
                assert cell["promises"] in (0, cell["worlds"])
                kept, rate = (
                    how if cell["promises"] else "no promise",
                    cell["broken"] / cell["worlds"],
                )
                worlds.append([*words.split("; "), kept, counted(cell, "worlds"), f"{rate:.1%}"])
    noise = 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)
    text = __doc__.split("\n\n", 1)[1].rpartition(" Writes\n")[0]
    text = text.format(worlds=f"{N_WORLDS:,}", population=f"{N_POPULATION:,}", noise=noise)
    text = (
        f"# ONNX graphs beside their models\n\n{text}\n\n"
        + markdown_table(
            ["model", "promise by", "rows", "score error", "near", "other flags"], models
        )
        + "\n\n"
        + markdown_table(["base", "columns", "promise by", "worlds", "broken"], worlds)
    )
    write_signed(RESULT, text, "benchmarks onnx_export", ["onnx", "onnxruntime", "skl2onnx"])


if __name__ == "__main__":
    main()
