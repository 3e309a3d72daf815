"""A few rows are scored as many are: to the bit by trees, to 1e-12 in log-odds by the others."""

import inspect
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from aucuba import RegionReweighted, RegionStack
from aucuba.ensemble import _few_row_scores as module
from aucuba.ensemble._few_row_scores import FEW_ROWS, FewRowScorer
from aucuba.ensemble._table import log_odds
from tests.ensemble.data import mixed_frame, numbers

TREES = ("forest", "extra_trees", "boosting")
# Every kind of member that is taken apart.
MEMBERS = ["splines_logistic", "nystroem_logistic", *TREES, "network", "linear"]


def slow_scores(stack, X):
    return np.column_stack([log_odds(model, X) for _, model in stack.members_])


def assert_equal_scores(stack, X):
    few, usual = stack.member_scores(X), slow_scores(stack, X)
    for (name, _), one, other in zip(stack.members_, few.T, usual.T, strict=True):
        if name in TREES:
            assert np.array_equal(one, other)
        else:
            assert one == pytest.approx(other, rel=1e-13, abs=1e-12)


@pytest.fixture(scope="module")
def fitted():
    X, y = numbers(400)
    # A column of whole numbers has knots that coincide, and ends where several rows lie.
    X[:, 1] = np.clip(np.round(3 * X[:, 1]), -4, 4)
    return RegionStack((0.0, 0.2), estimators=MEMBERS, cv=2, random_state=0).fit(X, y), X


@pytest.mark.parametrize("n_rows", [1, 7, FEW_ROWS])
@pytest.mark.parametrize("spread", [1.0, 20.0])
def test_numbers(fitted, n_rows, spread):
    stack, X = fitted
    assert_equal_scores(stack, spread * X[:n_rows])
    assert all(one is not None for one in FewRowScorer.of(stack, _models(stack)).scorers)


def test_knots_and_the_ends_of_splines(fitted):
    stack, X = fitted
    splines = stack.members_[0][1].steps[0][1].encode_.named_transformers_["splines"]
    at_knots = np.array([one.t for one in splines.steps[1][1].bsplines_]).T
    assert at_knots.shape[1] == X.shape[1]
    assert_equal_scores(stack, at_knots)
    assert_equal_scores(stack, np.nextafter(at_knots, np.inf))


def test_rows_alone_score_as_rows_together(fitted):
    stack, X = fitted
    alone = np.concatenate([stack.decision_function(X[[k]]) for k in range(40)])
    assert alone == pytest.approx(stack.decision_function(X)[:40], rel=1e-12, abs=1e-12)


def test_missing_and_infinite_values_go_the_usual_way(fitted):
    stack, X = fitted
    row = X[:1].copy()
    row[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        stack.decision_function(row)


def test_frames_with_categories_and_missing_values():
    pytest.importorskip("pandas")
    frame, y = mixed_frame(300)
    stack = RegionStack((0.0, 0.3), estimators=MEMBERS, cv=2, random_state=0).fit(frame, y)
    full = frame[frame.notna().all(axis=1)]
    assert_equal_scores(stack, full.iloc[:9])
    assert_equal_scores(stack, frame[frame.isna().any(axis=1)].iloc[:9])


def test_members_of_other_kinds_score_for_themselves():
    X, y = numbers(200)
    own = RegionReweighted(HistGradientBoostingClassifier(max_iter=5), (0.0, 0.2))
    members = ["forest", ("logistic", LogisticRegression()), ("again", own)]
    stack = RegionStack((0.0, 0.2), estimators=members, cv=2, random_state=0).fit(X, y)
    assert_equal_scores(stack, X[:5])
    assert [one is None for one in FewRowScorer.of(stack, _models(stack)).scorers] == [
        False,
        True,
        True,
    ]


def test_another_fit_makes_another_scorer():
    X, y = numbers(200)
    stack = RegionStack((0.0, 0.2), estimators=["linear"], cv=2, random_state=0).fit(X, y)
    before = stack.decision_function(X[:3])
    stack.fit(-X, y)
    assert stack.decision_function(-X[:3]) == pytest.approx(before)
    assert_equal_scores(stack, X[:3])


def test_threads_score_together(fitted):
    stack, X = fitted
    expected = [stack.decision_function(X[[k]]) for k in range(60)]
    module._SCORERS.clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: stack.decision_function(X[[k]]), range(60)))
    assert np.array_equal(found, expected)


def test_private_attributes_of_boosting_are_these():
    """A release of scikit-learn that renames them is to fail here first."""
    used = set(re.findall(r"model\._\w+", inspect.getsource(module)))
    assert used == {"model._predictors", "model._baseline_prediction"}
    model = HistGradientBoostingClassifier(max_iter=3).fit(*numbers(100))
    fields = set(model._predictors[0][0].nodes.dtype.names)
    needed = {"is_categorical", "is_leaf", "left", "right", "feature_idx", "num_threshold", "value"}
    assert needed | {"depth"} <= fields
    assert model._baseline_prediction.shape == (1, 1)


def _models(stack):
    return [model for _, model in stack.members_]
