"""Tables of experiments as markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table; the first column is text, the others are right-aligned."""
    lines = [
        "| " + " | ".join(header) + " |",
        "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def write_result(text: str, path: str | None) -> None:
    """To a file, or to the standard output."""
    if path is None:
        sys.stdout.write(text + "\n")
    else:
        Path(path).write_text(text + "\n")
