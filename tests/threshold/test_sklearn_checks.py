"""scikit-learn's checks for the four classifiers."""

import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba.threshold import (
    AlertBudgetClassifier,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    TriageClassifier,
)


def classifiers():
    # The checks compare predict with predict_proba at one half, which a promised rate gives up, so the
    # bases are without probabilities or, as the tree on separable blobs, have only 0 and 1.
    for kind in (FixedFPRClassifier, FixedTPRClassifier, AlertBudgetClassifier):
        for base in (RidgeClassifier(), DecisionTreeClassifier(random_state=0)):
            # Whole leaves of a tree are flagged: half of the rows, if more than half may be.
            yield kind(base, 0.7 if kind is AlertBudgetClassifier else 0.5, 0.5, random_state=0)
    yield FixedFPRClassifier(RidgeClassifier(), 0.5, 0.5, cv=4, random_state=0)
    yield FixedFPRClassifier(DecisionTreeClassifier(random_state=0), 0.5, 0.5, cv=4, random_state=0)
    for base in (RidgeClassifier(), DecisionTreeClassifier(random_state=0)):
        yield FixedPrecisionClassifier(base, 0.3, 0.2, on_failure="trivial", random_state=0)
    yield TriageClassifier(RidgeClassifier(), 0.5, 0.5, 0.5, random_state=0)
    yield FalseDiscoverySelector(RidgeClassifier(), 0.5, random_state=0)


def expected_failures(estimator):
    """As for scikit-learn's own threshold classifiers: held-out rows are counted, not weighed."""
    if isinstance(estimator.estimator, DecisionTreeClassifier):
        return {}
    reason = "weights change the base, and repeated rows change which rows are held out"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings("ignore:No held-out positive")
@pytest.mark.filterwarnings("ignore:The held-out rows cannot carry what is promised .precision")
@parametrize_with_checks(list(classifiers()), expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    check(estimator)
