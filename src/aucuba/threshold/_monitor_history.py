"""History of a monitor: a bounded list of looks, and its picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aucuba._base._drawing import axes_for
from aucuba.threshold._calendar import shown_day
from aucuba.threshold._promise import Promise
from aucuba.threshold._sequences import lower_limit, upper_limit

STATUSES = ("unsure", "ok", "broken", "unknown")
# Daily looks over two years; a state with this many is below 100 kB.
_MOST = 800


class Look(NamedTuple):
    """One look at a monitor, as it is stored.

    ``pairs`` are the counts behind "ok" and behind "broken" if they differ from the labelled rows;
    ``is_kept`` marks a look that said something new.
    """

    as_of: float | None
    n_counted: float
    n_against: float
    pairs: tuple[float, ...] | None
    run: int
    log_evidence: float
    status: int
    changed: bool
    n_waiting: int
    n_late: int
    event: str
    is_kept: bool


class History:
    """Looks; those between changes of status are thinned out as their number grows."""

    def __init__(self, looks: list[Look] | None = None) -> None:
        self.looks = [] if looks is None else looks

    @classmethod
    def restored(cls, looks: list[Any]) -> History:
        """Restore looks from JSON's types."""
        found = [Look(*one) for one in looks]
        for one in found:
            pairs, day = one.pairs or (), 0.0 if one.as_of is None else one.as_of
            numbers = (day, *one[1:3], *pairs, *one[4:7], *one[8:10])
            if (
                not all(isinstance(number, int | float) for number in numbers)
                or len(pairs) not in (0, 4)
                or not 0 <= one.n_against <= one.n_counted + 1e-6
                or not 0 <= one.status < len(STATUSES)
            ):
                raise ValueError(f"an impossible look {list(one)}")
        return cls([one._replace(pairs=one.pairs and tuple(one.pairs)) for one in found])

    def add(self, look: Look) -> None:
        """Append a look; if there are too many, drop every other one that said nothing new."""
        last = self.looks[-1] if self.looks else None
        same = last is not None and (
            (look.status, look.changed, look.run) == (last.status, last.changed, last.run)
        )
        self.looks.append(look if same and not look.event else look._replace(is_kept=True))
        if len(self.looks) > _MOST:
            newest = self.looks.pop()
            kept = [one for place, one in enumerate(self.looks) if one.is_kept or place % 2]
            # Only a status that never settles has so many changes; keep the latest.
            self.looks = [*kept[-(_MOST - 1) :], newest]

    def rows(
        self, promise: Promise, broken_error: float, ok_error: Callable[[int], float], dated: bool
    ) -> list[dict[str, Any]]:
        """Return one dictionary per look, with the ends of the confidence sequences."""
        if not self.looks:
            return []
        pairs = np.array([one.pairs or (one.n_counted, one.n_against) * 2 for one in self.looks])
        errors = np.array([ok_error(one.run) for one in self.looks])
        ends = promise.limit(
            np.stack(
                [
                    lower_limit(pairs[:, 2], pairs[:, 3], broken_error),
                    upper_limit(pairs[:, 0], pairs[:, 1], errors),
                ]
            )
        )
        return [
            {
                "n_counted": one.n_counted,
                "n_against": one.n_against,
                "observed": promise.limit(one.n_against / one.n_counted) if one.n_counted else None,
                "lower": float(low),
                "upper": float(high),
                "log_evidence": one.log_evidence,
                "status": STATUSES[one.status],
                "changed": one.changed,
                "as_of": shown_day(one.as_of) if dated and one.as_of is not None else one.as_of,
                "n_waiting": one.n_waiting,
                "n_late": one.n_late,
                "event": one.event,
            }
            for one, low, high in zip(self.looks, *np.sort(ends, axis=0), strict=True)
        ]


def draw_history(
    rows: list[dict[str, Any]], ax: Any, rate: str, limit: float, confidence: float
) -> Any:
    """Draw the observed rate with its confidence sequences and the limit, and shade waiting rows."""
    ax = axes_for(ax, layout="constrained")
    rows = [row for row in rows if row["n_counted"]]
    by_date = bool(rows) and rows[-1]["as_of"] is not None
    x = np.array([row["as_of" if by_date else "n_counted"] for row in rows])
    if x.dtype.kind == "U":
        x = x.astype("datetime64[D]")
    observed, lower, upper = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("observed", "lower", "upper")
    )
    ax.plot(x, observed, color="C0", label=f"observed {rate}")
    label = f"confidence sequences, {confidence:.0%} each"
    ax.fill_between(x, lower, upper, color="C0", alpha=0.2, linewidth=0, label=label)
    ax.axhline(limit, color="black", linestyle="--", label=f"limit {limit:g}")
    for name, color, happened in (
        ("broken", "C3", [row["status"] == "broken" for row in rows]),
        ("changed", "C1", [row["changed"] for row in rows]),
    ):
        if any(happened):
            first = x[int(np.argmax(happened))]
            when = f"on {first}" if by_date else f"after {first:,.0f} counted"
            ax.axvline(first, color=color, linestyle=":", label=f"{name} {when}")
    ax.set(xlabel="date" if by_date else "counted rows", ylabel=rate)
    if by_date:
        waiting = ax.twinx()
        n_waiting = [row["n_waiting"] for row in rows]
        waiting.fill_between(x, n_waiting, color="0.5", alpha=0.2, linewidth=0)
        waiting.set(ylabel="rows that wait for a label (shaded)", ylim=(0, None))
    else:
        ax.set(xlim=(0, None))
    ax.legend()
    return ax
