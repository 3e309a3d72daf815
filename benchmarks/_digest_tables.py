"""Generated data of the fits of ``benchmarks.digests``, and the list that they enter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, Any]
# All fits by name, in the order of the modules that define them.
FITS: dict[str, Callable[[], Arrays]] = {}
# Fitted attributes that are digested where a model has them.
ATTRIBUTES = (
    *("coef_", "intercept_", "threshold_", "thresholds_", "dual_coef_", "edge_coef_", "term_coef_"),
    *("pair_coef_", "oof_scores_", "weights_", "predict_fpr_"),
)
N_ROWS, N_TRAIN = 500, 400


def digested(fit: Callable[[], Arrays]) -> Callable[[], Arrays]:
    """Enter a fit under the name of its function."""
    if fit.__name__ in FITS:
        raise ValueError(f"Two fits are called {fit.__name__!r}.")
    FITS[fit.__name__] = fit
    return fit


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Six columns of numbers, one positive in four."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=N_ROWS) > 1.5
    return X, y.astype(int)


def training() -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit on."""
    X, y = rows()
    return X[:N_TRAIN], y[:N_TRAIN]


def fixed_rows() -> np.ndarray:
    """Rows to score."""
    return rows()[0][N_TRAIN:]


def row_weights() -> np.ndarray:
    """Whole numbers from 0 to 3, one for each row of training."""
    return np.random.default_rng(1).integers(0, 4, size=N_TRAIN).astype(float)


def row_groups(size: int = 4) -> np.ndarray:
    """Group ids of the rows of training, not sorted."""
    return np.random.default_rng(2).permutation(N_TRAIN) // size


def row_times() -> np.ndarray:
    """Days of the rows of training, not sorted."""
    return np.datetime64("2026-01-01") + np.random.default_rng(3).permutation(N_TRAIN)


def mixed_frame() -> tuple[Any, np.ndarray]:
    """A DataFrame of numbers with gaps, text, categories and dates."""
    import pandas as pd

    X, y = rows()
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame.loc[rng.random(N_ROWS) < 0.2, "b"] = np.nan
    colour = np.where(X[:, 3] > 0, "red", "blue").astype(object)
    colour[rng.random(N_ROWS) < 0.1] = None
    frame["colour"] = colour
    frame["size"] = pd.Categorical(np.array(["S", "M", "L"])[rng.integers(3, size=N_ROWS)])
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(900, size=N_ROWS), "D")
    return frame, y


def of_model(model: Any, X: Any, **more: Any) -> Arrays:
    """Return the digested attributes of a fitted model and what it says of some rows."""
    found = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    found["scores"] = model.decision_function(X)
    found["labels"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(X)
    return found | more
