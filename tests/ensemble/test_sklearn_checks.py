"""scikit-learn's own checks, with small members that treat weights as replication."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba.ensemble import RegionReweighted, RegionStack

# The checks have a handful of rows, so the ranges are wide and the folds few.
RANGE = (0.0, 0.5)
ESTIMATORS = [
    RegionReweighted(LogisticRegression(), RANGE, cv=3, random_state=0),
    RegionReweighted(GaussianNB(), (0.2, 0.6), strength=10.0, cv=3, random_state=0),
    RegionStack(
        RANGE,
        estimators=[
            ("logistic", LogisticRegression()),
            ("reweighted", RegionReweighted(LogisticRegression(C=0.1), RANGE)),
        ],
        cv=3,
        random_state=0,
    ),
]


@pytest.mark.filterwarnings("ignore:The smaller class has")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)
