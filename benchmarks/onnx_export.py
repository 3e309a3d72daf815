"""ONNX graphs beside their models: ``python -m benchmarks onnx_export``.

The first table scores rows by the model in Python and by its graph in onnxruntime, on the same rows
of single precision: the largest difference of scores, the rows near the threshold (within that
difference or a relative 1e-9), and the rows that only one of the two flags. The second table counts
broken promises of graphs: in each of {worlds} simulated worlds a threshold is promised at FPR 0.05 with
confidence 0.95, the graph is exported, and its false positive rate measured on {population} fresh
negatives; at most 5 % may be broken, up to the noise of {worlds} worlds (2 standard errors:
{noise:.1%}). Writes ``benchmarks/results/onnx_export.md``.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import (
    AUMClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionStack,
)
from aucuba.export import check_onnx, to_onnx
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "onnx_export.md"
RANGE = (0.0, 0.1)
N_ROWS, N_COLUMNS, N_TRAIN = 1_000_000, 10, 4_000
# Rows of models that take minutes for a million.
FEWER_ROWS = {"trees": 300_000, "boosting": 300_000, "forest": 300_000, "RegionStack": 40_000}
N_WORLDS, N_POPULATION, MAX_FPR = 200, 50_000, 0.05


def table(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of normal rows, in single precision."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.2).astype(int)
    X = rng.normal(size=(n_rows, N_COLUMNS)) + 0.5 * y[:, None] * (np.arange(N_COLUMNS) < 4)
    return X.astype(np.float32).astype(np.float64), y


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
        "RegionStack, fast preset": RegionStack(RANGE, preset="fast", random_state=0),
        "FixedFPRClassifier, logistic": FixedFPRClassifier(scaled, 0.05, random_state=0),
        "FixedFPRClassifier, forest": FixedFPRClassifier(forest, 0.05, random_state=0),
        "FixedTPRClassifier, boosting": FixedTPRClassifier(boosting, 0.7, random_state=0),
        "FixedPrecisionClassifier, logistic": FixedPrecisionClassifier(
            LogisticRegression(), 0.4, random_state=0
        ),
    }


def compared(name: str, model: Any, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> list[str]:
    made = to_onnx(model.fit(X, y))
    n_rows = min([size for word, size in FEWER_ROWS.items() if word in name], default=N_ROWS)
    parts = np.array_split(test[:n_rows], max(1, n_rows // 100_000))
    found = [check_onnx(made, model, part) for part in parts]
    print(name, found[0], flush=True)
    near, other = (sum(getattr(one, what) for one in found) for what in ("n_near", "n_other_flags"))
    error = max(one.score_error for one in found)
    return [name, f"{n_rows:,}", f"{error:.1e}", f"{near:,}", f"{other:,}"]


def broken(calibrated: bool, make: Any) -> float:
    """Fraction of worlds whose graph breaks its promise."""
    import onnxruntime

    n_broken = 0
    for world in range(N_WORLDS):
        X, y = table(800, world)
        model = FixedFPRClassifier(make(), MAX_FPR, random_state=world).fit(X, y)
        made = to_onnx(model, calibration=(X, y) if calibrated else None)
        promise = {one.key: one.value for one in made.metadata_props}["aucuba.promise"]
        assert promise == model.promise_
        fresh = np.random.default_rng([world, 1]).normal(size=(N_POPULATION, N_COLUMNS))
        session = onnxruntime.InferenceSession(made.SerializeToString())
        (flag,) = session.run(["flag"], {"X": fresh.astype(np.float32)})
        n_broken += flag.mean() > MAX_FPR
    return n_broken / N_WORLDS


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = table(N_TRAIN, 0)
    test = table(N_ROWS, 1)[0].astype(np.float32)
    rows = [compared(name, model, X, y, test) for name, model in kinds().items()]
    header = ["model", "rows", "score error", "near", "other flags"]
    worlds = []
    for words, make in (
        ("logistic regression", LogisticRegression),
        ("forest of 10 trees", lambda: RandomForestClassifier(10, max_depth=5, random_state=0)),
    ):
        for calibrated in (False, True):
            rate = broken(calibrated, make)
            print(words, calibrated, rate, flush=True)
            worlds.append([words, "calibration" if calibrated else "proven bound", f"{rate:.1%}"])
    noise = 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)
    words = __doc__.split("\n\n", 1)[1].rpartition(" Writes")[0]
    words = words.format(worlds=N_WORLDS, population=f"{N_POPULATION:,}", noise=noise)
    text = (
        f"# ONNX graphs beside their models\n\n{words}\n\n{markdown_table(header, rows)}\n\n"
        + markdown_table(["base", "promise kept by", "broken promises"], worlds)
    )
    write_signed(RESULT, text, "benchmarks onnx_export", ["onnx", "onnxruntime", "skl2onnx"])


if __name__ == "__main__":
    main()
