"""Changes of the estimators since earlier releases, applied to their models when they are read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

# By stored name: a function that turns the attributes of an older model into today's, in place. It
# runs on every file, so it must leave today's attributes as they are.
MIGRATIONS: dict[str, Callable[[dict[str, Any]], None]] = {}


def migrate(part: Any, stored_name: str) -> None:
    """Bring an object of this library up to date; parameters that it lacks get their defaults."""
    state = vars(part)
    if stored_name in MIGRATIONS:
        MIGRATIONS[stored_name](state)
    if isinstance(part, BaseEstimator):
        for name, parameter in inspect.signature(type(part)).parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                state.setdefault(name, parameter.default)
