"""RateMonitor: rows per second in batches, and microseconds per single row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from aucuba.threshold import RateMonitor
from reproductions.tables import markdown_table, write_signed

NAME = "monitor_speed"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
LIMIT, N_ROWS, BATCHES, N_SINGLE, REPEATS = 0.05, 1_000_000, (10_000, 100_000), 1_000, 3
N_DAYS, HORIZON = 200, 30
PER_GROUP, UNLABELLED = 5, 0.3


@dataclass(frozen=True)
class Case:
    """What a stream brings; ``relabels`` times `update_labels` alone, on rows that all wait."""

    words: str
    rate: float = 0.02
    horizon: int | None = HORIZON
    text_dates: bool = False
    per_group: int = 0
    unlabelled: float = 0.0
    relabels: bool = False


CASES = (
    Case("labels with their rows", horizon=None),
    Case("labels with their rows, rate beyond the limit", 0.1, None),
    Case("labels with their rows"),
    Case("labels with their rows, rate beyond the limit", 0.1),
    Case(f"labels of {UNLABELLED:.0%} missing (NaN)", unlabelled=UNLABELLED),
    Case("dates as text", text_dates=True),
    Case(f"groups of {PER_GROUP} rows", per_group=PER_GROUP),
    Case("a group per row, dates as text, labels missing", 0.02, HORIZON, True, 1, UNLABELLED),
    Case("`update_labels`", horizon=2 * N_DAYS, relabels=True),
    Case(f"`update_labels`, groups of {PER_GROUP}", 0.02, 2 * N_DAYS, False, PER_GROUP, 0.0, True),
)


@lru_cache(maxsize=1)
def columns(case: Case):
    """The columns of all rows, in the order of their days."""
    rng = np.random.default_rng(0)
    found = {
        "y_true": np.zeros(N_ROWS, dtype=int),
        "day": np.sort(rng.integers(0, N_DAYS, N_ROWS)).astype(float),
        "y_flag": rng.random(N_ROWS) < case.rate,
    }
    if case.unlabelled:
        found["y_true"] = np.where(rng.random(N_ROWS) < case.unlabelled, np.nan, 0.0)
    if case.text_dates:
        dates = (np.datetime64("2026-01-01") + np.arange(N_DAYS)).astype(str)
        found["day"] = dates[found["day"].astype(int)]
    if case.per_group:
        # Named by their day too, as a group lies within one.
        number = np.arange(N_ROWS) // case.per_group
        days = found["day"]
        found["groups"] = np.char.add(np.char.add(number.astype(str), "/"), days.astype(str))
    return found


def pieces(case: Case, batch: int, n_rows: int):
    """The arguments of every call, made before the clock starts."""
    every = columns(case)
    for first in range(0, n_rows, batch):
        own = {name: column[first : min(first + batch, n_rows)] for name, column in every.items()}
        day = own.pop("day")
        if case.horizon is not None:
            own |= {"event_time": day, "as_of": day[-1]}
        yield own


def rows_per_second(case: Case, batch: int, n_rows: int):
    """The fastest of a few runs, in processor time."""
    seconds, calls = [], list(pieces(case, batch, n_rows))
    for _ in range(REPEATS):
        monitor = RateMonitor(LIMIT, label_horizon=case.horizon)
        call, given = monitor.update, calls
        if case.relabels:
            for own in pieces(case, N_ROWS // 10, N_ROWS):
                monitor.update(**own | {"y_true": np.full(own["y_flag"].size, np.nan)})
            late = {"as_of": float(N_DAYS)}
            given = [
                own | late | {"label_time": np.full(own["y_flag"].size, float(N_DAYS))}
                for own in calls
            ]
            call = monitor.update_labels
        start = time.process_time()
        for own in given:
            call(**own)
        seconds.append(time.process_time() - start)
    return n_rows / min(seconds)


def speed_rows():
    for case in CASES:
        speeds = [f"{rows_per_second(case, one, N_ROWS):,.0f}" for one in BATCHES]
        single = f"{1e6 / rows_per_second(case, 1, N_SINGLE):.0f}"
        horizon = "none" if case.horizon is None else f"{case.horizon} days"
        row = [case.words, horizon, *speeds, single]
        print(row, flush=True)
        yield row


def main() -> None:
    text = [
        "# Speed of RateMonitor",
        f"One core, the best of {REPEATS} runs in processor time; limit {LIMIT}, rows of {N_DAYS} "
        f"days, flagged at a rate of 0.02, or 0.1 where it is beyond the limit. Rows per second of "
        f"{N_ROWS:,} rows by the size of the batch, and microseconds per row where `update` is called "
        f"with one row at a time ({N_SINGLE:,} rows). `update_labels` adds the labels of rows that all "
        "wait, of every day.",
        markdown_table(
            [
                *("stream", "label_horizon"),
                *(f"rows per second, batches of {one:,}" for one in BATCHES),
                "one by one, microseconds",
            ],
            list(speed_rows()),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
