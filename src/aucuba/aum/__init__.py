"""Area under the minimum of the errors: value, derivatives and exact line searches."""

from aucuba.aum._descent import AUMDescent, AUMSolution, LabelledData
from aucuba.aum._error_functions import ErrorFunctions
from aucuba.aum._maximum import AUCMaximum, maximize_auc
from aucuba.aum._minimum import AUMMinimum, minimize_aum
from aucuba.aum._path import LineSearchPath, line_search_path
from aucuba.aum._step_rules import Line
from aucuba.aum._value import AreaUnderMin, aum, balanced_subgradient

__all__ = [
    "AUCMaximum",
    "AUMDescent",
    "AUMMinimum",
    "AUMSolution",
    "AreaUnderMin",
    "ErrorFunctions",
    "LabelledData",
    "Line",
    "LineSearchPath",
    "aum",
    "balanced_subgradient",
    "line_search_path",
    "maximize_auc",
    "minimize_aum",
]
