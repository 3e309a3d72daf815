"""Linear and kernel classifiers trained for a region of the ROC curve."""

from aucuba.linear._aum_classifier import AUMClassifier
from aucuba.linear._column_preparer import ColumnPreparer
from aucuba.linear._partial_auc import PartialAUCClassifier
from aucuba.linear._partial_auc_cv import PartialAUCClassifierCV
from aucuba.linear._svc import PartialAUCSVC

__all__ = [
    "AUMClassifier",
    "ColumnPreparer",
    "PartialAUCClassifier",
    "PartialAUCClassifierCV",
    "PartialAUCSVC",
]
