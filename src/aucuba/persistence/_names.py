"""Names under which classes stand in model files, whatever module they live in today."""

from __future__ import annotations

import sys
from importlib import import_module

# From the release of 0.1.0 on, model files hold these names: then entries are only added.
_PUBLIC = (
    "aucuba.AUMClassifier",
    "aucuba.AlertBudgetClassifier",
    "aucuba.FixedFPRClassifier",
    "aucuba.FixedPrecisionClassifier",
    "aucuba.FixedTPRClassifier",
    "aucuba.PartialAUCClassifier",
    "aucuba.PartialAUCClassifierCV",
    "aucuba.RegionReweighted",
    "aucuba.RegionStack",
    "aucuba.changepoint.IntervalRegression",
    "aucuba.changepoint.IntervalRegressionCV",
    "aucuba.changepoint.SupervisedChangepointDetector",
    "aucuba.structured.AUC",
    "aucuba.structured.AUCAtK",
    "aucuba.structured.BinnedAUC",
    "aucuba.structured.StructuredLabelRanker",
    "aucuba.structured.StructuredRanker",
    "aucuba.structured.UnnestedAUC",
    # scikit-learn 1.7 calls the module of its compiled losses "_loss"; later releases do not.
    "sklearn._loss._loss.CyHalfBinomialLoss",
)
# Stored name on the left, current location of the class on the right. When a class moves, only the
# right side changes. Private helpers have no public name; their alias says what they do.
STORED_NAMES = {name: name for name in _PUBLIC} | {
    "aucuba.helper.column_features": "aucuba.linear._kernel.ColumnFeatures",
    "aucuba.helper.linear_columns": "aucuba._columns._named.LinearColumns",
    "aucuba.helper.named_columns": "aucuba._columns._named.NamedColumns",
    "aucuba.helper.plain_columns": "aucuba._columns._plain.PlainColumns",
    "aucuba.helper.portable_splines": "aucuba._columns._splines.PortableSplines",
}


def present_class(stored: str) -> type:
    """Import the class that a stored name means today."""
    module, _, name = STORED_NAMES[stored].rpartition(".")
    found: type = getattr(import_module(module), name)
    return found


def present_names() -> dict[str, str]:
    """Map the full names of all classes that are loaded by now to their stored names.

    An object's class is loaded, so classes of modules that are not can be left out.
    """
    names = {}
    for stored, place in STORED_NAMES.items():
        module = place.rpartition(".")[0]
        if module in sys.modules:
            names[full_name(present_class(stored))] = stored
    return names


def full_name(item: type) -> str:
    """Module and name of a class, as skops writes them."""
    return f"{item.__module__}.{item.__name__}"
