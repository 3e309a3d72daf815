"""Tables of experiments as markdown."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path


def result_parser(description: str) -> argparse.ArgumentParser:
    """Arguments of an experiment that writes one table, described by its module's first line."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--output", metavar="FILE", help="Markdown file; else the screen")
    return parser


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table; the first column is text, the others are right-aligned."""
    lines = [
        "| " + " | ".join(header) + " |",
        "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def write_result(text: str, experiment: str, path: str | None) -> None:
    """To a file, or to the standard output, with a last line that says how it was made."""
    made = (
        f"Made by `python -m reproductions.experiments.{experiment}` on a machine with "
        f"{os.cpu_count()} cores "
        f"({platform.system()}, {platform.machine()}), {datetime.date.today()}."
    )
    result = f"{text}\n\n{made}\n"
    if path is None:
        sys.stdout.write(result)
    else:
        Path(path).write_text(result)
