"""RateMonitor: false alarms over very many looks, and rows until a broken rate is seen."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from aucuba.threshold._sequences import CHANGES, advance_detector, log_evidence_above
from benchmarks._promise_rivals_driver import rival_python
from reproductions.tables import markdown_table, write_signed

NAME = "rate_monitor"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
SCRIPT = Path(__file__).parent / "_monitor_rivals.py"
LIMITS = (0.1, 0.01)
N_LOOKS = 100_000
GOOD_ROWS = 100_000
RUN_LENGTH = 1_000_000
LEVEL = np.log(20.0)


def boundary(limit: float, n_rows: int) -> np.ndarray:
    """For every number of rows the fewest losses that make ``broken``.

    The evidence grows with the number of losses, so this decides every look of every stream.
    """
    n = np.arange(1.0, n_rows + 1)
    low = np.floor(limit * n)
    # Eight standard deviations above the limit decide by far.
    high = np.minimum(n, np.ceil(low + 8 * np.sqrt(limit * (1 - limit) * n) + 20))
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        passed = log_evidence_above(n, middle, limit) >= LEVEL
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return np.where(log_evidence_above(n, high, limit) >= LEVEL, high, np.inf)


def first_alarm(losses: np.ndarray, needed: np.ndarray) -> float:
    """Rows until broken, infinite if never."""
    passed = np.cumsum(losses) >= needed[: losses.size]
    return float(np.argmax(passed) + 1) if passed.any() else np.inf


def rates(kind: str, limit: float, n_rows: int) -> np.ndarray:
    """Rates that never exceed the limit."""
    if kind == "at the limit":
        return np.full(n_rows, limit)
    wave = 0.75 + 0.25 * np.sin(2 * np.pi * np.arange(n_rows) / 5_000)
    return limit * wave


def false_alarm_rows(n_streams: int, n_rival: int):
    for limit in LIMITS:
        needed = boundary(limit, N_LOOKS)
        for kind in ("at the limit", "drifting between half and all of it"):
            rate = rates(kind, limit, N_LOOKS)
            alarms = 0
            for seed in range(n_streams):
                losses = np.random.default_rng([seed, 1]).random(N_LOOKS) < rate
                alarms += np.isfinite(first_alarm(losses, needed))
            rival = [
                np.random.default_rng([seed, 1]).random(N_LOOKS) < rate for seed in range(n_rival)
            ]
            theirs = np.isfinite(mapie_alarms(rival, limit)).mean()
            yield [
                kind,
                limit,
                f"{n_streams:,}",
                f"{alarms / n_streams:.2%}",
                n_rival,
                f"{theirs:.1%}",
            ]


def delay_rows(n_streams: int, n_rival: int):
    for limit in LIMITS:
        n_rows = round(300 / limit)
        needed = boundary(limit, n_rows)
        streams = [
            np.random.default_rng([seed, 2]).random(n_rows) < 2 * limit for seed in range(n_streams)
        ]
        ours = [first_alarm(losses, needed) for losses in streams]
        yield ["doubled from the start", limit, n_streams, "broken", *_quantiles(ours), ""]
        theirs = mapie_alarms(streams[:n_rival], limit)
        yield ["", limit, theirs.size, "MAPIE", *_quantiles(theirs), ""]
        streams = [_changed_stream(seed, limit) for seed in range(n_streams // 4)]
        ours = np.array([first_change(losses, limit) for losses in streams]) - GOOD_ROWS
        theirs = mapie_alarms(streams[:n_rival], limit) - GOOD_ROWS
        kind = f"doubled after {GOOD_ROWS:,} rows at the limit"
        for name, delays in (("changed", ours), ("MAPIE", theirs)):
            early = f"{np.mean(delays <= 0):.1%}"
            yield [kind, limit, delays.size, name, *_quantiles(delays[delays > 0]), early]
            kind = ""


def first_change(losses: np.ndarray, limit: float) -> float:
    start = np.full(len(CHANGES), -np.inf)
    _, averages = advance_detector(start, losses.astype(float), limit)
    passed = averages >= np.log(RUN_LENGTH)
    return float(np.argmax(passed) + 1) if passed.any() else np.inf


def _changed_stream(seed, limit):
    rng = np.random.default_rng([seed, 3])
    n_bad = round(1000 / limit)
    rate = np.concatenate([np.full(GOOD_ROWS, limit), np.full(n_bad, 2 * limit)])
    return rng.random(rate.size) < rate


def _quantiles(delays):
    delays = np.asarray(delays, dtype=float)
    shown = np.quantile(delays, [0.5, 0.9], method="higher") if delays.size else [np.inf, np.inf]
    return ["not seen" if np.isinf(one) else f"{one:,.0f}" for one in shown]


def mapie_alarms(streams, limit):
    """Rows until MAPIE's lower bound passes the limit; the rate counts negatives only."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "streams.npz", Path(folder) / "alarms.npy"
        np.savez(asked, streams=np.stack(streams), limit=limit)
        command = [str(rival_python()), "-W", "ignore", str(SCRIPT), str(asked), str(answered)]
        subprocess.run(command, check=True)
        return np.load(answered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=5_000, help="streams for false alarms")
    parser.add_argument("--rival", type=int, default=100, help="streams for MAPIE, at most")
    parser.add_argument("--delays", type=int, default=200, help="streams for delays")
    options = parser.parse_args()
    false_alarms = list(false_alarm_rows(options.streams, options.rival))
    delays = list(delay_rows(options.delays, options.rival))
    text = [
        "# RateMonitor: false alarms and delays",
        f"Confidence 0.95, {N_LOOKS:,} looks per stream, one after every counted row. `broken` may be "
        "false in at most 5 % of the streams. MAPIE is `RiskMonitoring` with tolerance 0 and the same "
        "threshold and level.",
        markdown_table(
            [
                "rate",
                "limit",
                "streams",
                "false `broken`",
                "streams of MAPIE",
                "false alarms of MAPIE",
            ],
            false_alarms,
        ),
        "Counted rows until the alarm, median and 90 % quantile. `changed` has a mean time between "
        f"false alarms of at least {RUN_LENGTH:,} rows; the last column is the fraction of streams "
        "with an alarm before the change, which the other columns leave out.",
        markdown_table(
            ["rate", "limit", "streams", "alarm", "median", "90 %", "too early"], delays
        ),
    ]
    given = f"--streams {options.streams} --rival {options.rival} --delays {options.delays}"
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME} {given}")


if __name__ == "__main__":
    main()
