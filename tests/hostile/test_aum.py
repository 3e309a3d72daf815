"""Line searches and descents on problems that broke them."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from aucuba.aum import ErrorFunctions, aum, line_search_path, maximize_auc, minimize_aum
from aucuba.linear import AUMClassifier
from aucuba.metrics import aum_score
from tests.hostile.searches import greatest_auc


def test_what_lies_beyond_the_segment_does_not_count():
    errors = ErrorFunctions(
        [0, 0, 1, 1, 2, 2], [-1.0, 3, -3, 2, -3, 2], [2.0, -2, 2, 0, 1, 1], [2.0, -2, -1, 0, 1, -1]
    )
    predictions, direction = np.array([1.0, -1, 2]), np.array([2.0, 1, -2])
    found = maximize_auc(errors, predictions, direction, max_step=0.5)
    assert found.upper_bound >= aum(errors, predictions).auc - 1e-12 == -2.0 - 1e-12
    assert found.auc == pytest.approx(greatest_auc(errors, predictions, direction, Fraction(1, 2)))
    assert 0 <= found.step <= 0.5


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
def test_weights_are_copies_where_descent_zigzags():
    X = np.array([[0.0, 0], [0, 2], [-1, 0], [-2, -2]])
    y, weight = np.array([0, 1, 0, 1]), np.array([3, 1, 2, 1])
    weighted = AUMClassifier().fit(X, y, weight)
    copied = AUMClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, copied.coef_)
    assert weighted.history_[-1]["aum"] == pytest.approx(copied.history_[-1]["aum"])


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_copies_on_tables_of_small_integers():
    rng = np.random.default_rng(5)
    for _ in range(150):
        n, width = rng.integers(3, 9), rng.integers(1, 4)
        X = rng.integers(-2, 3, (n, width)).astype(float)
        y, weight = np.r_[0, 1, rng.integers(0, 2, n - 2)], rng.integers(1, 4, n)
        weighted = AUMClassifier().fit(X, y, weight)
        copied = AUMClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-9)


def test_predictions_too_large_to_compute_with_are_one_error():
    errors = ErrorFunctions.from_labels([0, 1, 0, 1])
    large, direction = [1e300, -1e300, 2e299, 3e300], [-1.0, 1, 0, 1]
    for search in (
        minimize_aum,
        line_search_path,
        lambda *line: maximize_auc(*line, max_step=1.0),
    ):
        with pytest.raises(ValueError, match=r"predictions has values up to 3e\+300, too large"):
            search(errors, large, direction)
    with pytest.raises(ValueError, match=r"direction has values up to 1e\+200, too large"):
        minimize_aum(errors, [1.0, 0, 0, 0], [1e200, 0, 0, 0])
    assert minimize_aum(errors, [1e99, -1e99, 0, 0], [-1e90, 1e90, 0, 0]).aum >= 0


def test_scores_whose_differences_overflow():
    assert aum_score([1, 0], [1e308, -1e308]) == 0.0
    assert aum_score([0, 1, 1], [8e307, -8e307, 9e307]) == pytest.approx(8e307)


LINE = "np.random.default_rng(0).normal(size=(2, 300))"
CALLS = {
    "maximize_auc": "from aucuba.aum import ErrorFunctions, maximize_auc as search;"
    f"search(ErrorFunctions.from_labels(np.arange(300) % 2), *{LINE}, max_step=1.0)",
    "segment": f"from aucuba.changepoint import segment as search; search({LINE}[0], 5)",
    "segment_penalty": "from aucuba.changepoint import segment_penalty as search;"
    f"search({LINE}[0], 5.0)",
}
# No folder may be written, as for a user without a home folder and a package of another user.
NO_FOLDER = """
import numba.core.caching as caching
def refuse(self):
    raise PermissionError("read-only")
caching._CacheLocator.ensure_cache_path = refuse
"""


def cold(code, cache):
    """Run code in a new process with an empty cache."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_calls_work_where_no_cache_can_be_written(name, tmp_path):
    cold(f"import numpy as np\n{NO_FOLDER}\n{CALLS[name]}", tmp_path)
    assert not list(tmp_path.iterdir())


USED = {
    "maximize_auc": {"merge_order", "follow_path"},
    "segment": {"search_square"},
    "segment_penalty": {"search_square"},
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_compiles_the_loops_of_its_own_only(name, tmp_path):
    code = """
from aucuba.aum import _loops as lines
from aucuba.changepoint import _loops as signals
public = {k: v for m in (lines, signals) for k, v in vars(m).items() if hasattr(v, "signatures")}
print(*(k for k, v in public.items() if v.signatures and not k.startswith("_") and k != "compiled"))
"""
    compiled = cold(f"import numpy as np\n{CALLS[name]}\n{code}", tmp_path).split()
    assert set(compiled) == USED[name]
