from sklearn.utils.estimator_checks import parametrize_with_checks
from aucuba.structured import StructuredLabelRanker
@parametrize_with_checks([StructuredLabelRanker()])
def test_checks(estimator, check): check(estimator)
