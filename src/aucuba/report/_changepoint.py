"""The report of a changepoint detector: every signal with its labels and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from aucuba._core._typing import BoolArray, FloatArray, IntArray
from aucuba.changepoint import PenaltyROC, SupervisedChangepointDetector, penalty_roc
from aucuba.changepoint._labels import LabelTable, label_table, labels_by_sequence
from aucuba.changepoint._segmentation import check_signal
from aucuba.report._convergence import training_section
from aucuba.report._page import Page, Section, facts, paragraph, table
from aucuba.report._svg import Axes, padded

# More dots than a screen has pixels only make the file larger.
_MOST_DOTS = 1500


@dataclass(frozen=True)
class _Seen:
    """One signal with its changes and the verdict on each label."""

    name: str
    signal: FloatArray
    changes: IntArray
    labels: LabelTable
    false_positive: BoolArray
    false_negative: BoolArray

    @property
    def n_errors(self) -> int:
        return int(self.false_positive.sum() + self.false_negative.sum())


def changepoint_report(
    detector: SupervisedChangepointDetector,
    signals: Any,
    labels: Any,
    *,
    title: str = "Changepoints",
    n_signals: int = 12,
) -> Page:
    """A page on a fitted detector and labelled signals, those with the most label errors first.

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
    seen = _look(detector, signals, labels)
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


def _look(detector: Any, signals: Any, labels: Any) -> list[_Seen]:
    named = dict(signals) if isinstance(signals, Mapping) else dict(enumerate(signals))
    tables = labels_by_sequence(labels, list(named))
    found = detector.predict(signals)
    seen = []
    for (name, y), rows, changes in zip(named.items(), tables, found, strict=True):
        signal = check_signal(y, f"Sequence {name!r}")
        regions = label_table(rows, np.arange(signal.size, dtype=float))
        false_positive, false_negative = regions.errors(changes - 0.5)
        seen.append(
            _Seen(str(name), signal, changes, regions, false_positive > 0, false_negative > 0)
        )
    return seen


def _roc(detector: Any, signals: Any, labels: Any) -> tuple[PenaltyROC | None, str]:
    """The curve, or the reason why these labels have none."""
    features, errors = detector.prepare(signals, labels)
    log_penalty = detector.predict_log_penalty_features(features)
    try:
        return penalty_roc(errors, log_penalty), ""
    except ValueError as problem:
        # The only complaint left: errors of one kind that no penalty makes.
        return None, str(problem)


def _label_section(seen: list[_Seen], roc: PenaltyROC | None) -> Section:
    n_labels = sum(one.labels.start.size for one in seen)
    entries = {
        "signals": len(seen),
        "labels": n_labels,
        "false positives (too many changes)": sum(int(one.false_positive.sum()) for one in seen),
        "false negatives (too few)": sum(int(one.false_negative.sum()) for one in seen),
    }
    measured = {} if roc is None else {"AUC": f"{roc.auc:.4f}", "AUM": f"{roc.aum:.4g}"}
    rows = [
        [one.name, one.changes.size, one.labels.start.size, one.n_errors]
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
    """The vertex between whose thresholds the constant 0 lies."""
    return int(np.searchsorted(roc.shift, 0.0, side="right"))


def _signal_section(seen: list[_Seen], n_signals: int) -> Section:
    shown = sorted(seen, key=lambda one: -one.n_errors)[:n_signals]
    figures = "".join(
        f"<figure>{_picture(one)}<figcaption>{escape(one.name)}: {one.changes.size} changes, "
        f"{one.n_errors} label errors</figcaption></figure>"
        for one in shown
    )
    text = (
        "Orange regions are labelled with changes, grey ones without; a frame marks an error. The "
        "blue line is the mean of each segment."
    )
    body = paragraph(text, "fine") + f'<div class="figures">{figures}</div>'
    return Section("signals", "Signals", body)


def _picture(one: _Seen) -> str:
    n = one.signal.size
    axes = Axes((-0.5, n - 0.5), padded(one.signal), height=240)
    clip = ""
    wrong = one.false_positive | one.false_negative
    edges = np.clip(np.stack([one.labels.start, one.labels.end]), -0.5, n - 0.5)
    for low, high, most, error in zip(*edges, one.labels.max_changes, wrong, strict=True):
        kind = "region normal" if most == 0 else "region breakpoint"
        clip += axes.span(float(low), float(high), kind + (" error" if error else ""))
    at = np.arange(0, n, -(-n // _MOST_DOTS))
    clip += "".join(
        f'<circle class="signal" r="1.6" cx="{column:.1f}" cy="{row:.1f}"/>'
        for column, row in zip(axes.column(at), axes.row(one.signal[at]), strict=True)
    )
    first = np.r_[0, one.changes]
    last = np.r_[one.changes, n]
    means = [float(part.mean()) for part in np.split(one.signal, one.changes)]
    clip += axes.path(
        np.stack([first - 0.5, last - 0.5], axis=1).ravel(), np.repeat(means, 2), "mean"
    )
    return axes.svg([axes.frame("sample", "value")], f"Signal {one.name}", clip=clip)
