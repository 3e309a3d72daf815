"""The report of a changepoint detector: signals with their labels and the changes found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aucuba._base._tables import html_table
from aucuba.changepoint import (
    ChangepointDisplay,
    PenaltyROC,
    SupervisedChangepointDetector,
    penalty_roc,
)
from aucuba.report._models import training_section
from aucuba.report._page import Page, Section, facts, figures, paragraph
from aucuba.report._svg import Axes, padded

# More dots than a screen has pixels only make the file larger.
_MOST_DOTS = 1500


def changepoint_report(
    detector: SupervisedChangepointDetector,
    signals: Any,
    labels: Any,
    *,
    title: str = "Changepoints",
    n_signals: int = 12,
) -> Page:
    """Build the page of a fitted detector on labelled signals, most label errors first.

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
    displays = {str(name): display for name, display in shown.items()}
    by_errors = sorted(displays, key=lambda name: -_n_errors(displays[name]))
    roc, reason = _roc(detector, signals, labels)
    sections = [
        _label_section({name: displays[name] for name in by_errors}, roc),
        Section("roc-curve", "ROC curve", paragraph(reason)) if roc is None else _roc_section(roc),
        _signal_section({name: displays[name] for name in by_errors[:n_signals]}),
        training_section(detector),
    ]
    wrong = sum(map(_n_errors, displays.values()))
    return Page(title, f"{wrong} label errors on {len(displays)} signals.", sections)


def _n_errors(display: ChangepointDisplay) -> int:
    return sum(mark.verdict != "correct" for mark in display.label_marks())


def _roc(detector: Any, signals: Any, labels: Any) -> tuple[PenaltyROC | None, str]:
    """Return the curve, or the reason why these labels have none."""
    features, errors = detector.prepare(signals, labels)
    log_penalty = detector.predict_log_penalty_features(features)
    try:
        return penalty_roc(errors, log_penalty), ""
    except ValueError as problem:
        # All else was checked, so the reason is that no penalty makes errors of one kind.
        return None, str(problem)


def _label_section(displays: Mapping[str, ChangepointDisplay], roc: PenaltyROC | None) -> Section:
    verdicts = [mark.verdict for one in displays.values() for mark in one.label_marks()]
    entries: dict[str, Any] = {
        "signals": len(displays),
        "labels": len(verdicts),
        "false positives (too many changes)": verdicts.count("false positive"),
        "false negatives (too few)": verdicts.count("false negative"),
    }
    if roc is not None:
        entries |= {"AUC": f"{roc.auc:.4f}", "AUM": f"{roc.aum:.4g}"}
    rows = [
        [name, one.changepoints.size, len(one.label_marks()), _n_errors(one)]
        for name, one in list(displays.items())[:20]
    ]
    header = ["signal", "changes", "labels", "errors"]
    return Section(
        "labels", "Labels", facts(entries) + html_table(header, rows, "Most errors first.")
    )


def _roc_section(roc: PenaltyROC) -> Section:
    axes = Axes(padded(roc.fpr, [0, 1]), padded(roc.tpr, [0, 1]))
    # The vertex between whose thresholds the constant 0 lies.
    at = int(np.searchsorted(roc.shift, 0.0, side="right"))
    inside = axes.path([0, 1], [0, 1], "curve chance") + axes.path(roc.fpr, roc.tpr, "curve model")
    inside += axes.dots(roc.fpr[at], roc.tpr[at], "dot", 5)
    labels = ("false positive rate", "true positive rate")
    drawn = axes.picture(*labels, inside, "ROC curve of the labels")
    text = (
        "Each constant added to all log penalties gives a point; the dot is the constant 0, the "
        "detector itself. Label errors need not decrease as the penalty grows, so the curve may loop."
    )
    return Section("roc-curve", "ROC curve", f"<figure>{drawn}</figure>" + paragraph(text, "fine"))


def _signal_section(displays: Mapping[str, ChangepointDisplay]) -> Section:
    pictures = [
        (
            _picture(name, one),
            f"{name}: {one.changepoints.size} changes, {_n_errors(one)} label errors",
        )
        for name, one in displays.items()
    ]
    text = (
        "Orange regions are labelled with changes, grey ones without; a frame marks an error. The "
        "blue line is the mean of each segment."
    )
    return Section("signals", "Signals", paragraph(text, "fine") + figures(*pictures))


def _picture(name: str, display: ChangepointDisplay) -> str:
    signal, where = display.signal, display.positions
    step = float(np.median(np.diff(where))) if where.size > 1 else 1.0
    ends = (float(where[0]) - step / 2, float(where[-1]) + step / 2)
    axes = Axes(ends, padded(signal), height=240)
    inside = ""
    for mark in display.label_marks():
        css = "region normal" if mark.allowed == "0" else "region breakpoint"
        css += "" if mark.verdict == "correct" else " error"
        about = f"{mark.allowed} changes allowed: {mark.verdict}"
        inside += axes.span(mark.start, mark.end, css, about)
    shown = np.arange(0, signal.size, -(-signal.size // _MOST_DOTS))
    inside += axes.dots(where[shown], signal[shown], "signal", 1.6)
    edges, means = display.segment_edges(), display.segment_means()
    inside += axes.path(np.repeat(edges, 2)[1:-1], np.repeat(means, 2), "mean")
    return axes.picture("sample", "value", inside, f"Signal {name}")
