"""A model of two months on the ten months after: ``python -m benchmarks date_drift``.

Transactions of one year with a date and four numbers. In training (January and February) the share of
frauds rises from 4 to 6 %, so that a model learns to trust the date; from March on it is 5 % and the
frauds look as before. In the second half of the table one of the columns, a price level, also rises by
0.3 of its spread every month, without any meaning for fraud. Every model is a `FixedFPRClassifier` with
``max_fpr=0.01`` and confidence 0.95 around a linear model for false positive rates up to 0.01, with its
threshold set on half of the training rows: drawn at random, or the latest (``--time``).

Three preparations of the date: left out; extrapolated, as numbers for the elapsed time and for the
month, weekday and hour where they vary in training; and that of the library, which clips the elapsed
time and takes a part of the calendar only with a full cycle. "Outside" is the share of the rows of
December that ``aucuba predict`` counts as far outside the ranges of training. Rates are means over
{draws} draws of the table, with the standard deviation between draws in brackets.

A promise is about rows like those held out. A random half comes from both months, and the share of
frauds rises through them, so that the model scores late rows higher. Later rows count as the last day
of training: they score a little higher than the half held out, and 1.2 % of their negatives are
flagged in place of at most 1 %, although no column drifts. Give ``time=`` (``--time``): the latest half
is nearer to what comes, and the mean of the ten months stays below the promise. Neither half keeps it
against a column that rises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aucuba import FixedFPRClassifier, PartialAUCClassifier
from aucuba._base._dates import CALENDAR, as_days, calendar_part
from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._table_columns import Columns
from reproductions.tables import markdown_table, write_signed

TABLE = Path(__file__).parent / "results" / "date_drift.md"
DRAWS = 20
PER_MONTH = 6000
LIMIT = 0.01


def transactions(seed: int, drifting: bool) -> pd.DataFrame:
    """Draw a year of transactions, in no order."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(12), PER_MONTH)
    start = np.datetime64("2024-01") + month
    seconds = (start + 1).astype("M8[s]") - start.astype("M8[s]")
    when = start.astype("M8[s]") + (rng.random(month.size) * seconds.astype(int)).astype("m8[s]")
    since = as_days(when) - as_days(np.array(["2024-01-01"], "M8[s]"))
    share = np.where(month < 2, 0.04 + 0.02 * since / 60, 0.05)
    fraud = rng.random(month.size) < share
    X = rng.normal(size=(month.size, 3)) + fraud[:, None] * [1.2, 0.8, 0.4]
    level = rng.random(month.size) + 0.3 * month * drifting
    frame = pd.DataFrame(X, columns=["amount", "speed", "distance"]).assign(level=level, when=when)
    return frame.assign(month=month, fraud=fraud)


def dates_left_out(train: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="when")


def dates_extrapolated(train: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers for the elapsed time and every part of the calendar that varies in training."""
    known, times = train["when"].to_numpy(), frame["when"].to_numpy()
    parts = [part for part in CALENDAR if np.unique(calendar_part(known, part)).size > 1]
    columns: dict[str, Any] = {part: calendar_part(times, part) for part in parts}
    return frame.drop(columns="when").assign(elapsed=as_days(times), **columns)


def dates_of_the_library(train: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    return frame


PREPARATIONS = {
    "left out": dates_left_out,
    "extrapolated": dates_extrapolated,
    "of the library": dates_of_the_library,
}


def rates(seed: int, drifting: bool, by_time: bool) -> dict[str, list[float]]:
    """Compute the true false positive rate of every later month, and the share of rows far outside."""
    frame = transactions(seed, drifting)
    train, later = frame[frame["month"] < 2], frame[frame["month"] >= 2]
    y = train["fraud"].to_numpy()
    found = {}
    for name, prepare in PREPARATIONS.items():
        X, X_later = (
            prepare(train, part.drop(columns=["month", "fraud"])) for part in (train, later)
        )
        columns = Columns.from_table(X)
        model = columns.for_linear(PartialAUCClassifier((0.0, LIMIT)))
        promised = FixedFPRClassifier(model, max_fpr=LIMIT, random_state=0)
        promised.fit(X, y, time=train["when"].to_numpy() if by_time else None)
        flagged = promised.predict(X_later)
        honest = ~later["fraud"].to_numpy()
        monthly = pd.Series(flagged[honest]).groupby(later["month"].to_numpy()[honest]).mean()
        plain = PlainColumns(columns.categorical, columns.dates).fit(X)
        december = X_later[(later["month"] == 11).to_numpy()]
        outside = np.any(list(plain.far_outside(december).values()), axis=0).mean()
        found[name] = [*monthly.to_numpy(), outside]
    return found


def main() -> None:
    rows = []
    for drifting in (False, True):
        for by_time in (False, True):
            draws = [rates(seed, drifting, by_time) for seed in range(DRAWS)]
            for name in PREPARATIONS:
                values = np.array([draw[name] for draw in draws])
                months = values[:, :-1]
                shown = [months[:, 0], months[:, 3], months[:, 9], months.mean(axis=1)]
                rows.append(
                    [
                        "one rises" if drifting else "stay",
                        "latest half" if by_time else "random half",
                        name,
                        f"{LIMIT:.0%}",
                        *(f"{100 * one.mean():.2f} ({100 * one.std():.2f})" for one in shown),
                        f"{values[:, -1].mean():.0%}",
                    ]
                )
                print(rows[-1], flush=True)
    header = ["columns", "threshold set on", "dates", "promised"]
    header += ["March, %", "June, %", "December, %", "mean of ten, %", "outside"]
    text = (__doc__ or "").partition("\n\n")[2].format(draws=DRAWS).replace("``", "`")
    title = "# Two months of training, ten months of use"
    body = f"{title}\n\n{text}\n{markdown_table(header, rows)}"
    write_signed(TABLE, body, "benchmarks date_drift", ("pandas",))


if __name__ == "__main__":
    main()
