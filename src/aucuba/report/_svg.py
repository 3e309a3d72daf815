"""SVG charts: axes, curves and dots whose colours come from the style sheet of the page.

The Displays draw the same curves and signals with matplotlib. A page draws them itself because it
follows the dark theme, answers the pointer, and is written where matplotlib is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._base._tables import escaped
from aucuba._base._typing import ArrayLike, FloatArray

_RIGHT, _TOP, _BOTTOM = 12.0, 10.0, 42.0
# Room for the title of the vertical axis, the gap beside its tick labels, and one of their characters.
_TITLE, _CHARACTER = 26.0, 7.0
_LEAST_LEFT = 60.0
# The page's script moves the dot into view.
HIDDEN_DOT = '<circle class="dot" r="4.5" cx="-99" cy="-99"/>'


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

    @property
    def left(self) -> float:
        """Where the frame begins: right of the longest number of the vertical axis."""
        longest = max((len(f"{tick:g}") for tick in ticks(*self.y)), default=0)
        return max(_LEAST_LEFT, _TITLE + _CHARACTER * longest)

    def column(self, x: ArrayLike) -> FloatArray:
        """Map data to horizontal positions."""
        return np.asarray(self.left + (self.width - self.left - _RIGHT) * _share(x, self.x))

    def row(self, y: ArrayLike) -> FloatArray:
        """Map data to vertical positions, which grow downwards."""
        return np.asarray(_TOP + (self.height - _TOP - _BOTTOM) * (1.0 - _share(y, self.y)))

    def path(self, x: ArrayLike, y: ArrayLike, css: str) -> str:
        """Draw a polyline."""
        pairs = zip(self.column(x), self.row(y), strict=True)
        track = "L".join(f"{_short(column)} {_short(row)}" for column, row in pairs)
        return f'<path class="{css}" d="M{track}"/>'

    def area(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, css: str) -> str:
        """Fill the area between two curves over the same points."""
        there, back = np.asarray(x), np.asarray(x)[::-1]
        edge = self.path(np.r_[there, back], np.r_[np.asarray(low), np.asarray(high)[::-1]], css)
        return edge.replace('"/>', 'Z"/>')

    def dots(self, x: ArrayLike, y: ArrayLike, css: str, radius: float) -> str:
        """Draw one circle per point."""
        pairs = zip(np.atleast_1d(self.column(x)), np.atleast_1d(self.row(y)), strict=True)
        return "".join(
            f'<circle class="{css}" r="{_short(radius)}" cx="{_short(column)}" cy="{_short(row)}"/>'
            for column, row in pairs
        )

    def span(self, low: float, high: float, css: str, about: str = "") -> str:
        """Shade an interval of x over the full height; ``about`` is its tooltip."""
        left, right = self.column([low, high])
        title = f"<title>{escaped(about)}</title>" if about else ""
        return (
            f'<rect class="{css}" x="{_short(left)}" y="{_TOP:g}" width="{_short(right - left)}" '
            f'height="{self.height - _TOP - _BOTTOM:g}">{title}</rect>'
        )

    def picture(
        self,
        x_label: str,
        y_label: str,
        inside: str,
        about: str,
        *,
        attributes: str = "",
        x_ticks: Sequence[float] | None = None,
        x_text: Sequence[str] | None = None,
        y_ticks: Sequence[float] | None = None,
        y_text: Sequence[str] | None = None,
    ) -> str:
        """Draw the frame and, clipped to it, the elements ``inside``.

        ``about`` describes the picture to screen readers; ``attributes`` go to the svg element.
        """
        frame = self._frame(
            ticks(*self.x) if x_ticks is None else x_ticks,
            ticks(*self.y) if y_ticks is None else y_ticks,
            x_text,
            y_text,
        )
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        left = self.left
        width, height = right - left, bottom - _TOP
        return (
            f'<svg class="chart" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escaped(about, quote=True)}" {attributes}>{frame}'
            f'<text class="label mid" x="{left + width / 2:g}" y="{self.height - 6:g}">'
            f'{escaped(x_label)}</text><text class="label mid" '
            f'transform="translate(12 {_TOP + height / 2:g}) rotate(-90)">{escaped(y_label)}</text>'
            f'<svg class="inner" x="{left:g}" y="{_TOP:g}" width="{width:g}" height="{height:g}" '
            f'viewBox="{left:g} {_TOP:g} {width:g} {height:g}">{inside}</svg></svg>'
        )

    def _frame(
        self,
        x_ticks: Sequence[float],
        y_ticks: Sequence[float],
        x_text: Sequence[str] | None,
        y_text: Sequence[str] | None,
    ) -> str:
        """Draw grid lines with their numbers."""
        x_text = [f"{tick:g}" for tick in x_ticks] if x_text is None else x_text
        y_text = [f"{tick:g}" for tick in y_ticks] if y_text is None else y_text
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        parts = []
        for text, at in zip(x_text, map(_short, self.column(x_ticks)), strict=True):
            parts.append(f'<path class="grid" d="M{at} {_TOP:g}V{bottom:g}"/>')
            parts.append(f'<text x="{at}" y="{bottom + 15:g}" class="tick mid">{text}</text>')
        for text, row in zip(y_text, self.row(y_ticks), strict=True):
            parts.append(f'<path class="grid" d="M{self.left:g} {_short(row)}H{right:g}"/>')
            place = f'x="{self.left - 6:g}" y="{_short(row + 4)}"'
            parts.append(f'<text {place} class="tick end">{text}</text>')
        return "".join(parts)

    def geometry(self) -> dict[str, float]:
        """Return the map for the script of the page: ``column = x0 + x * dx``, and so for rows."""
        x0, x1 = (float(value) for value in self.column([0.0, 1.0]))
        y0, y1 = (float(value) for value in self.row([0.0, 1.0]))
        edges = {"left": self.left, "right": self.width - _RIGHT}
        edges |= {"top": _TOP, "bottom": self.height - _BOTTOM}
        return {"x0": x0, "dx": x1 - x0, "y0": y0, "dy": y1 - y0, **edges}


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Choose about ``count`` round numbers inside a range.

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
    """Return a range that holds all values with some room, never of width zero."""
    everything = np.concatenate([np.ravel(value) for value in values]).astype(float)
    low, high = float(everything.min()), float(everything.max())
    room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-6)
    return low - room, high + room


def _share(value: ArrayLike, span: tuple[float, float]) -> FloatArray:
    return (np.asarray(value, dtype=float) - span[0]) / (span[1] - span[0])


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
