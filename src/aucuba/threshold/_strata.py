"""Strata: parts of the rows with a threshold each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import identifiers
from aucuba._rows._sample import RankingSample


@dataclass(frozen=True)
class Strata:
    """The names of the strata, sorted; empty where all rows are one stratum without a name."""

    names: AnyArray

    def __len__(self) -> int:
        return max(self.names.size, 1)

    def parts(self, rows: RankingSample) -> list[RankingSample]:
        """Return the rows of every stratum."""
        if rows.stratum is None:
            return [rows]
        return [rows.take(rows.stratum == place) for place in range(len(self))]

    def error_of_one(self, confidence: float, joint: bool) -> float:
        """Return the error of one stratum with which all keep their promises together, if asked."""
        return float(-np.expm1(np.log(confidence) / (len(self) if joint else 1)))

    def error_of_all(self, errors: FloatArray, joint: bool) -> float:
        """Return the probability that some independent stratum errs, or the largest of one alone."""
        if len(self) == 1 or not joint:
            return float(errors.max())
        return float(-np.expm1(np.log1p(-errors).sum()))

    def named(self, problem: str, place: int) -> str:
        """Begin a message with the stratum that it is about."""
        if not self.names.size:
            return problem
        return f"In the stratum {self.names.tolist()[place]!r}: {problem}"

    def squeezed(self, values: AnyArray) -> Any:
        """Return one entry per stratum; without names the only entry, a plain number if it is one."""
        if self.names.size:
            return values
        return values[0] if values.ndim > 1 else values[0].item()


def stratum_labels(strata: Any, X: Any) -> AnyArray:
    """Return the stratum of every row: a column of X by name or index, or a callable's answer."""
    column = strata(X) if callable(strata) else _column(X, strata)
    if not isinstance(column, list | tuple):
        column = np.ravel(column.toarray() if sp.issparse(column) else np.asarray(column))
    return identifiers(column, "strata", _num_samples(X))


def stratum_index(labels: AnyArray, known: AnyArray) -> IntArray:
    """Return the place of every label among the known ones; an error names those that are not."""
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
