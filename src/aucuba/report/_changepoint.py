"""The report of a changepoint detector: every signal with its labels and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from aucuba.changepoint import (
    ChangepointDisplay,
    PenaltyROC,
    SupervisedChangepointDetector,
    penalty_roc,
)
from aucuba.report._convergence import training_section
from aucuba.report._page import Page, Section, facts, paragraph, table
from aucuba.report._svg import Axes, padded

# More dots than a screen has pixels only make the file larger.
_MOST_DOTS = 1500


@dataclass(frozen=True)
class _Seen:
    """One signal with its changes and the verdict on each label."""

    name: str
    display: ChangepointDisplay

    @property
    def n_labels(self) -> int:
        return int(self.display.label_regions()[0].size)

    @property
    def n_errors(self) -> int:
        return int(np.sum(self.display.label_status()))


def changepoint_report(
    detector: SupervisedChangepointDetector,
    signals: Any,
    labels: Any,
    *,
    title: str = "Changepoints",
    n_signals: int = 12,
) -> Page:
    """Build a page on a fitted detector and labelled signals, those with the most label errors first.

    Parameters
    ----------
    detector : SupervisedChangepointDetector
        Fitted.
    signals : list of array-like, or mapping from names to them
    labels : list, mapping or DataFrame
        As in the detector's ``fit``.
    title : str
        Heading of the page.
    n_signals : int, default=12
        How many signals to draw.

    Returns
    -------
    Page

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import Label, SupervisedChangepointDetector
    >>> from aucuba.report import changepoint_report
    >>> rng = np.random.default_rng(0)
    >>> signals = [np.repeat([0, 5 * (k % 2)], 20) + rng.normal(size=40) for k in range(12)]
    >>> labels = [[Label(10, 30, "one" if k % 2 else "none")] for k in range(12)]
    >>> detector = SupervisedChangepointDetector(5, cv=2, random_state=0).fit(signals, labels)
    >>> page = changepoint_report(detector, signals, labels)
    >>> [section.title for section in page.sections]
    ['Labels', 'ROC curve', 'Signals', 'Training']
    """
    shown = detector.displays(signals, labels)
    seen = [_Seen(str(name), display) for name, display in shown.items()]
    roc, reason = _roc(detector, signals, labels)
    wrong = sum(one.n_errors for one in seen)
    lead = f"{wrong} label errors on {len(seen)} signals."
    sections = [
        _label_section(seen, roc),
        _no_curve(reason) if roc is None else _roc_section(roc),
        _signal_section(seen, n_signals),
        training_section(detector),
    ]
    return Page(title, lead, sections)


def _roc(detector: Any, signals: Any, labels: Any) -> tuple[PenaltyROC | None, str]:
    """Return the curve, or the reason why these labels have none."""
    features, errors = detector.prepare(signals, labels)
    log_penalty = detector.predict_log_penalty_features(features)
    try:
        return penalty_roc(errors, log_penalty), ""
    except ValueError as problem:
        # The only complaint left: errors of one kind that no penalty makes.
        return None, str(problem)


def _label_section(seen: list[_Seen], roc: PenaltyROC | None) -> Section:
    n_labels = sum(one.n_labels for one in seen)
    too_many, too_few = np.sum([np.sum(one.display.label_status(), axis=1) for one in seen], axis=0)
    entries = {
        "signals": len(seen),
        "labels": n_labels,
        "false positives (too many changes)": int(too_many),
        "false negatives (too few)": int(too_few),
    }
    measured = {} if roc is None else {"AUC": f"{roc.auc:.4f}", "AUM": f"{roc.aum:.4g}"}
    rows = [
        [one.name, one.display.changepoints.size, one.n_labels, one.n_errors]
        for one in sorted(seen, key=lambda one: -one.n_errors)[:20]
    ]
    body = facts(entries | measured) + table(
        ["signal", "changes", "labels", "errors"], rows, "Most errors first."
    )
    return Section("labels", "Labels", body)


def _no_curve(reason: str) -> Section:
    return Section("roc-curve", "ROC curve", paragraph(reason))


def _roc_section(roc: PenaltyROC) -> Section:
    axes = Axes(padded(roc.fpr, [0, 1]), padded(roc.tpr, [0, 1]))
    at = _nearest_vertex(roc)
    column, row = float(axes.column(roc.fpr[at])), float(axes.row(roc.tpr[at]))
    clip = axes.path([0, 1], [0, 1], "curve chance") + axes.path(roc.fpr, roc.tpr, "curve model")
    clip += f'<circle class="dot" r="5" cx="{column:.2f}" cy="{row:.2f}"/>'
    frame = axes.frame("false positive rate", "true positive rate")
    drawn = axes.svg([frame], "ROC curve of the labels", clip=clip)
    text = (
        "Each constant added to all log penalties gives a point; the dot is the constant 0, the "
        "detector as it is. Label errors need not fall as the penalty grows, so the curve may loop."
    )
    return Section("roc-curve", "ROC curve", f"<figure>{drawn}</figure>" + paragraph(text, "fine"))


def _nearest_vertex(roc: PenaltyROC) -> int:
    """Return the vertex between whose thresholds the constant 0 lies."""
    return int(np.searchsorted(roc.shift, 0.0, side="right"))


def _signal_section(seen: list[_Seen], n_signals: int) -> Section:
    shown = sorted(seen, key=lambda one: -one.n_errors)[:n_signals]
    figures = "".join(
        f"<figure>{_picture(one)}<figcaption>{escape(one.name)}: "
        f"{one.display.changepoints.size} changes, {one.n_errors} label errors</figcaption></figure>"
        for one in shown
    )
    text = (
        "Orange regions are labelled with changes, grey ones without; a frame marks an error. The "
        "blue line is the mean of each segment."
    )
    body = paragraph(text, "fine") + f'<div class="figures">{figures}</div>'
    return Section("signals", "Signals", body)


def _picture(one: _Seen) -> str:
    display = one.display
    signal, where = display.signal, display.positions
    step = float(np.median(np.diff(where))) if where.size > 1 else 1.0
    axes = Axes(
        (float(where[0]) - step / 2, float(where[-1]) + step / 2), padded(signal), height=240
    )
    clip = ""
    wrong = np.logical_or(*display.label_status())
    most = np.zeros(0) if display.labels is None else display.labels.max_changes
    for low, high, allowed, error in zip(*display.label_regions(), most, wrong, strict=True):
        kind = "region normal" if allowed == 0 else "region breakpoint"
        clip += axes.span(float(low), float(high), kind + (" error" if error else ""))
    shown = np.arange(0, signal.size, -(-signal.size // _MOST_DOTS))
    clip += "".join(
        f'<circle class="signal" r="1.6" cx="{column:.1f}" cy="{row:.1f}"/>'
        for column, row in zip(axes.column(where[shown]), axes.row(signal[shown]), strict=True)
    )
    edges = display.segment_edges()
    clip += axes.path(np.repeat(edges, 2)[1:-1], np.repeat(display.segment_means(), 2), "mean")
    return axes.svg([axes.frame("sample", "value")], f"Signal {one.name}", clip=clip)
