"""Result tables in Markdown, each signed with its command, machine and date.

Used by ``benchmarks`` and by the experiments: the signature is what a reader needs to judge a number
and to make it again, and a test reads it back from every committed table.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

_SIGNATURE = re.compile(
    r"^Written by `python -m (?P<package>benchmarks|reproductions) (?P<name>\w+)(?P<options>[^`]*)`; "
    r"(?P<machine>.+); (?P<date>\d{4}-\d{2}-\d{2})\.$",
    re.MULTILINE,
)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format a table whose first column is text and whose others are numbers."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (header, rule, *rows))


def signature(command: str, packages: Iterable[str] = ("numpy", "scipy", "scikit-learn")) -> str:
    """Name the command, the machine, the versions and the date in one line."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"Written by `python -m {command}`; {os.cpu_count()}-core {_processor()}, "
        f"{platform.system()}, shared and noisy; Python {platform.python_version()}, {versions}; "
        f"{datetime.date.today().isoformat()}."
    )


def read_signature(text: str) -> dict[str, str] | None:
    """Find the package, name, options, machine and date of a signed table, or None."""
    found = _SIGNATURE.search(text)
    return found.groupdict() if found else None


def write_signed(path: Path, text: str, command: str, packages: Iterable[str] = ()) -> None:
    """Write a Markdown file that ends with its signature."""
    shown = ("numpy", "scipy", "scikit-learn", *packages)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text.rstrip()}\n\n{signature(command, shown)}\n", encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
