"""Self-contained HTML reports: one file, no network."""

from aucuba.report._changepoint import changepoint_report
from aucuba.report._classifier import classifier_report
from aucuba.report._page import Page, Section, write_page
from aucuba.report._ranking import ranking_report
from aucuba.report._scored_sample import ScoredSample

__all__ = [
    "Page",
    "ScoredSample",
    "Section",
    "changepoint_report",
    "classifier_report",
    "ranking_report",
    "write_page",
]
