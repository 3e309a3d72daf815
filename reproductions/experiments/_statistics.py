"""Numbers that several tables report."""

from __future__ import annotations

from aucuba._base._typing import FloatArray


def standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5)
