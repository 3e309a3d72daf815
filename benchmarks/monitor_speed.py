"""RateMonitor: rows per second in batches, and microseconds per single row."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from aucuba.threshold import RateMonitor
from reproductions.tables import markdown_table, write_signed

NAME = "monitor_speed"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
LIMIT, N_ROWS, BATCHES, N_SINGLE, REPEATS = 0.05, 1_000_000, (10_000, 100_000), 1_000, 3
N_DAYS, HORIZON = 200, 30


def rows_per_second(y, flagged, day, batch, n_rows, horizon):
    """The fastest of a few runs, in processor time."""
    seconds = []
    for _ in range(REPEATS):
        monitor = RateMonitor(LIMIT, label_horizon=horizon)
        start = time.process_time()
        for first in range(0, n_rows, batch):
            rows, times = slice(first, min(first + batch, n_rows)), {}
            if horizon is not None:
                times = {"event_time": day[rows], "as_of": day[rows][-1]}
            monitor.update(y[rows], flagged[rows], **times)
        seconds.append(time.process_time() - start)
    return n_rows / min(seconds)


def speed_rows():
    rng = np.random.default_rng(0)
    y, day = np.zeros(N_ROWS, dtype=int), np.sort(rng.integers(0, N_DAYS, N_ROWS))
    for kind, rate in (("within the limit", 0.02), ("beyond the limit", 0.1)):
        flagged = rng.random(N_ROWS) < rate
        for horizon in (None, HORIZON):
            given = y, flagged, day
            speeds = [f"{rows_per_second(*given, one, N_ROWS, horizon):,.0f}" for one in BATCHES]
            single = f"{1e6 / rows_per_second(*given, 1, N_SINGLE, horizon):.0f}"
            yield [kind, "none" if horizon is None else f"{horizon} days", *speeds, single]


def main() -> None:
    text = [
        "# Speed of RateMonitor",
        f"One core, the best of {REPEATS} runs in processor time; limit {LIMIT}, labels with their "
        f"rows. Rows per second of {N_ROWS:,} rows by the size of the batch, and microseconds per row "
        f"where `update` is called with one row at a time ({N_SINGLE:,} rows).",
        markdown_table(
            [
                *("rate", "label_horizon"),
                *(f"rows per second, batches of {one:,}" for one in BATCHES),
                "one by one, microseconds",
            ],
            list(speed_rows()),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
