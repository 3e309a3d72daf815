"""Groups and times in the choices of the cross-validated linear classifier."""

import numpy as np
import pytest

from aucuba import PartialAUCClassifierCV
from aucuba._roc._logistic import logistic_regression
from aucuba._roc._region import Region
from aucuba._rows._splits import KeptRows, time_blocks
from aucuba.design import TableDesign
from aucuba.linear._cross_validation import Splits, anchored_half
from aucuba.metrics import partial_auc_score
from aucuba.risks import Sample
from tests.linear.test_partial_auc_classifier_cv import BAND, X, Y

TIME = np.random.default_rng(0).permutation(Y.size) // 2
GROUPS = np.random.default_rng(1).integers(200, size=Y.size)


def rows(**given):
    return KeptRows(np.arange(Y.size), X, Y).resampled_by(given.get("groups"), given.get("time"))


@pytest.mark.parametrize("cv", [None, 4])
def test_groups_stay_together(cv):
    splits = Splits.from_cv(cv, rows(groups=GROUPS), Y, 0)
    for train, test in [*splits.folds, *splits.halves]:
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_c_is_chosen_on_blocks_scored_by_models_of_earlier_rows():
    model = PartialAUCClassifierCV(BAND, Cs=[0.01, 1.0], random_state=0).fit(X, Y, time=TIME)
    block = time_blocks(TIME, 6)
    for C, found in zip([0.01, 1.0], model.cv_results_["logistic"], strict=True):
        scores = np.full(Y.size, np.nan)
        for number in range(1, 6):
            earlier = logistic_regression(X[block < number], Y[block < number], None, C)
            scores[block == number] = earlier.decision_function(X[block == number])
        expected = partial_auc_score(Y[block > 0], scores[block > 0], fpr_range=BAND)
        assert found == pytest.approx(expected)


def test_the_model_itself_is_of_all_rows_while_time_judges_it():
    plain = PartialAUCClassifierCV(BAND, Cs=[1.0], random_state=0).fit(X, Y)
    timed = PartialAUCClassifierCV(BAND, Cs=[1.0], random_state=0).fit(X, Y, time=TIME)
    assert timed.region_coef_ == pytest.approx(plain.region_coef_)
    assert timed.logistic_coef_ == pytest.approx(plain.logistic_coef_)
    block = time_blocks(TIME, 6)
    scores = np.full((2, Y.size), np.nan)
    for number in range(1, 6):
        split = np.flatnonzero(block < number), np.flatnonzero(block == number)
        region = Region.from_params(BAND, None, 0.0)
        part = anchored_half(split, TableDesign(X), Sample(Y), region, 1.0)[1]
        scores[:, block == number] = part
    for name, row in zip(("logistic", "region"), scores[:, block > 0], strict=True):
        expected = partial_auc_score(Y[block > 0], row, fpr_range=BAND)
        assert timed.partial_auc_[name] == pytest.approx(expected)


def test_time_and_queries_together_drop_the_earlier_rows_of_a_query():
    kept = KeptRows(np.arange(Y.size), X, Y, GROUPS).resampled_by(None, TIME)
    splits = Splits.from_cv(3, kept, Y, 0)
    assert len(splits.folds) == 3
    for train, test in splits.folds:
        assert TIME[train].max(initial=-1) < TIME[test].min()
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_a_leak_of_groups_is_not_rewarded():
    """One column per group: without groups it looks useful, with them it cannot."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 8)
    y = (rng.random(30) < 0.4)[group]
    table = np.column_stack([np.eye(30)[group], rng.normal(size=240)])
    model = PartialAUCClassifierCV((0.0, 0.5), Cs=[0.1, 10.0], random_state=0)
    leaky = max(model.fit(table, y).partial_auc_.values())
    safe = max(model.fit(table, y, groups=group).partial_auc_.values())
    assert leaky > 0.9
    assert safe < 0.6
