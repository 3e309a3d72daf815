"""Pipe tables of Markdown files, line by line."""

from __future__ import annotations

import re

RULE = re.compile(r"^\| ?:?--")


def table_lines(text: str, after: str = "|") -> tuple[list[str], list[str]]:
    """Split off the first pipe table whose header begins with ``after``, and what is below it."""
    lines = text.splitlines()
    starts = [
        k
        for k, line in enumerate(lines[:-1])
        if line.startswith(after) and RULE.match(lines[k + 1])
    ]
    if not starts:
        raise ValueError(f"no table begins with {after!r}")
    end = starts[0]
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return lines[starts[0] : end], lines[end:]


def markdown_rows(text: str, after: str = "|") -> list[list[str]]:
    """Return the header and rows of a pipe table, cell by cell."""
    lines, _ = table_lines(text, after)
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    del rows[1]
    return rows


def note_lines(text: str, after: str = "|") -> list[str]:
    """Return the paragraphs below a table, up to the next heading or table."""
    _, below = table_lines(text, after)
    found: list[str] = []
    for line in below:
        if line.startswith(("#", "|")):
            break
        found.append(line)
    return found
