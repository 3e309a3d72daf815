"""The one error of a damaged model file."""

from __future__ import annotations


class DamagedFileError(ValueError):
    """Something in a model file that this library would not have written."""
