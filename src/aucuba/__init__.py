"""aucuba: learn scores that are best where the ROC curve matters.

The map of the library:

- tables: `PartialAUCClassifierCV`, `PartialAUCClassifier`, `PartialAUCSVC`, `AUMClassifier`
- a card of a few conditions with whole points: `RegionScorecard`
- columns of text, dates and missing values for these: `ColumnPreparer`
- any model, tuned for the region: `RegionStack`, `RegionReweighted`; losses for other trainers:
  `aucuba.objectives`
- a threshold that keeps a promise, for any classifier: `FixedFPRClassifier`, `FixedTPRClassifier`,
  `FixedPrecisionClassifier`, `AlertBudgetClassifier`, `TriageClassifier`; few false
  alerts in each batch: `FalseDiscoverySelector`
- why a row was flagged: `explain_rows`
- graphs: `aucuba.structured`; signals: `aucuba.changepoint`; line searches: `aucuba.aum`
- measures, intervals, scorers and displays: `aucuba.metrics`
- the parts that learners are made of: `aucuba.design`, `aucuba.risks`, `aucuba.solvers`
- the papers behind the methods: `citation`
- the warning to filter where data are few: `FewRowsWarning`

Names are loaded when they are first used, so that ``import aucuba`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucuba._base._warnings import FewRowsWarning
    from aucuba._citation import citation
    from aucuba.ensemble import RegionReweighted, RegionStack, explain_rows
    from aucuba.linear import (
        AUMClassifier,
        ColumnPreparer,
        PartialAUCClassifier,
        PartialAUCClassifierCV,
        PartialAUCSVC,
    )
    from aucuba.scorecard import RegionScorecard
    from aucuba.threshold import (
        AlertBudgetClassifier,
        FalseDiscoverySelector,
        FixedFPRClassifier,
        FixedPrecisionClassifier,
        FixedTPRClassifier,
        TriageClassifier,
    )

__version__ = "0.1.0.dev0"

_HOMES = {
    "AUMClassifier": "aucuba.linear",
    "AlertBudgetClassifier": "aucuba.threshold",
    "ColumnPreparer": "aucuba.linear",
    "FalseDiscoverySelector": "aucuba.threshold",
    "FewRowsWarning": "aucuba._base._warnings",
    "FixedFPRClassifier": "aucuba.threshold",
    "FixedPrecisionClassifier": "aucuba.threshold",
    "FixedTPRClassifier": "aucuba.threshold",
    "PartialAUCClassifier": "aucuba.linear",
    "PartialAUCClassifierCV": "aucuba.linear",
    "PartialAUCSVC": "aucuba.linear",
    "RegionReweighted": "aucuba.ensemble",
    "RegionScorecard": "aucuba.scorecard",
    "RegionStack": "aucuba.ensemble",
    "TriageClassifier": "aucuba.threshold",
    "citation": "aucuba._citation",
    "explain_rows": "aucuba.ensemble",
}
_SUBPACKAGES = (
    *("aum", "changepoint", "design", "ensemble", "export", "linear", "metrics"),
    *("objectives", "persistence", "report", "risks", "scorecard", "solvers", "structured"),
    "threshold",
)
__all__ = [
    "AUMClassifier",
    "AlertBudgetClassifier",
    "ColumnPreparer",
    "FalseDiscoverySelector",
    "FewRowsWarning",
    "FixedFPRClassifier",
    "FixedPrecisionClassifier",
    "FixedTPRClassifier",
    "PartialAUCClassifier",
    "PartialAUCClassifierCV",
    "PartialAUCSVC",
    "RegionReweighted",
    "RegionScorecard",
    "RegionStack",
    "TriageClassifier",
    "__version__",
    "citation",
    "explain_rows",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _SUBPACKAGES:
        return import_module(f"aucuba.{name}")
    raise AttributeError(f"module 'aucuba' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])
