"""aucuba: learn scores that are best where the ROC curve matters.

The map of the library:

- ``aucuba.PartialAUCClassifier``: linear and kernel models for a range of false positive rates
- ``aucuba.metrics``: partial AUC and its relatives, with intervals, scorers and displays
- ``aucuba.design``, ``aucuba.risks``, ``aucuba.solvers``: data, losses and algorithms; a learner is
  one of each
- ``aucuba.citation``: the BibTeX of the methods
"""

from aucuba import metrics
from aucuba._citation import citation
from aucuba.linear import PartialAUCClassifier, PartialAUCClassifierCV

__version__ = "0.1.0"

__all__ = ["PartialAUCClassifier", "PartialAUCClassifierCV", "__version__", "citation", "metrics"]
