"""A bar on stderr for fits that take minutes: what is being fitted, and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

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
        Called with every row; its answer, whether to stop, is passed on.
    name : str
        What is being fitted.
    n_steps : int
        Number of rows that will be reported.
    verbose : int
    """
    if not verbose:
        yield monitor
        return
    bar = _Bar(name, n_steps, sys.stderr)

    def show_and_report(row: dict[str, Any]) -> Any:
        bar.advance(row.get("stage", ""))
        return None if monitor is None else monitor(row)

    try:
        yield show_and_report
    finally:
        bar.close()


class _Bar:
    """One line that is written again in a terminal; elsewhere, a line per stage."""

    def __init__(self, name: str, n_steps: int, stream: TextIO) -> None:
        self._name, self._n_steps, self._stream = name, n_steps, stream
        self._in_place = stream.isatty()
        self._started = time.monotonic()
        self._done, self._stage, self._shown = 0, "", ""

    def advance(self, stage: str) -> None:
        self._done = min(self._done + 1, self._n_steps)
        is_news = stage != self._stage or self._done == self._n_steps
        self._stage = stage
        if self._in_place:
            width = len(self._shown)
            self._write(f"\r{self._text().ljust(width)}")
        elif is_news:
            self._write(f"{self._text()}\n")

    def close(self) -> None:
        if self._in_place and self._shown:
            self._write("\n")

    def _text(self) -> str:
        took = time.monotonic() - self._started
        left = took * (self._n_steps - self._done) / self._done
        filled = _WIDTH * self._done // self._n_steps
        bar = "#" * filled + "." * (_WIDTH - filled)
        times = f"{_clock(took)}, about {_clock(left)} left"
        where = f"{self._name}: {self._stage}" if self._stage else self._name
        self._shown = f"{where} [{bar}] {self._done} of {self._n_steps} fits, {times}"
        return self._shown

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
