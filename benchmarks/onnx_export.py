"""ONNX graphs beside their models: ``python -m benchmarks onnx_export``.

The first table scores rows by the model in Python and by its graph in onnxruntime, on the same rows
of single precision: the largest difference of scores, the rows near the threshold (within that
difference or a relative 1e-9), and the rows that only one of the two flags. The second table counts
broken promises of graphs: in each of {worlds} simulated worlds a threshold is promised at FPR 0.05 with
confidence 0.95 on rows of double precision, the graph is exported, and its false positive rate measured
on {population} fresh negatives, which it gets in single precision; at most 5 % may be broken, up to the
noise of {worlds} worlds (2 standard errors: {noise:.1%}). Tenths are rounded up or down, and of seconds
since 1970 two minutes remain. Where the graph makes no promise, the table counts what its threshold
would have broken. Models and columns without a row are still to be run; the rows of models, and three
of normal columns (all but the first) are of commit 69da293 and before. Writes
``benchmarks/results/onnx_export.md``; finished parts are kept in ``results/onnx_export.json`` and not
run again.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from aucuba import (
    AlertBudgetClassifier,
    AUMClassifier,
    ColumnPreparer,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionScorecard,
    RegionStack,
    TriageClassifier,
)
from aucuba.export import check_onnx, to_onnx
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "onnx_export.md"
RANGE = (0.0, 0.1)
N_ROWS, N_COLUMNS, N_TRAIN = 1_000_000, 10, 4_000
STORE = RESULT.with_suffix(".json")
N_AT_ONCE = 100_000
N_WORLDS, N_POPULATION, MAX_FPR = 200, 50_000, 0.05


def table(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of normal rows, in single precision."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.2).astype(int)
    X = rng.normal(size=(n_rows, N_COLUMNS)) + 0.5 * y[:, None] * (np.arange(N_COLUMNS) < 4)
    return X.astype(np.float32).astype(np.float64), y


def with_gaps(X: np.ndarray) -> np.ndarray:
    """Leave out one value of seventeen."""
    places = np.add.outer(np.arange(X.shape[0]), np.arange(X.shape[1]))
    return np.where(places % 17, X, np.nan).astype(X.dtype)


class Student:
    """A small stack that teaches a student when it is fitted."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        return RegionStack(RANGE, preset="fast", random_state=0).fit(X, y).distill(X, y)


def kinds() -> dict[str, Any]:
    boosting = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    forest = RandomForestClassifier(50, random_state=0)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    return {
        "PartialAUCClassifier": PartialAUCClassifier(RANGE),
        "PartialAUCClassifierCV": PartialAUCClassifierCV(RANGE, random_state=0),
        "PartialAUCSVC": PartialAUCSVC(RANGE),
        "AUMClassifier": AUMClassifier(),
        "StandardScaler, LogisticRegression": scaled,
        "RandomForestClassifier, 50 trees": forest,
        "ExtraTreesClassifier, 50 trees": ExtraTreesClassifier(50, random_state=0),
        "HistGradientBoostingClassifier, 50 trees": boosting,
        "MLPClassifier, 32": MLPClassifier((32,), max_iter=30, random_state=0),
        "GaussianNB, by skl2onnx": GaussianNB(),
        "RegionReweighted, boosting": RegionReweighted(boosting, RANGE, random_state=0),
        "CalibratedClassifierCV, sigmoid, linear": CalibratedClassifierCV(
            PartialAUCClassifier(RANGE)
        ),
        "CalibratedClassifierCV, isotonic, boosting": CalibratedClassifierCV(
            boosting, method="isotonic"
        ),
        "student of a stack": Student(),
        "RegionScorecard": RegionScorecard(RANGE, random_state=0),
        "FixedFPRClassifier, logistic": FixedFPRClassifier(scaled, 0.05, random_state=0),
        "FixedFPRClassifier, forest": FixedFPRClassifier(forest, 0.05, random_state=0),
        "FixedTPRClassifier, boosting": FixedTPRClassifier(boosting, 0.7, random_state=0),
        "FixedPrecisionClassifier, logistic": FixedPrecisionClassifier(
            LogisticRegression(), 0.4, random_state=0
        ),
        "AlertBudgetClassifier, linear": AlertBudgetClassifier(
            PartialAUCClassifier(RANGE), 0.05, random_state=0
        ),
        "TriageClassifier, logistic": TriageClassifier(scaled, 0.05, 0.9, random_state=0),
        "RegionStack, fast preset": RegionStack(RANGE, preset="fast", random_state=0),
        "RegionStack, default preset": RegionStack(RANGE, random_state=0),
        "DecisionTreeClassifier": DecisionTreeClassifier(max_depth=8, random_state=0),
        "ExtraTreeClassifier": ExtraTreeClassifier(max_depth=8, random_state=0),
        "Nystroem, LogisticRegression": make_pipeline(
            StandardScaler(), Nystroem(gamma=0.05, random_state=0), LogisticRegression()
        ),
        "SimpleImputer, LogisticRegression; gaps": make_pipeline(
            SimpleImputer(add_indicator=True), LogisticRegression()
        ),
        "ColumnPreparer, PartialAUCClassifier; gaps": make_pipeline(
            ColumnPreparer(), PartialAUCClassifier(RANGE)
        ),
        "FixedFPRClassifier, scorecard": FixedFPRClassifier(
            RegionScorecard(RANGE, random_state=0), 0.05, random_state=0
        ),
        "FixedFPRClassifier, RegionReweighted": FixedFPRClassifier(
            RegionReweighted(boosting, RANGE, random_state=0), 0.05, random_state=0
        ),
    }


def stored() -> dict[str, Any]:
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


def keep(name: str, cell: Any) -> None:
    cells = stored() | {name: cell}
    STORE.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")


def compare(name: str, model: Any, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> None:
    """Compare part by part, beyond the rows that an earlier run has compared."""
    cell = stored().get(name, {"rows": 0, "error": 0.0, "near": 0, "other": 0})
    if cell["rows"] >= len(test):
        return
    if name.endswith("gaps"):
        X, test = with_gaps(X), with_gaps(test)
    # For a student `fit` returns another model than the one it was called on.
    model = model.fit(X, y)
    made = to_onnx(model)
    for start in range(cell["rows"], len(test), N_AT_ONCE):
        found = check_onnx(made, model, test[start : start + N_AT_ONCE])
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


def broken(draw: Any, calibrated: bool, make: Any) -> tuple[bool, float]:
    """Tell whether the graphs promise a rate, and the fraction of worlds in which they exceed it."""
    import onnxruntime

    n_broken, promises = 0, set()
    for world in range(N_WORLDS):
        rng = np.random.default_rng(world)
        y = (rng.random(800) < 0.2).astype(int)
        X = draw(y, rng)
        model = FixedFPRClassifier(make(), MAX_FPR, random_state=world).fit(X, y)
        made = to_onnx(model, calibration=(X, y) if calibrated else None)
        promise = {one.key: one.value for one in made.metadata_props}["aucuba.promise"]
        assert promise in ("", model.promise_)
        promises.add(bool(promise))
        fresh = draw(np.zeros(N_POPULATION, dtype=int), np.random.default_rng([world, 1]))
        session = onnxruntime.InferenceSession(made.SerializeToString())
        (flag,) = session.run(["flag"], {"X": fresh.astype(np.float32)})
        n_broken += int(flag.mean() > MAX_FPR)
    (promised,) = promises
    return promised, n_broken / N_WORLDS


def main() -> None:
    warnings.simplefilter("ignore")
    for words, (draw, make) in WORLDS.items():
        for how in ("bound", "calibration"):
            name = f"{words}: {how}"
            if name not in stored():
                keep(name, broken(draw, how == "calibration", make))
                print(name, stored()[name], flush=True)
    X, y = table(N_TRAIN, 0)
    test = table(N_ROWS, 1)[0].astype(np.float32)
    try:
        for name, model in kinds().items():
            compare(name, model, X, y, test)
    finally:
        write()


def write() -> None:
    """Write the table of what has been run."""
    cells = stored()
    rows = [
        [name, f"{c['rows']:,}", f"{c['error']:.1e}", f"{c['near']:,}", f"{c['other']:,}"]
        for name, c in cells.items()
        if isinstance(c, dict)
    ]
    worlds = []
    for name, cell in cells.items():
        if not isinstance(cell, dict):
            (base, columns), how = name.partition(": ")[0].split("; "), name.partition(": ")[2]
            worlds.append([base, columns, how if cell[0] else "no promise", f"{cell[1]:.1%}"])
    noise = 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)
    words = __doc__.split("\n\n", 1)[1].rpartition(" Writes\n")[0]
    words = words.format(worlds=N_WORLDS, population=f"{N_POPULATION:,}", noise=noise)
    text = (
        f"# ONNX graphs beside their models\n\n{words}\n\n"
        + markdown_table(["model", "rows", "score error", "near", "other flags"], rows)
        + "\n\n"
        + markdown_table(["base", "columns", "promise kept by", "broken"], worlds)
    )
    write_signed(RESULT, text, "benchmarks onnx_export", ["onnx", "onnxruntime", "skl2onnx"])


if __name__ == "__main__":
    main()
