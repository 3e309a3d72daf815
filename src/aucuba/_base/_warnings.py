"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_LIBRARY = str(Path(__file__).parents[1])


class FewRowsWarning(UserWarning):
    """Too few rows, queries or clusters for an interval or a test to keep its level."""


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
