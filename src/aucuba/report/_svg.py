"""A few lines of SVG: axes, curves and bars whose colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from aucuba._base._typing import ArrayLike

_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 12.0, 10.0, 42.0


@dataclass(frozen=True)
class Axes:
    """A rectangle of data coordinates drawn into ``width`` by ``height`` units.

    Examples
    --------
    >>> from aucuba.report._svg import Axes
    >>> axes = Axes((0, 1), (0, 1), width=172, height=152)
    >>> axes.path([0, 1], [0, 1], "curve")
    '<path class="curve" d="M60 110L160 10"/>'
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = 420.0
    height: float = 340.0

    def column(self, x: ArrayLike) -> np.ndarray:
        return np.asarray(_LEFT + self._inner_width * _share(x, self.x))

    def row(self, y: ArrayLike) -> np.ndarray:
        return np.asarray(_TOP + self._inner_height * (1.0 - _share(y, self.y)))

    @property
    def _inner_width(self) -> float:
        return self.width - _LEFT - _RIGHT

    @property
    def _inner_height(self) -> float:
        return self.height - _TOP - _BOTTOM

    def path(self, x: ArrayLike, y: ArrayLike, css: str) -> str:
        """Build a polyline."""
        return f'<path class="{css}" d="{self.track(x, y)}"/>'

    def track(self, x: ArrayLike, y: ArrayLike) -> str:
        """Return the ``d`` attribute of a polyline."""
        pairs = zip(self.column(x), self.row(y), strict=True)
        return "M" + "L".join(f"{_short(column)} {_short(row)}" for column, row in pairs)

    def area(self, x: ArrayLike, y: ArrayLike, css: str) -> str:
        """Return the area between a polyline and the bottom of the axes."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        base = self.y[0]
        return self.path(np.r_[x[0], x, x[-1]], np.r_[base, y, base], css)

    def span(self, low: float, high: float, css: str) -> str:
        """Build a vertical band."""
        left, right = (float(edge) for edge in self.column([low, high]))
        return (
            f'<rect class="{css}" x="{_short(left)}" y="{_TOP:g}" width="{_short(right - left)}" '
            f'height="{self._inner_height:g}"/>'
        )

    def frame(
        self,
        x_label: str,
        y_label: str,
        *,
        x_ticks: Sequence[float] | None = None,
        y_ticks: Sequence[float] | None = None,
        y_text: Sequence[str] | None = None,
    ) -> str:
        """Grid lines, tick marks and labels."""
        x_ticks = ticks(*self.x) if x_ticks is None else x_ticks
        y_ticks = ticks(*self.y) if y_ticks is None else y_ticks
        y_text = [f"{tick:g}" for tick in y_ticks] if y_text is None else y_text
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        parts = []
        for tick, column in zip(x_ticks, self.column(x_ticks), strict=True):
            at = _short(float(column))
            parts.append(f'<path class="grid" d="M{at} {_TOP:g}V{bottom:g}"/>')
            parts.append(f'<text x="{at}" y="{bottom + 15:g}" class="tick mid">{tick:g}</text>')
        for text, row in zip(y_text, self.row(y_ticks), strict=True):
            level, below = _short(float(row)), _short(float(row) + 4)
            parts.append(f'<path class="grid" d="M{_LEFT:g} {level}H{right:g}"/>')
            parts.append(f'<text x="{_LEFT - 6:g}" y="{below}" class="tick end">{text}</text>')
        middle = _TOP + self._inner_height / 2
        parts.append(
            f'<text class="label mid" x="{_LEFT + self._inner_width / 2:g}" '
            f'y="{self.height - 6:g}">{escape(x_label)}</text>'
        )
        parts.append(
            f'<text class="label mid" transform="translate(12 {middle:g}) rotate(-90)">'
            f"{escape(y_label)}</text>"
        )
        return "".join(parts)

    def svg(self, parts: Iterable[str], label: str, *, attributes: str = "", clip: str = "") -> str:
        """Return the picture; ``clip`` holds elements that must stay inside the axes."""
        box = (
            f'<svg class="inner" x="{_LEFT:g}" y="{_TOP:g}" width="{self._inner_width:g}" '
            f'height="{self._inner_height:g}" '
            f'viewBox="{_LEFT:g} {_TOP:g} {self._inner_width:g} {self._inner_height:g}">{clip}</svg>'
            if clip
            else ""
        )
        return (
            f'<svg class="chart" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(label, quote=True)}" {attributes}>{"".join(parts)}{box}</svg>'
        )

    def geometry(self) -> dict[str, float]:
        """Return what places marks on the page: ``column = x0 + x * dx``, and so for rows."""
        x0, x1 = (float(value) for value in self.column([0.0, 1.0]))
        y0, y1 = (float(value) for value in self.row([0.0, 1.0]))
        return {
            "x0": x0,
            "dx": x1 - x0,
            "y0": y0,
            "dy": y1 - y0,
            "left": _LEFT,
            "right": self.width - _RIGHT,
            "top": _TOP,
            "bottom": self.height - _BOTTOM,
        }


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers inside a range, about ``count`` of them.

    Examples
    --------
    >>> from aucuba.report._svg import ticks
    >>> ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    raw = (high - low) / count
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= raw * 0.9)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    # Fifteen digits hide the rounding of multiples such as 3 * 0.1.
    return [float(f"{index * step:.15g}") for index in range(first, last + 1)]


def padded(*values: ArrayLike) -> tuple[float, float]:
    """Build a range that holds all values with a little room, never of width zero."""
    everything = np.concatenate([np.ravel(value) for value in values]).astype(float)
    low, high = float(everything.min()), float(everything.max())
    room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-6)
    return low - room, high + room


def _share(value: ArrayLike, span: tuple[float, float]) -> np.ndarray:
    return (np.asarray(value, dtype=float) - span[0]) / (span[1] - span[0])


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
