"""Results that print as tables."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from aucuba.ensemble import region_importances
from aucuba.metrics import compare_scores


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    return X, (X[:, 0] + rng.normal(size=600) > 1).astype(int)


@pytest.fixture(scope="module", params=["importances", "pairs", "pair"])
def result(request, rows):
    X, y = rows
    options = {"fpr_range": (0.0, 0.3), "random_state": 0}
    if request.param == "importances":
        return region_importances(LogisticRegression().fit(X, y), X, y, **options)
    if request.param == "pair":
        return compare_scores("partial_auc", y, X[:, 0], X[:, 1], **options)
    scores = {"<a>": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    return compare_scores("partial_auc", y, scores, **options)


def test_frames_have_the_exact_numbers(result):
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert len(frame) == len(result)
    name = "importance" if "importance" in frame else "difference"
    for value, one in zip(frame[name], result, strict=True):
        assert value == (one[name] if isinstance(one, dict) else getattr(one, name))
    assert (frame["low"] <= frame[name]).all()


def test_notebooks_show_a_table(result):
    shown = result._repr_html_()
    assert shown.count("<tr>") == len(result) + 1
    assert "<a>" not in shown
    if "p_value" in shown:
        assert "&lt; 0.001" in shown


def test_importances_print_as_a_table(rows):
    X, y = rows
    model = LogisticRegression().fit(X, y)
    found = region_importances(model, X, y, fpr_range=(0.0, 0.3), random_state=0)
    header, *lines = str(found).splitlines()
    assert header.split() == ["columns", "importance", "low", "high", "standard_error"]
    assert [line.split()[0] for line in lines] == [one["columns"] for one in found]
    assert len({len(line) for line in lines}) == 1
    assert found[0]["columns"] == "0"


def test_results_survive_pickling(result):
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again._repr_html_() == result._repr_html_()
