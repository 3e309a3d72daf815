"""A bar on stderr for work that takes minutes: what is being done, and the time left."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The command line shows its help without importing NumPy.
    from aucuba._base._typing import Monitor

_WIDTH = 24


@contextmanager
def progress_bar(
    monitor: Monitor | None, name: str, n_steps: int, verbose: int
) -> Iterator[Monitor | None]:
    """Yield a monitor that also moves a bar, if ``verbose`` is above 0; else the one given.

    Parameters
    ----------
    monitor : callable or None
        Called with every row; it returns whether to stop, which is passed on.
    name : str
        What is being fitted.
    n_steps : int
        Number of rows that will be reported.
    verbose : int
    """
    if not verbose:
        yield monitor
        return
    bar = ProgressBar(name, n_steps, unit="fits")

    def show_and_report(row: dict[str, Any]) -> Any:
        bar.advance(row.get("stage", ""))
        return None if monitor is None else monitor(row)

    try:
        yield show_and_report
    finally:
        bar.close()


class ProgressBar:
    """One line on stderr that is rewritten in a terminal; elsewhere, a line per stage.

    Parameters
    ----------
    name : str
        What is being done.
    total : float, default=None
        Where ``done`` ends; None while that is unknown.
    unit : str, default=None
        What is counted; without it, a percentage is shown.
    patience : float, default=None
        Show the bar only in terminals, after this many seconds, and erase it at the end.
    """

    def __init__(
        self,
        name: str,
        total: float | None = None,
        *,
        unit: str | None = None,
        patience: float | None = None,
    ) -> None:
        self.name, self.total, self.done = name, total, 0.0
        self._unit, self._stream, self._stage, self._shown = unit, sys.stderr, "", ""
        self._in_terminal, self._is_transient = self._stream.isatty(), patience is not None
        self._started, self._lock = time.monotonic(), threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_visible = patience is None
        if patience is not None and self._in_terminal:
            self._timer = threading.Timer(patience, self._appear)
            self._timer.daemon = True
            self._timer.start()

    def advance(self, stage: str = "") -> None:
        """Take one step."""
        self.reach(self.done + 1, stage)

    def reach(self, done: float, stage: str = "") -> None:
        """Move the bar to ``done`` out of ``total``."""
        with self._lock:
            self.done = done if self.total is None else min(done, self.total)
            is_news = stage != self._stage or self.done == self.total
            self._stage = stage
            if self._is_visible and (self._in_terminal or is_news):
                self._write()

    def close(self) -> None:
        """End the line, or erase it if it was to appear late."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._in_terminal and self._shown:
            self._stream.write(f"\r{' ' * len(self._shown)}\r" if self._is_transient else "\n")
            self._stream.flush()

    def _appear(self) -> None:
        with self._lock:
            self._is_visible = True
            self._write()

    def _write(self) -> None:
        text = self._text()
        if self._in_terminal:
            text = text[: shutil.get_terminal_size().columns - 1]
            self._stream.write(f"\r{text.ljust(len(self._shown))}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
        self._shown = text

    def _text(self) -> str:
        took = time.monotonic() - self._started
        where = f"{self.name}: {self._stage}" if self._stage else self.name
        if not self.total or not self.done:
            return f"{where}, {_clock(took)}"
        left = took * (self.total - self.done) / self.done
        filled = int(_WIDTH * self.done / self.total)
        bar = "#" * filled + "." * (_WIDTH - filled)
        counted = f"{self.done:g} of {self.total:g} {self._unit}"
        part = f"{self.done / self.total:.0%}" if self._unit is None else counted
        return f"{where} [{bar}] {part}, {_clock(took)}, about {_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
