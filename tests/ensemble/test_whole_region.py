"""Ensembles serve the whole region: a lowest TPR, and weights of the false positive rates."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from aucuba._columns._table_columns import Columns
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._reweighting import region_weights
from aucuba.metrics import partial_auc_score
from aucuba.persistence import load_model, save_model
from tests.ensemble.data import mixed_frame, numbers

MEMBERS = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
REGIONS = [
    {"fpr_range": (0.0, 0.3), "min_tpr": 0.4},
    {"fpr_range": (0.05, 0.3), "fpr_weight": "log"},
    {"fpr_range": (0.0, 1.0), "fpr_weight": ("exponential", 20.0)},
]


def importances(stack, X, y):
    """Importances in the order of the columns."""
    rows = stack.feature_importances(X, y, n_repeats=2, random_state=0)
    return [row["importance"] for row in sorted(rows, key=lambda row: int(row["columns"]))]


@pytest.mark.parametrize("region", REGIONS)
def test_rows_are_weighted_for_the_region(region):
    X, y = numbers()
    model = RegionReweighted(LogisticRegression(), **region, cv=3, random_state=0).fit(X, y)
    expected = region_weights(
        model.oof_scores_,
        Sample(y == 1),
        Region.from_params(region["fpr_range"], region.get("fpr_weight"), region.get("min_tpr", 0)),
        model.strength,
    )
    np.testing.assert_array_equal(model.weights_, expected)


@pytest.mark.parametrize("region", REGIONS)
def test_the_report_of_a_stack_is_about_the_region(region):
    X, y = numbers()
    stack = RegionStack(**region, estimators=MEMBERS, cv=3, random_state=0).fit(X, y)
    for row, scores in zip(stack.report_, stack.oof_scores_.T, strict=False):
        assert row["partial_auc"] == pytest.approx(partial_auc_score(y, scores, **region))


def test_importances_are_losses_in_the_region():
    X, y = numbers()
    region = {"fpr_range": (0.0, 0.3), "min_tpr": 0.5}
    stack = RegionStack(**region, estimators=MEMBERS, cv=3, random_state=0).fit(X, y)
    found = importances(stack, X, y)
    whole = partial_auc_score(y, stack.decision_function(X), **region)
    shuffled = X.copy()
    shuffled[:, 0] = np.random.default_rng(0).permutation(shuffled[:, 0])
    lost = whole - partial_auc_score(y, stack.decision_function(shuffled), **region)
    assert found[0] == pytest.approx(lost, abs=0.1)
    plain = RegionStack((0.0, 0.3), estimators=MEMBERS, cv=3, random_state=0).fit(X, y)
    assert not np.allclose(found, importances(plain, X, y))


def test_named_members_are_trained_for_the_region():
    X, y = numbers()
    region = {"fpr_range": (0.05, 0.3), "min_tpr": 0.2, "fpr_weight": "log"}
    named = ["boosting", "linear"]
    stack = RegionStack(**region, estimators=named, cv=3, random_state=0).fit(X, y)
    members = dict(stack.members_)
    trained = [members["boosting"], *(members[name][-1] for name in named[1:])]
    for model in trained:
        assert {name: model.get_params()[name] for name in region} == region


def test_a_named_weight_is_saved(tmp_path):
    X, y = numbers()
    region = {"fpr_range": (0.0, 0.5), "fpr_weight": ("exponential", 20.0), "min_tpr": 0.1}
    stack = RegionStack(**region, estimators=["linear"], cv=3, random_state=0).fit(X, y)
    save_model(stack, tmp_path / "stack.aucuba")
    loaded = load_model(tmp_path / "stack.aucuba").model
    assert {name: loaded.get_params()[name] for name in region} == region
    np.testing.assert_array_equal(loaded.decision_function(X), stack.decision_function(X))


def test_the_table_is_scanned_once_per_fit(monkeypatch):
    scan, scanned = Columns.from_table, []
    monkeypatch.setattr(Columns, "from_table", lambda X: scanned.append(X) or scan(X))
    X, y = mixed_frame()
    RegionStack((0.0, 0.2), estimators=["forest", "linear", "splines_logistic"], cv=3).fit(X, y)
    assert len(scanned) == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_tpr": 1.0}, "min_tpr must lie in"),
        ({"fpr_weight": "log"}, "must start above 0"),
        ({"fpr_weight": "linear"}, "fpr_weight must be None"),
        ({"fpr_range": (0.2, 0.1)}, "lower limit below its upper limit"),
    ],
)
def test_bad_regions(params, message):
    X, y = numbers()
    for model in (RegionReweighted(LogisticRegression()), RegionStack(estimators=MEMBERS)):
        with pytest.raises(ValueError, match=message):
            model.set_params(**params).fit(X, y)
