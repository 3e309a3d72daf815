"""Results that print as tables: text, HTML for notebooks, and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aucuba._base._markup import escaped

_SMALL = 0.001


def p_text(p_value: float) -> str:
    """Write a p-value with three decimals, or as below the least that they show.

    Examples
    --------
    >>> from aucuba._base._tables import p_text
    >>> p_text(0.04251), p_text(3e-9)
    ('0.043', '< 0.001')
    """
    return f"{p_value:.3f}" if p_value >= _SMALL else f"< {_SMALL:g}"


class TabularResult:
    """Rows of a result as a table; a subclass says what they are.

    ``to_frame()`` needs pandas; a notebook shows the table by itself.
    """

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per row."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per entry."""
        import pandas as pd

        return pd.DataFrame(self.table_rows())

    def _repr_html_(self) -> str:
        rows = _texts(self.table_rows())
        if not rows:
            return "<p>No rows.</p>"
        head = "".join(f"<th>{escaped(name)}</th>" for name in rows[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row.values()) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _text(self) -> str:
        """Write the table with aligned columns."""
        rows = _texts(self.table_rows())
        if not rows:
            return "No rows."
        lines = [list(rows[0]), *([*row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def _texts(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    return [{name: _cell(name, value) for name, value in row.items()} for row in rows]


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return p_text(value) if name.startswith("p_") else f"{value:.4f}"
