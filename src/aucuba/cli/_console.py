"""What the program prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

# Anything shorter needs no progress bar.
_PATIENCE_S = 1.0


def complain(message: str, code: int, *, as_json: bool) -> int:
    """One line on stderr, and with JSON one object on stdout; returns the exit code."""
    message = " ".join(message.split())
    sys.stderr.write(f"error: {message}\n")
    if as_json:
        emit({"error": message}, as_json=True)
    return code


def note(message: str) -> None:
    """A warning, one line on stderr."""
    sys.stderr.write(f"note: {' '.join(message.split())}\n")


def emit(result: Mapping[str, Any], *shown: Any, as_json: bool) -> None:
    """The result as one JSON object, or the given lines and tables for a person."""
    if as_json:
        sys.stdout.write(json.dumps(_plain(result), ensure_ascii=False) + "\n")
        return
    console = Console(file=sys.stdout, highlight=False)
    # A pipe has no width; a table cut at 80 columns would lose its numbers.
    console.width = max(console.width, 120)
    for item in shown:
        console.print(item, markup=False) if isinstance(item, str) else console.print(item)


def grid(*header: str) -> Table:
    """A table with a name column and right-aligned numbers; without names, two columns of text."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=bool(header))
    for index, name in enumerate(header):
        table.add_column(name, justify="left" if index == 0 else "right", overflow="fold")
    return table


class Bar:
    """One progress bar; `advance` may be called from a callback of scikit-learn."""

    def __init__(self, progress: Progress, description: str) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=None)

    def total(self, amount: float | None) -> None:
        self._progress.update(self._task, total=amount)

    def advance(self, amount: float = 1.0) -> None:
        self._progress.advance(self._task, amount)

    def reach(self, amount: float) -> None:
        self._progress.update(self._task, completed=amount)


@contextmanager
def progress_bar(description: str) -> Iterator[Bar]:
    """A bar on stderr that shows up when the work takes over a second and leaves no trace."""
    console = Console(file=sys.stderr)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    bar = Bar(progress, description)
    if not console.is_terminal:
        yield bar
        return
    timer = threading.Timer(_PATIENCE_S, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()


class FitProgress:
    """Reports the iterations of a fit to a bar, through ``sklearn.callback``."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def setup(self, estimator: Any, context: Any) -> None:
        self._bar.total(context.max_subtasks)

    def on_fit_task_begin(self, estimator: Any, context: Any, **rest: Any) -> None:
        """Nothing to show before an iteration ends."""

    def on_fit_task_end(self, estimator: Any, context: Any, **rest: Any) -> bool:
        if context.parent is not None:
            # A fit may find out on the way how many steps it takes.
            self._bar.total(context.parent.max_subtasks)
            self._bar.advance()
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """The bar is closed by whoever opened it."""


def _plain(value: Any) -> Any:
    """JSON's types; what is not a number becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
