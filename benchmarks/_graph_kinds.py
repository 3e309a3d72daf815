"""Every kind of model that has an ONNX graph, and the tables to compare the two on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
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
from aucuba._columns._table_columns import NamedColumns

RANGE = (0.0, 0.1)
N_COLUMNS = 10
CALIBRATED, BY_SKL2ONNX = "calibration", "registered with skl2onnx"
# PartialAUCSVC takes an exact kernel, which has no graph, up to 10,000 rows.
_SVC_FEATURES = "StandardScaler, PartialAUCSVC, Nystroem"
N_TRAIN_ROWS = {_SVC_FEATURES: 10_100}
_NAMES = [f"column{k}" for k in range(N_COLUMNS)]
_TOWNS = np.array(["Oslo", "Rome", "Paris", "Lima", "Bonn"], dtype=object)
_STATES = np.array(["new", "used", None], dtype=object)


def rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of normal rows, in single precision."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.2).astype(int)
    X = rng.normal(size=(n_rows, N_COLUMNS)) + 0.5 * y[:, None] * (np.arange(N_COLUMNS) < 4)
    return X.astype(np.float32).astype(np.float64), y


def _with_gaps(X: np.ndarray) -> np.ndarray:
    """Leave out one value of seventeen."""
    places = np.add.outer(np.arange(X.shape[0]), np.arange(X.shape[1]))
    return np.where(places % 17, X, np.nan).astype(X.dtype)


def _coded(X: np.ndarray) -> np.ndarray:
    """Turn two columns into whole numbers between 0 and 11."""
    X = X.copy()
    X[:, [0, 5]] = np.clip(np.round(2 * X[:, [0, 5]]) + 5, 0, 11)
    return X


def _as_frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=_NAMES)


def _with_texts(X: np.ndarray) -> pd.DataFrame:
    """Turn two columns into texts, one of them with gaps, and leave out numbers."""
    frame = _as_frame(_with_gaps(X))
    for place, names in ((0, _TOWNS), (1, _STATES)):
        frame[_NAMES[place]] = names[
            np.clip(np.round(X[:, place]) + 1, 0, len(names) - 1).astype(int)
        ]
    return frame


# The words behind the last semicolon of a kind say which of these it is compared on.
TABLES: dict[str, Callable[[np.ndarray], Any]] = {
    "": lambda X: X,
    "gaps": _with_gaps,
    "codes": _coded,
    "frame": _as_frame,
    "texts": _with_texts,
}


class _Student:
    """A small stack that teaches a student when it is fitted."""

    def fit(self, X: Any, y: np.ndarray) -> Any:
        return RegionStack(RANGE, preset="fast", random_state=0).fit(X, y).distill(X, y)


class _Prefit:
    """A promise on the last quarter of the rows, over a base that has learnt from the others."""

    def __init__(self, base: Any) -> None:
        self.base = base

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        cut = len(y) * 3 // 4
        base = FrozenEstimator(self.base.fit(X[:cut], y[:cut]))
        return FixedFPRClassifier(base, 0.05, cv="prefit").fit(X[cut:], y[cut:])


def _boosting(**params: Any) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(max_iter=50, random_state=0, **params)


def _scaled() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def _card() -> RegionScorecard:
    return RegionScorecard(RANGE, random_state=0)


def _fast_stack() -> RegionStack:
    return RegionStack(RANGE, preset="fast", random_state=0)


def _fpr(base: Any, max_fpr: Any = 0.05, **params: Any) -> FixedFPRClassifier:
    return FixedFPRClassifier(base, max_fpr, random_state=0, **params)


def _in_columns() -> ColumnTransformer:
    filled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer(
        [
            ("filled", filled, [0, 1, 2]),
            ("scaled", MaxAbsScaler(), [4, 3]),
            ("coded", OneHotEncoder(handle_unknown="ignore"), [5]),
            ("same", "passthrough", [6, 7]),
        ],
        sparse_threshold=0.0,
    )


def _linear_kinds() -> dict[str, Any]:
    linear = PartialAUCClassifier(RANGE)
    return {
        "PartialAUCClassifier": linear,
        "PartialAUCClassifierCV": PartialAUCClassifierCV(RANGE, random_state=0),
        "PartialAUCClassifierCV, first class": PartialAUCClassifierCV(
            RANGE, pos_label=0, random_state=0
        ),
        "PartialAUCSVC": PartialAUCSVC(RANGE),
        _SVC_FEATURES: make_pipeline(
            StandardScaler(),
            PartialAUCSVC(RANGE, kernel="rbf", gamma=0.05, n_components=100, random_state=0),
        ),
        "AUMClassifier": AUMClassifier(),
        "StandardScaler, LogisticRegression": _scaled(),
        "StandardScaler, Nystroem, LogisticRegression": make_pipeline(
            StandardScaler(), Nystroem(gamma=0.05, random_state=0), LogisticRegression()
        ),
        "SimpleImputer, LogisticRegression; gaps": make_pipeline(
            SimpleImputer(add_indicator=True), LogisticRegression()
        ),
        "ColumnTransformer, LogisticRegression; codes": make_pipeline(
            _in_columns(), LogisticRegression()
        ),
        "ColumnPreparer, PartialAUCClassifier; gaps": make_pipeline(ColumnPreparer(), linear),
        "ColumnPreparer, PartialAUCClassifier; texts": make_pipeline(ColumnPreparer(), linear),
        "NamedColumns, PartialAUCClassifierCV; frame": make_pipeline(
            NamedColumns(_NAMES), PartialAUCClassifierCV(RANGE, random_state=0)
        ),
        f"PCA, PartialAUCClassifierCV, {BY_SKL2ONNX}": make_pipeline(
            PCA(5), PartialAUCClassifierCV(RANGE, random_state=0)
        ),
        "GaussianNB, by skl2onnx": GaussianNB(),
    }


def _tree_kinds() -> dict[str, Any]:
    return {
        "DecisionTreeClassifier": DecisionTreeClassifier(max_depth=8, random_state=0),
        "ExtraTreeClassifier": ExtraTreeClassifier(max_depth=8, random_state=0),
        "RandomForestClassifier, 50 trees": RandomForestClassifier(50, random_state=0),
        "RandomForestClassifier, 50 trees; gaps": RandomForestClassifier(50, random_state=0),
        "ExtraTreesClassifier, 50 trees": ExtraTreesClassifier(50, random_state=0),
        "HistGradientBoostingClassifier, 50 trees": _boosting(),
        "HistGradientBoostingClassifier, 50 trees; gaps": _boosting(),
        "HistGradientBoostingClassifier, categories; codes": _boosting(categorical_features=[0, 5]),
    }


def _other_kinds() -> dict[str, Any]:
    linear, forest = PartialAUCClassifier(RANGE), RandomForestClassifier(50, random_state=0)
    return {
        "MLPClassifier, 32": MLPClassifier((32,), max_iter=30, random_state=0),
        "MLPClassifier, 16 and 8, tanh": MLPClassifier(
            (16, 8), activation="tanh", max_iter=30, random_state=0
        ),
        "CalibratedClassifierCV, sigmoid, linear": CalibratedClassifierCV(linear),
        "CalibratedClassifierCV, sigmoid, scorecard": CalibratedClassifierCV(_card()),
        "CalibratedClassifierCV, isotonic, boosting": CalibratedClassifierCV(
            _boosting(), method="isotonic"
        ),
        "CalibratedClassifierCV, isotonic, forest": CalibratedClassifierCV(
            forest, method="isotonic"
        ),
        "RegionReweighted, boosting": RegionReweighted(_boosting(), RANGE, random_state=0),
        "RegionReweighted, forest": RegionReweighted(forest, RANGE, random_state=0),
        "RegionScorecard": _card(),
        "RegionScorecard; gaps": _card(),
        "RegionScorecard; texts": _card(),
        "student of a stack": _Student(),
        "student of a stack; texts": _Student(),
        "RegionStack, fast preset": _fast_stack(),
        "RegionStack, fast preset; texts": _fast_stack(),
    }


def _promised_kinds() -> dict[str, Any]:
    linear, forest = PartialAUCClassifier(RANGE), RandomForestClassifier(50, random_state=0)
    prepared = make_pipeline(ColumnPreparer(), linear)
    return {
        "FixedFPRClassifier, logistic": _fpr(_scaled()),
        f"FixedFPRClassifier, logistic, {CALIBRATED}": _fpr(_scaled()),
        "FixedFPRClassifier, logistic, low scores of class 0": _fpr(
            _scaled(), 0.2, pos_label=0, score_direction="low", on_failure="trivial"
        ),
        "FixedFPRClassifier, forest": _fpr(forest),
        "FixedFPRClassifier, three rates, forest": _fpr(forest, [0.02, 0.05, 0.2]),
        "FixedFPRClassifier, boosting": _fpr(_boosting()),
        f"FixedFPRClassifier, boosting, {CALIBRATED}": _fpr(_boosting()),
        "FixedFPRClassifier, network": _fpr(MLPClassifier((32,), max_iter=30, random_state=0)),
        "FixedFPRClassifier, scorecard": _fpr(_card()),
        "FixedFPRClassifier, scorecard; texts": _fpr(_card()),
        "FixedFPRClassifier, ColumnPreparer, linear; texts": _fpr(prepared),
        "FixedFPRClassifier, CalibratedClassifierCV": _fpr(CalibratedClassifierCV(linear)),
        "FixedFPRClassifier, FrozenEstimator": _Prefit(_boosting()),
        "FixedFPRClassifier, student of a stack": _Prefit(_Student()),
        "FixedFPRClassifier, RegionReweighted": _fpr(
            RegionReweighted(_boosting(), RANGE, random_state=0)
        ),
        "FixedFPRClassifier, RegionStack": _fpr(_fast_stack()),
        f"FixedFPRClassifier, RegionStack, {CALIBRATED}": _fpr(_fast_stack()),
        "FixedTPRClassifier, boosting": FixedTPRClassifier(_boosting(), 0.7, random_state=0),
        "FixedTPRClassifier, forest": FixedTPRClassifier(forest, 0.7, random_state=0),
        "FixedPrecisionClassifier, logistic": FixedPrecisionClassifier(
            LogisticRegression(), 0.4, random_state=0
        ),
        "AlertBudgetClassifier, linear": AlertBudgetClassifier(linear, 0.05, random_state=0),
        "TriageClassifier, logistic": TriageClassifier(_scaled(), 0.05, 0.9, random_state=0),
    }


def kinds() -> dict[str, Any]:
    """Return unfitted models by name."""
    slow = {"RegionStack, default preset": RegionStack(RANGE, random_state=0)}
    return _linear_kinds() | _tree_kinds() | _other_kinds() | _promised_kinds() | slow
