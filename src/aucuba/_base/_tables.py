"""Results that print as tables (text, HTML for notebooks, data frames), and users' text in HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# The smallest p-value that three decimals can show.
_SMALL = 0.001
# Control characters, which HTML drops or forbids; marks that turn the text around them, so that an
# interval behind a name would read backwards; halves of characters, which no file can hold.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
    "\ud800-\udfff]"
)


def escaped(text: str, *, quote: bool = True) -> str:
    r"""Escape text for HTML, and write characters that a page cannot show by their code.

    Examples
    --------
    >>> from aucuba._base._tables import escaped
    >>> print(escaped("<b>\x00\u202eabc"))
    &lt;b&gt;\u0000\u202eabc
    """
    return escape(_UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text), quote=quote)


def p_text(p_value: float) -> str:
    """Format a p-value with three decimals, or as below the smallest that they can show.

    Examples
    --------
    >>> from aucuba._base._tables import p_text
    >>> p_text(0.04251), p_text(3e-9)
    ('0.043', '< 0.001')
    """
    return f"{p_value:.3f}" if p_value >= _SMALL else f"< {_SMALL:g}"


def count_text(n: float) -> str:
    """Format a number of rows, or their weight, with all its digits.

    Examples
    --------
    >>> from aucuba._base._tables import count_text
    >>> count_text(1234567.0), count_text(1500.25)
    ('1,234,567', '1,500.2')
    """
    return f"{n:,.1f}".removesuffix(".0")


def html_table(header: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Build an HTML table whose first column is text; it scrolls if it is too wide."""
    head = "".join(f'<th scope="col">{escaped(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row">{escaped(str(row[0]))}</th>'
        + "".join(f"<td>{escaped(str(cell))}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    text = f"<caption>{escaped(caption)}</caption>" if caption else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="table">'
        f"<table>{text}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


class TabularResult:
    """A result that prints as a table, whose rows a subclass supplies.

    ``to_frame()`` needs pandas; a notebook shows the table as HTML.
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
        return html_table(list(rows[0]), [list(row.values()) for row in rows])

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
