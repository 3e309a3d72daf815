"""Area under the minimum of the errors: value, derivatives and exact line searches."""

from aucuba.aum.descent import AUMDescent, LabelledData
from aucuba.aum.errors import ErrorFunctions
from aucuba.aum.lines import ThresholdLines
from aucuba.aum.maximum import AUCMaximum, maximize_auc
from aucuba.aum.minimum import AUMMinimum, minimize_aum
from aucuba.aum.path import LineSearchPath, PathPoint, line_search_path
from aucuba.aum.value import AreaUnderMin, aum, balanced_subgradient

__all__ = [
    "AUCMaximum",
    "AUMDescent",
    "AUMMinimum",
    "AreaUnderMin",
    "ErrorFunctions",
    "LabelledData",
    "LineSearchPath",
    "PathPoint",
    "ThresholdLines",
    "aum",
    "balanced_subgradient",
    "line_search_path",
    "maximize_auc",
    "minimize_aum",
]
