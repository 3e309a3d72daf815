"""What the highest rows hold: gains and lift by fraction, and the value of the positives found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._arrays import on_host
from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_fraction, check_positive_number, row_weights
from aucuba._roc._curve import roc_curve
from aucuba._roc._points import n_ranked
from aucuba._rows._sample import RankingSample


@dataclass(frozen=True)
class Gain:
    """The highest rows up to a fraction of all: what they hold, alone and relative to all rows."""

    fraction: float
    threshold: float
    n_rows: float
    n_positives: float
    gain: float
    lift: float
    precision: float
    value: float | None = None


class GainsTable(TabularResult, tuple[Gain, ...]):
    """Gains by fraction, one entry per fraction; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself. Each entry has
    ``fraction`` of the rows, ``threshold`` (the lowest score among them), ``n_rows``, ``n_positives``,
    ``gain`` (the part of all positives), ``lift`` (gain over fraction), ``precision``, and with amounts
    ``value`` (the part of the positives' total amount). All are cumulative from the top.
    """

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per fraction."""
        names = {"n_rows": "rows", "n_positives": "positives"}
        return [
            {names.get(key, key): found for key, found in vars(one).items() if found is not None}
            for one in self
        ]

    def __str__(self) -> str:
        return self._text()


def gains_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    n_bins: int = 10,
    amount: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> GainsTable:
    """Tabulate cumulative gains and lift over equal parts of the ranking, such as deciles.

    Where a cut falls inside rows of equal score, they are spread evenly.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `partial_auc_score`.
    n_bins : int, default=10
        Number of parts.
    amount : array-like of shape (n_samples,), default=None
        What a row is worth if it is positive (the loss of a fraud, say).

    Returns
    -------
    GainsTable

    Examples
    --------
    >>> from aucuba.metrics import gains_table
    >>> y, score = [0, 0, 1, 0, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> print(gains_table(y, score, n_bins=4))
    fraction  threshold    rows  positives    gain    lift  precision
      0.2500     7.0000  2.0000     1.0000  0.3333  1.3333     0.5000
      0.5000     5.0000  4.0000     2.0000  0.6667  1.3333     0.5000
      0.7500     3.0000  6.0000     3.0000  1.0000  1.3333     0.5000
      1.0000     1.0000  8.0000     3.0000  1.0000  1.0000     0.3750
    """
    parts = int(check_positive_number(n_bins, "n_bins", integer=True))
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
    curve = roc_curve(sample)
    fractions = np.arange(1, parts + 1) / parts
    ranked = n_ranked(curve)
    cuts = fractions * ranked[-1]
    hits = np.interp(cuts, ranked, curve.true_positive)
    # A cut at the end of a block, up to rounding, takes no row of the next.
    last = np.searchsorted(ranked[1:], cuts * (1 - 1e-12))
    values = None if amount is None else _values(sample, amount, sample_weight, cuts)
    return GainsTable(
        Gain(
            fraction=float(fractions[place]),
            threshold=float(curve.threshold[last[place]]),
            n_rows=float(cuts[place]),
            n_positives=float(hits[place]),
            gain=float(hits[place] / curve.true_positive[-1]),
            lift=float(hits[place] / curve.true_positive[-1] / fractions[place]),
            precision=float(hits[place] / cuts[place]),
            value=None if values is None else float(values[place]),
        )
        for place in range(parts)
    )


def value_recall(
    y_true: ArrayLike,
    y_score: ArrayLike,
    amount: ArrayLike,
    *,
    fraction: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the part of the positives' total amount that the top fraction of all rows holds.

    A few large amounts decide it, and rows that were not seen may hold larger ones, so no interval is
    given. At a false positive rate the same is a weighted rate, with intervals and tests that count
    effective rows:
    ``score_interval("tpr_at_fpr", y, score, fpr=0.01, sample_weight=np.where(y, amount, 1))``.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `partial_auc_score`.
    amount : array-like of shape (n_samples,)
        What a row is worth if it is positive; not negative.
    fraction : float
        Fraction of all rows, in (0, 1].

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from aucuba.metrics import value_recall
    >>> value_recall([0, 1, 0, 1], [1, 2, 3, 4], [5, 30, 5, 70], fraction=0.5)
    0.7
    """
    top = check_fraction(fraction, "fraction", low_open=True)
    sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
    cut = top * float(sample.weights.sum())
    return float(_values(sample, amount, sample_weight, np.array([cut]))[0])


def _values(
    sample: RankingSample, amount: ArrayLike, sample_weight: ArrayLike | None, cuts: FloatArray
) -> FloatArray:
    """Return the part of the positives' amount among the highest rows of given weights."""
    kept: Any = slice(None)
    n_rows = sample.n_rows
    if sample_weight is not None:
        kept = np.asarray(on_host(sample_weight)) > 0
        n_rows = kept.size
    try:
        given = row_weights(on_host(amount), n_rows)
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", "amount")) from None
    assert given is not None
    worth = np.where(sample.positive, given[kept] * sample.weights, 0.0)
    if not worth.any():
        raise ValueError("The amounts of all positive rows are 0, so no part of them can be found.")
    rows = sample.ranked
    found = np.append(0.0, np.cumsum(worth[rows.order])[rows.block_end])
    ranked = np.append(0.0, np.cumsum(sample.weights[rows.order])[rows.block_end])
    return np.asarray(np.interp(cuts, ranked, found) / found[-1])
