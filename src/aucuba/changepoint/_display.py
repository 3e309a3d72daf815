"""Pictures of a labelled signal, its changes, and its label errors against the penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aucuba._base._drawing import axes_for
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.changepoint._label_errors import LabelErrors, label_errors
from aucuba.changepoint._labels import LabelTable, label_table
from aucuba.changepoint._segment import segment
from aucuba.changepoint._segmentation import Segmentation, model_selection
from aucuba.changepoint._signals import check_signal, sample_positions

_ALLOWED = {(0.0, 0.0): "0", (1.0, 1.0): "1", (1.0, np.inf): "≥1"}
_COLORS = {"correct": "#4daf4a", "false positive": "#e41a1c", "false negative": "#377eb8"}


class LabelMark(NamedTuple):
    """One label of a picture."""

    start: float
    """Start, cut to the range of the samples."""
    end: float
    """End, cut to the range of the samples."""
    allowed: str
    """Number of changes the label allows: "0", "1" or "≥1"."""
    verdict: str
    """"correct", "false positive" (too many changes) or "false negative" (too few)."""


@dataclass(kw_only=True, eq=False, repr=False)
class ChangepointDisplay:
    """Picture of a signal with its labels and a segmentation.

    Create one with `from_changepoints`, `from_penalty` or `from_detector`; each draws immediately.
    A label is green if the changes agree with it, red if there are too many changes (false positive)
    and blue if there are too few (false negative). The number above a label is the number of changes
    that it allows.

    Parameters
    ----------
    signal, positions : ndarray of shape (n_samples,)
    changepoints : ndarray of int
        First samples of new segments.
    labels : LabelTable or None
    errors : LabelErrors or None
        Errors against the log penalty, for `plot_errors`.
    log_penalty : float or None
        The chosen penalty.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    label_patches_, change_lines_ : list of matplotlib Artist
    mean_line_ : matplotlib Artist
    """

    signal: FloatArray
    positions: FloatArray
    changepoints: IntArray
    labels: LabelTable | None = None
    errors: LabelErrors | None = None
    log_penalty: float | None = None

    @classmethod
    def from_changepoints(
        cls,
        signal: ArrayLike,
        changepoints: ArrayLike,
        labels: Any = None,
        *,
        positions: ArrayLike | None = None,
        ax: Any = None,
    ) -> ChangepointDisplay:
        """Draw the given changes."""
        y = check_signal(signal)
        where = sample_positions(positions, y.size)
        table = None if labels is None else label_table(labels, where)
        first = np.asarray(changepoints, dtype=np.intp)
        return cls(signal=y, positions=where, changepoints=first, labels=table).plot(ax=ax)

    @classmethod
    def from_penalty(
        cls,
        signal: ArrayLike,
        log_penalty: float,
        labels: Any = None,
        *,
        max_segments: int = 20,
        loss: str = "l2",
        positions: ArrayLike | None = None,
        ax: Any = None,
    ) -> ChangepointDisplay:
        """Draw the segmentation that one penalty selects."""
        y = check_signal(signal)
        found = segment(y, min(max_segments, y.size), loss=loss, positions=positions)
        return cls._selected(y, found, float(log_penalty), labels).plot(ax=ax)

    @classmethod
    def from_detector(
        cls, detector: Any, signal: ArrayLike, labels: Any = None, *, ax: Any = None
    ) -> ChangepointDisplay:
        """Draw the changes that a fitted `SupervisedChangepointDetector` finds."""
        y = check_signal(signal)
        log_penalty = float(detector.predict_log_penalty([y])[0])
        found = segment(y, min(detector.max_segments, y.size), loss=detector.loss)
        return cls._selected(y, found, log_penalty, labels).plot(ax=ax)

    @classmethod
    def _selected(
        cls, y: FloatArray, found: Segmentation, log_penalty: float, labels: Any
    ) -> ChangepointDisplay:
        path = model_selection(found.losses, found.sizes)
        model = path.index[int(path.select(np.exp(log_penalty)))]
        return cls(
            signal=y,
            positions=found.positions,
            changepoints=found.changepoints[model],
            labels=None if labels is None else label_table(labels, found.positions),
            errors=None if labels is None else label_errors(found, labels),
            log_penalty=log_penalty,
        )

    @property
    def change_positions(self) -> FloatArray:
        """Midpoints between the two samples around each change."""
        before, after = self.positions[self.changepoints - 1], self.positions[self.changepoints]
        return (before + after) / 2

    def label_marks(self) -> list[LabelMark]:
        """List the labels by position, with the verdict on each."""
        if self.labels is None:
            return []
        ends = self.positions[0], self.positions[-1]
        too_many, too_few = self.labels.verdicts(self.change_positions)
        verdicts = np.select([too_many, too_few], ["false positive", "false negative"], "correct")
        return [
            LabelMark(float(start), float(end), _ALLOWED[float(least), float(most)], str(verdict))
            for start, end, least, most, verdict in zip(
                np.clip(self.labels.start, *ends),
                np.clip(self.labels.end, *ends),
                self.labels.min_changes,
                self.labels.max_changes,
                verdicts,
                strict=True,
            )
        ]

    @property
    def label_errors(self) -> float:
        """Weight of the labels with which the changes disagree."""
        if self.labels is None:
            return 0.0
        return float(np.sum(self.labels.errors(self.change_positions)))

    def segment_means(self) -> FloatArray:
        """Return the mean of each segment."""
        parts = np.split(self.signal, self.changepoints)
        return np.array([float(part.mean()) for part in parts])

    def segment_edges(self) -> FloatArray:
        """Return the ends of the segments: first sample, changes, last sample."""
        ends = self.positions[[0, -1]]
        return np.concatenate([ends[:1], self.change_positions, ends[1:]])

    def plot(self, ax: Any = None) -> ChangepointDisplay:
        """Draw signal, labels and segments into ``ax``, or into a new figure."""
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        self.label_patches_ = self._draw_labels(ax)
        ax.plot(self.positions, self.signal, ".", color="0.35", markersize=3, zorder=2)
        # A gap after every segment keeps slanted lines from joining the segments.
        edges = self.segment_edges()
        where = np.column_stack([edges[:-1], edges[1:], edges[1:]]).ravel()
        height = np.repeat(self.segment_means(), 3)
        height[2::3] = np.nan
        (self.mean_line_,) = ax.plot(where, height, color="black", linewidth=2, zorder=3)
        self.change_lines_ = [
            ax.axvline(edge, color="black", linewidth=1, linestyle="--", zorder=1)
            for edge in edges[1:-1]
        ]
        ax.set(xlabel="position", ylabel="signal")
        return self

    def _draw_labels(self, ax: Any) -> list[Any]:
        patches = []
        named: set[str] = set()
        for start, end, allowed, verdict in self.label_marks():
            style = {"color": _COLORS[verdict], "alpha": 0.25, "linewidth": 0, "zorder": 0}
            patches.append(
                ax.axvspan(start, end, label=None if verdict in named else verdict, **style)
            )
            named.add(verdict)
            text = {"ha": "center", "va": "top", "fontsize": "small"}
            ax.text((start + end) / 2, 0.98, allowed, transform=ax.get_xaxis_transform(), **text)
        if named:
            ax.legend(loc="lower right", fontsize="small", title="labels", title_fontsize="small")
        return patches

    def plot_errors(self, ax: Any = None) -> Any:
        """Draw false positives and false negatives against minus the log penalty.

        Both are step functions; a line marks the chosen penalty.

        Returns
        -------
        matplotlib Axes
        """
        if self.errors is None:
            raise ValueError("There are no label errors to draw: create the display with labels.")
        errors, log_penalty, ax = self.errors, self.log_penalty, axes_for(ax)
        breaks = -errors.max_log_penalty[:-1][::-1]
        shown = breaks if log_penalty is None else np.append(breaks, -log_penalty)
        shown = shown if shown.size else np.zeros(1)
        pad = 0.08 * np.ptp(shown) or 1.0
        ends = (shown.min() - pad, shown.max() + pad)
        edges = np.concatenate([[ends[0]], breaks, [ends[1]]])
        # A slight lift keeps both curves visible where they are equal.
        for counts, color, name, lift in (
            (errors.fp, _COLORS["false positive"], "false positives", 0.0),
            (errors.fn, _COLORS["false negative"], "false negatives", 0.03),
        ):
            ax.stairs(
                counts[::-1] + lift, edges, color=color, label=name, linewidth=2, baseline=None
            )
        if log_penalty is not None:
            ax.axvline(-log_penalty, color="purple", linestyle="--", label="chosen penalty")
        ax.set(xlabel="−log(penalty)", ylabel="label errors")
        ax.legend(fontsize="small")
        return ax
