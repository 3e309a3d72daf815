"""scikit-learn's own checks, over all classifiers of the family."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba import ColumnPreparer, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC

ESTIMATORS = [
    ColumnPreparer(),
    PartialAUCClassifierCV(random_state=0),
    PartialAUCClassifierCV((0.0, 0.1), random_state=0),
    PartialAUCClassifierCV(Cs=2, max_features=2, random_state=0),
    PartialAUCClassifier(),
    PartialAUCSVC((0.0, 1.0), loss="structural"),
    PartialAUCSVC((0.05, 0.2), loss="tight"),
    PartialAUCSVC((0.1, 0.25), loss="tight_dc"),
    PartialAUCSVC((0.0, 0.2), loss="tight", kernel="rbf"),
    PartialAUCSVC((0.0, 0.2), loss="structural", kernel="poly", solver="cutting_plane"),
]


def expected_failures(estimator):
    """The check that wants predictions at probability one half, as for scikit-learn's own."""
    reason = "predicts at the upper limit of the region, not at probability .5"
    return {"check_classifiers_train": reason} if hasattr(estimator, "predict_proba") else {}


# The checks use a handful of rows, for which the estimators rightly warn.
@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.filterwarnings("ignore:The standard deviations of the columns")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)
