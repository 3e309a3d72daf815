"""Promised thresholds of Dask collections: the thresholds of the same rows in memory."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba import FixedFPRClassifier, PartialAUCClassifier
from aucuba._columns._table_columns import Columns
from aucuba.threshold import AlertBudgetClassifier, FixedPrecisionClassifier, FixedTPRClassifier

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

PROMISES = {
    FixedFPRClassifier: 0.1,
    FixedTPRClassifier: 0.8,
    FixedPrecisionClassifier: 0.6,
    AlertBudgetClassifier: 0.3,
}
BLOCK = 170


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = (rng.random(2400) < 0.3).astype(int)
    X = rng.normal(size=(2400, 3)) + y[:, None]
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["city"] = np.where(rng.random(2400) < 0.5 + 0.2 * y, "Oslo", "Rome")
    frame.loc[::50, "a"] = np.nan
    return X, frame, y


class Watched(LogisticRegression):
    """Notes the most rows that it was asked to score at once."""

    def decision_function(self, X):
        Watched.most = max(getattr(Watched, "most", 0), len(X))
        return super().decision_function(X)


@pytest.mark.parametrize("kind", PROMISES)
@pytest.mark.parametrize("labels", ["dask", "numpy"])
def test_arrays(rows, kind, labels):
    X, _, y = rows
    Watched.most = 0
    base = Watched().fit(X[:800], y[:800])
    Watched.most = 0
    lazy = da.from_array(X[800:], chunks=(BLOCK, 2))
    target = da.from_array(y[800:], chunks=333) if labels == "dask" else y[800:]
    with dask.config.set(scheduler="synchronous"):
        got = kind(base, PROMISES[kind], cv="prefit", random_state=0).fit(lazy, target)
        flagged = got.predict(lazy)
        # The table is never scored as a whole.
        assert Watched.most == BLOCK
    want = kind(base, PROMISES[kind], cv="prefit", random_state=0).fit(X[800:], y[800:])
    assert got.threshold_ == want.threshold_
    assert got.promise_ == want.promise_
    assert got.violation_probability_ == want.violation_probability_
    np.testing.assert_array_equal(flagged, want.predict(X[800:]))


def test_frames_with_categories_groups_and_other_partitions_of_the_labels(rows):
    _, frame, y = rows
    base = Columns.from_table(frame).for_linear(LogisticRegression()).fit(frame[:800], y[:800])
    patient = pd.Series(np.arange(1600) // 2)
    lazy = dd.from_pandas(frame[800:], npartitions=7)
    target = dd.from_pandas(pd.Series(y[800:]), npartitions=3)
    got = FixedFPRClassifier(base, 0.1, cv="prefit")
    got.fit(lazy, target, groups=dd.from_pandas(patient, npartitions=2))
    want = FixedFPRClassifier(base, 0.1, cv="prefit").fit(frame[800:], y[800:], groups=patient)
    assert got.threshold_ == want.threshold_
    assert got.promise_ == want.promise_
    np.testing.assert_array_equal(got.decision_function(lazy), want.decision_function(frame[800:]))


def test_rows_held_out_from_an_array(rows):
    X, _, y = rows
    base = PartialAUCClassifier((0.0, 0.3))
    lazy = da.from_array(X, chunks=(500, 3))
    got = FixedFPRClassifier(base, 0.1, random_state=0).fit(lazy, y)
    want = FixedFPRClassifier(base, 0.1, random_state=0).fit(X, y)
    assert got.threshold_ == pytest.approx(want.threshold_, rel=1e-4)
    assert got.promise_ == want.promise_


def test_what_dask_does_not_allow(rows):
    X, frame, y = rows
    lazy = dd.from_pandas(frame[["b", "c"]], npartitions=3)
    with pytest.raises(ValueError, match="give cv='prefit', or give X as a Dask array"):
        FixedFPRClassifier(LogisticRegression(), 0.1).fit(lazy, y)
    base = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="strata need a table in memory"):
        FixedFPRClassifier(base, 0.1, cv="prefit", strata=[0]).fit(da.from_array(X), y)
