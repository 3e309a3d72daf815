"""Self-contained HTML reports: one file, no network."""

from aucuba.report.classifier import classifier_report
from aucuba.report.measures import ScoredSample
from aucuba.report.page import Page, Section, write_page

__all__ = ["Page", "ScoredSample", "Section", "classifier_report", "write_page"]
