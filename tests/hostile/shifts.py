"""Rows unlike those of training: promises by ``time=`` under drift, stacks on unseen categories."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba import FixedFPRClassifier, RegionStack

pd = pytest.importorskip("pandas")

LIMIT, CONFIDENCE = 0.1, 0.9
DRIFTS = ("none", "prevalence", "before the latest rows", "order of the file")
KNOWN = ["Oslo", "Rome", "Paris", "Lima"]
UNSEEN = [
    *("Bergen", "oslo", "Oslo ", "", "x" * 10_000, "\x00", "\u202e", "nan", "None", "1e400", "𝒂"),
    *("(rare)", "(missing)", "Roma", "ÓSLO", "-1"),
]  # fmt: skip


def world(seed: int):
    """Rows over 200 days of one of the drifts: features, labels, days, and later negatives."""
    rng = np.random.default_rng(seed)
    drift, n = DRIFTS[seed % len(DRIFTS)], 600
    day = np.sort(rng.integers(0, 200, n))
    # The latest 40 % of the rows, which are held out, lie behind the change.
    late = day > np.quantile(day, 0.5)
    share = np.where(late, 0.5, 0.1) if drift == "prevalence" else np.full(n, 0.3)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 2)) + np.column_stack([1.5 * y, np.zeros(n)])
    moved = 1.0 if drift == "before the latest rows" else 0.0
    X[:, 0] += moved * late
    order = rng.permutation(n) if drift == "order of the file" else np.arange(n)
    later = rng.normal(size=(20_000, 2)) + np.array([moved, 0.0])
    return X[order], y[order], day[order], later


def breaks_promise(seed: int) -> bool:
    """Whether the rate of later negatives is above the limit that was promised by ``time=``."""
    X, y, day, later = world(seed)
    base = FixedFPRClassifier(LogisticRegression(), LIMIT, CONFIDENCE, cv=0.4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = base.fit(X, y, time=day)
    assert model.guarantee_
    return bool(np.mean(model.predict(later)) > LIMIT)


@cache
def stack():
    """A stack of a table of numbers and categories."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["city"], frame["kind"] = rng.choice(KNOWN, n), rng.choice(["u", "v"], n)
    frame.loc[::30, "city"] = None
    y = (frame["a"] + (frame["city"] == "Rome") + rng.normal(size=n) > 0.7).astype(int)
    model = RegionStack((0.0, 0.3), estimators=["linear", "boosting"], cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame, y), frame


def check_unseen(seed: int) -> None:
    """Unseen categories and far numbers: finite scores, those of missing values, row by row."""
    model, frame = stack()
    rng = np.random.default_rng(seed)
    rows = frame.sample(20, random_state=seed).reset_index(drop=True)
    scale = 10.0 ** rng.integers(0, 9)
    rows[["a", "b"]] = rows[["a", "b"]] * scale + rng.normal() * scale
    rows = rows.astype({"city": object, "kind": object})
    told, missing = rows.copy(), rows.copy()
    for name in ("city", "kind"):
        for place in np.flatnonzero(rng.random(20) < 0.7):
            told.loc[place, name] = UNSEEN[rng.integers(len(UNSEEN))]
            missing.loc[place, name] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = model.decision_function(told)
        assert np.all(np.isfinite(score)), "not finite"
        np.testing.assert_allclose(score, model.decision_function(missing), rtol=1e-9, atol=1e-12)
        one = int(rng.integers(20))
        alone = model.decision_function(told.iloc[[one]])
        np.testing.assert_allclose(alone, score[[one]], rtol=1e-9, atol=1e-12)
        proba = model.predict_proba(told)
    assert np.all((proba >= 0) & (proba <= 1)), "no probability"
