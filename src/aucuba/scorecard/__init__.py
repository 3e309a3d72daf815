"""Scorecards: a few conditions with whole points, chosen for a region of the ROC curve."""

from aucuba.scorecard._path import ScorecardPath, scorecard_path
from aucuba.scorecard._region_scorecard import RegionScorecard
from aucuba.scorecard._scorecard import Scorecard

__all__ = ["RegionScorecard", "Scorecard", "ScorecardPath", "scorecard_path"]
