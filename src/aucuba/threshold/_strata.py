"""Strata of the rows that have a threshold each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from aucuba._base._typing import AnyArray, IntArray
from aucuba.threshold._units import HeldOutRows


@dataclass(frozen=True)
class Strata:
    """The stratum of every row given to ``fit``; without strata, one for all rows.

    Parameters
    ----------
    names : ndarray of shape (n_strata,)
        The strata in sorted order; empty without strata.
    number : ndarray of shape (n_rows,)
        The place of every row's stratum.
    """

    names: AnyArray
    number: IntArray

    @classmethod
    def from_rows(cls, strata: Any, X: Any) -> Strata:
        if strata is None:
            return cls(np.array([]), np.zeros(_num_samples(X), dtype=np.intp))
        labels = stratum_labels(strata, X)
        names = np.unique(labels)
        return cls(names, stratum_index(labels, names))

    def __len__(self) -> int:
        return max(self.names.size, 1)

    def error_of_each(self, confidence: float, joint: bool) -> float:
        """The probability that one stratum may break its promise, so that all keep theirs together."""
        return float(-np.expm1(np.log(confidence) / (len(self) if joint else 1)))

    def parts(self, rows: HeldOutRows, held_out: IntArray) -> Iterator[HeldOutRows]:
        """Yield the held-out rows of every stratum."""
        number = self.number[held_out]
        for place in range(len(self)):
            yield rows.take(number == place)

    def problem_in(self, place: int, problem: str) -> str:
        """Name the stratum that a problem is in."""
        if not self.names.size:
            return problem
        return f"In the stratum {self.names[place]!r}: {problem}"


def stratum_labels(strata: Any, X: Any) -> AnyArray:
    """The stratum of every row: a column of X by name or index, or a callable's answer."""
    column = strata(X) if callable(strata) else _column(X, strata)
    labels: AnyArray = np.ravel(column.toarray() if sp.issparse(column) else np.asarray(column))
    n_rows = _num_samples(X)
    if labels.shape[0] != n_rows:
        raise ValueError(
            f"strata gave {labels.shape[0]} labels for {n_rows} rows; it must name one per row."
        )
    missing = labels != labels if labels.dtype.kind in "fO" else np.zeros(n_rows, dtype=bool)
    if labels.dtype.kind == "O":
        missing = missing | np.array([label is None for label in labels])
    if missing.any():
        raise ValueError(
            f"strata is missing in {int(missing.sum())} rows, the first is row "
            f"{int(np.argmax(missing))}; every row needs a stratum."
        )
    return labels


def stratum_index(labels: AnyArray, known: AnyArray) -> IntArray:
    """Place of every label among the known ones; an error names those that are not."""
    unknown = np.setdiff1d(labels, known)
    if unknown.size:
        raise ValueError(
            f"strata has values that fit did not see: {unknown[:5].tolist()}; they have no "
            f"threshold. Known are {known[:10].tolist()}."
        )
    index: IntArray = np.searchsorted(known, labels)
    return index


def _column(X: Any, key: Any) -> Any:
    if isinstance(X, list):
        X = np.asarray(X)
    try:
        return _safe_indexing(X, key, axis=1)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(
            f"strata={key!r} is not a column of X: give the name of a column of a data frame, the "
            f"index of a column of an array, or a callable on X ({error})."
        ) from error
