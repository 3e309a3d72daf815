"""Times and durations as numbers of days."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from aucuba._base._dates import as_days, as_times
from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_positive_number, identifiers

_DAYS = re.compile(r"\s*([0-9.]+)\s*days?\s*")
# Days from the year 1 to the year 10000. Larger numbers are dates without dashes, or seconds.
_MOST_DAYS = 3_652_059


def shown_day(day: float) -> str:
    """Format a number of days since 1970 as a date."""
    return str(np.datetime64(int(np.floor(day)), "D"))


def is_day(value: Any) -> bool:
    """Return whether a value is a plain number of days, which needs no column to be checked."""
    return isinstance(value, float) and abs(value) <= _MOST_DAYS


def event_days(values: Any, name: str, n_rows: int) -> tuple[FloatArray, bool]:
    """Return times as days, and whether they were dates; numbers are taken as days."""
    column = identifiers(values, name, n_rows)
    if column.dtype.kind in "iuf":
        days = column.astype(np.float64)
        if n_rows and (most := np.abs(days).max()) > _MOST_DAYS:
            raise ValueError(
                f"{name} has {most:.10g}, but numbers count days; give dates (as text: 2024-12-31), or "
                "divide seconds by 86,400."
            )
        return days, False
    return as_days(as_times(column, np.zeros(n_rows, dtype=bool))), True


def days_until(values: Any, name: str, n_rows: int, day: float, dated: bool) -> FloatArray:
    """Return times as days; refuse times after the present ``day``."""
    found, are_dates = event_days(values, name, n_rows)
    if n_rows and are_dates != dated:
        raise ValueError(f"{name} and as_of must both be dates, or both numbers of days.")
    # A date without an hour covers its whole day.
    late = found >= np.floor(day) + 1
    if late.any():
        raise ValueError(
            f"{name} lies after as_of in {int(late.sum())} rows; correct them, or give a later as_of."
        )
    return found


def length_in_days(value: Any, name: str, least: float | None = None) -> float | None:
    """Return a duration in days; a number is returned unchanged."""
    if value is None:
        return None
    if isinstance(value, datetime.timedelta | np.timedelta64):
        value = float(np.timedelta64(value) / np.timedelta64(1, "D"))
    if least is not None and value == least and not isinstance(value, bool):
        return least
    try:
        return check_positive_number(value, name)
    except ValueError:
        start = "above 0" if least is None else f"of at least {least:g}"
        raise ValueError(
            f"{name} must be a number {start}, or a timedelta, got {value!r}."
        ) from None


def run_length(value: Any) -> tuple[float, bool]:
    """Return an average run length, and whether it counts days."""
    in_days = isinstance(value, datetime.timedelta | np.timedelta64)
    if isinstance(value, str):
        found = _DAYS.fullmatch(value)
        if found is None:
            raise ValueError(f"average_run_length must be a number or '730 days', got {value!r}.")
        value, in_days = float(found[1]), True
    number = length_in_days(value, "average_run_length")
    if number is None:
        raise ValueError("average_run_length must be a number or '730 days', got None.")
    return number, in_days
