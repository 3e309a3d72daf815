"""Dates and times of a column as numbers, for any year."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray

# Parts of a date, and how many values training must have seen before a model may use the part: a full
# cycle, since a model knows nothing about months or hours that it has not seen.
CALENDAR = {"year": 2, "month": 12, "weekday": 7, "hour": 24}
# ISO 8601 alone: in any other notation day and month cannot be told apart.
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))? ?(Z|[+-]\d\d:?\d\d)?")
# Units of NumPy that are coarser than seconds, whose range covers every year.
_COARSE = ("Y", "M", "W", "D", "h", "m")


def is_date(value: Any) -> bool:
    """Return whether a single value is a date, or text that spells one."""
    if isinstance(value, str):
        return _utc(value) is not None
    return isinstance(value, datetime.date | np.datetime64)


def as_times(column: Any, missing: BoolArray) -> AnyArray:
    """Convert a column of dates, or of text that spells them, to UTC moments.

    Parameters
    ----------
    column : Series or ndarray
    missing : ndarray of bool
        Where the column has no value.

    Returns
    -------
    ndarray of datetime64
        ``NaT`` where a value is missing.

    Raises
    ------
    ValueError
        For a value that is not a date.
    """
    if getattr(column.dtype, "tz", None) is not None:
        return np.asarray(column, dtype="datetime64[us]")
    values = np.asarray(column)
    if values.dtype.kind == "M":
        coarse = np.datetime_data(values.dtype)[0] in _COARSE
        return values.astype("datetime64[s]") if coarse else values
    texts = list(map(str, values.tolist()))
    # Columns repeat their dates.
    moments = {text: _utc(text) for text in dict.fromkeys(texts)}
    for text, gap in zip(texts, missing, strict=True) if None in moments.values() else ():
        if moments[text] is None and not gap:
            raise ValueError(
                f"{text[:40]!r} is not a date; write dates as 2024-12-31 or 2024-12-31 23:59:00."
            )
    distinct = np.array([one or "NaT" for one in moments.values()], dtype="datetime64[us]")
    place = {text: number for number, text in enumerate(moments)}
    times = distinct[np.array([place[text] for text in texts], dtype=np.intp)]
    times[missing] = np.datetime64("NaT")
    return times


def as_days(times: AnyArray) -> FloatArray:
    """Count the days since 1970, with fractions; nan for ``NaT``."""
    since = times - np.zeros(1, times.dtype)
    return np.asarray(np.where(np.isnat(times), np.nan, since / np.timedelta64(1, "D")))


def calendar_part(times: AnyArray, part: str) -> FloatArray:
    """Compute the year, the month (1 to 12), the weekday (Monday is 0) or the hour of every moment."""
    if part == "year":
        number = times.astype("datetime64[Y]").astype(np.int64) + 1970
    elif part == "month":
        number = times.astype("datetime64[M]").astype(np.int64) % 12 + 1
    elif part == "weekday":
        # 1 January 1970 was a Thursday.
        number = (times.astype("datetime64[D]").astype(np.int64) + 3) % 7
    else:
        number = times.astype("datetime64[h]").astype(np.int64) % 24
    return np.asarray(np.where(np.isnat(times), np.nan, number))


def _utc(text: str) -> str | None:
    """Rewrite an ISO date in UTC without its zone; None for any other text."""
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    day, time, zone = found.groups()
    plain = f"{day}T{time}" if time else day
    try:
        moment = np.datetime64(plain, "us")
        if zone and zone != "Z":
            sign = -1 if zone[0] == "+" else 1
            minutes = int(zone[1:3]) * 60 + int(zone[-2:])
            moment = moment + sign * np.timedelta64(minutes, "m")
    except ValueError:
        return None
    return str(moment)
