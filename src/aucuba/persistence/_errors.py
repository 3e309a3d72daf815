"""The error of a damaged model file."""

from __future__ import annotations

from typing import Any


class DamagedFileError(ValueError):
    """A model file has content that this library would not have written."""


def demand(condition: Any, otherwise: str = "an array of another shape") -> None:
    """Raise the error of a damaged file unless a condition holds."""
    if not condition:
        raise DamagedFileError(otherwise)
