"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba import RegionScorecard

REASON = "predicts at the upper limit of the region, not at probability .5"


# The checks use a handful of rows, for which the card rightly warns.
@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@parametrize_with_checks(
    [RegionScorecard((0.0, 0.2), max_items=2, cv=2, random_state=0)],
    expected_failed_checks=lambda estimator: {"check_classifiers_train": REASON},
)
def test_scikit_learn(estimator, check):
    check(estimator)
