"""Streams row by row: ``python -m benchmarks.row_by_row [--before SRC] [--only PART]``.

Seconds per 1,000 updates of one row each, which is milliseconds per row. The peer of `RocSketch` is
``kll_doubles_sketch`` of Apache DataSketches (k = 200, one sketch per class), whose quantiles are
approximate; that of `RateMonitor` is two counters in plain Python,
the least that a count of false alarms takes. ``--before`` names the ``src`` folder of earlier code,
which is measured in the same run; it had no ``label_horizon``. Processor seconds of one thread, medians
of calls in turn. Writes ``benchmarks/results/row_by_row.md``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks._before_after import Cell, Job, run
from reproductions.tables import markdown_table

# The commit that "before" was measured at.
BEFORE = "a195919"
N_ROWS, N_STATE, LIMIT = 1_000, 1_000_000, 0.05
# The largest state in bytes and the most looks that a history may have.
MOST_BYTES, MOST_LOOKS = 100_000, 2_000


def scored(n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.02).astype(int)
    return y, rng.normal(size=n_rows) + y


def sketch(form: str) -> Cell:
    def made() -> tuple[Job, Job]:
        from datasketches import kll_doubles_sketch

        from aucuba.metrics import RocSketch

        y, score = scored(N_ROWS)
        rows = [(y[i : i + 1], score[i : i + 1]) for i in range(N_ROWS)]
        if form == "lists":
            rows = [(one.tolist(), other.tolist()) for one, other in rows]
        plain = [(int(one[0]), float(other[0])) for one, other in rows]

        def ours() -> None:
            found = RocSketch((0.0, 0.05))
            for one, other in rows:
                found.update(one, other)

        def peer() -> None:
            classes = kll_doubles_sketch(200), kll_doubles_sketch(200)
            for label, value in plain:
                classes[label].update(value)

        return ours, peer

    return made


def monitor(rate: float, horizon: int | None) -> Cell:
    def made() -> tuple[Job, Job]:
        from aucuba.threshold import RateMonitor

        rng = np.random.default_rng(0)
        flagged = rng.random(N_ROWS) < rate
        rows = [{"y_true": np.zeros(1, int), "y_flag": flagged[[i]]} for i in range(N_ROWS)]
        params = {} if horizon is None else {"label_horizon": horizon}
        if horizon is not None:
            days = np.sort(rng.integers(0, 200, N_ROWS)).astype(float)
            rows = [
                {**own, "event_time": days[[i]], "as_of": days[i]} for i, own in enumerate(rows)
            ]
        labels = [(0, bool(one)) for one in flagged]

        def ours() -> None:
            found = RateMonitor(LIMIT, **params)
            for own in rows:
                found.update(**own)

        def peer() -> int:
            n = n_against = 0
            for label, flag in labels:
                n += label == 0
                n_against += label == 0 and flag
            return n_against * 20 > n

        return ours, peer

    return made


CELLS: dict[str, Cell] = {
    "`RocSketch.update`, lists of one": sketch("lists"),
    "`RocSketch.update`, arrays of one": sketch("arrays"),
    "`RateMonitor.update`, rate within the limit": monitor(0.02, None),
    "`RateMonitor.update`, rate beyond the limit": monitor(0.1, None),
    "`RateMonitor.update`, label_horizon of 30 days": monitor(0.02, 30),
}


def state_rows() -> list[list[str]]:
    """What a monitor holds after a million updates: looks, all changes of status among them."""
    from aucuba.threshold import RateMonitor

    flagged = np.random.default_rng(1).random(N_STATE) < LIMIT
    one, label, changes, last = RateMonitor(LIMIT), np.zeros(1, int), 0, None
    for row in range(N_STATE):
        state = one.update(label, flagged[row : row + 1])._history.looks[-1]
        told = state.status, state.changed
        changes, last = changes + (told != last), told
    looks, size = one._history.looks, len(one.to_json())
    kept = sum(look.is_kept for look in looks)
    assert len(looks) <= MOST_LOOKS
    assert size < MOST_BYTES
    return [["at the limit", str(len(looks)), str(changes), str(kept), f"{size / 1000:.1f}"]]


def answer_rows() -> list[list[str]]:
    """Microseconds of the first and of the second time that a sketch is asked."""
    from aucuba.metrics import RocSketch

    one = RocSketch((0.0, 0.05)).update(*scored(100_000))
    found = []
    for name in ("partial_auc", "tpr_at_fpr", "threshold", "interval"):
        ask = getattr(one, name)
        times = [time.perf_counter()]
        for _ in range(2):
            ask()
            times.append(time.perf_counter())
        found.append([f"`{name}`", *(f"{1e6 * t:,.0f}" for t in np.diff(times))])
    return found


def states(_: Any) -> str:
    looks = ["rate", "looks kept", "changes of status", "of them kept", "kB as JSON"]
    return "\n\n".join(
        [
            "## A monitor after a million rows, one by one",
            f"At most {MOST_LOOKS:,} looks and {MOST_BYTES // 1000} kB, which the script asserts.",
            markdown_table(looks, state_rows()),
            "## A sketch of 100,000 rows, asked twice",
            "Microseconds. The curve is computed with the first answer that needs it.",
            markdown_table(["question", "first time", "again"], answer_rows()),
        ]
    )


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`")
    text = text.rsplit(" Writes", 1)[0] + f' "Before" is commit {BEFORE}.'
    run("row_by_row", "Row by row", text, CELLS, sys.argv[1:] if argv is None else argv, states)


if __name__ == "__main__":
    main()
