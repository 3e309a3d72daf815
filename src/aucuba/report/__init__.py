"""Self-contained HTML reports: one file, no network."""

from aucuba.report.changepoint import changepoint_report
from aucuba.report.classifier import classifier_report
from aucuba.report.measures import ScoredSample
from aucuba.report.page import Page, Section, write_page
from aucuba.report.ranking import ranking_report

__all__ = [
    "Page",
    "ScoredSample",
    "Section",
    "changepoint_report",
    "classifier_report",
    "ranking_report",
    "write_page",
]
