"""Timings that survive a noisy machine, and the tables they go into.

Rivals are timed in turns and the best of several rounds counts, so that a busy minute hurts all of
them alike; a table reports ratios of times from one run.
"""

from __future__ import annotations

import datetime
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def best_of(rivals: Mapping[str, Callable[[], Any]], repeats: int = 7) -> dict[str, float]:
    """Shortest time of each rival in seconds, over rounds in which each runs once.

    One more round before the first warms caches and compiles kernels.
    """
    best = dict.fromkeys(rivals, float("inf"))
    for job in rivals.values():
        job()
    for _ in range(repeats):
        for name, job in rivals.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def machine(packages: Iterable[str] = ("numpy", "scipy", "scikit-learn")) -> str:
    """The kind of machine, the versions and the date: what a reader needs to judge a time."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{os.cpu_count()}-core {_processor()}, {platform.system()}, shared and noisy; Python "
        f"{platform.python_version()}, {versions}; {datetime.date.today().isoformat()}"
    )


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (header, rule, *rows))


def write_result(name: str, text: str) -> Path:
    """Write ``results/<name>.md`` and show it."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    print(text)
    return path


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
