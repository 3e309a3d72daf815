"""Fits that change an estimator wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Give back the fitted attributes of before when ``fit`` fails or is interrupted.

    An estimator that was fitted stays as it was, and a new one stays unfitted: half of a new fit beside
    half of an old one would predict nonsense.
    """

    @wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = _fitted(estimator)
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            for name in _fitted(estimator):
                delattr(estimator, name)
            vars(estimator).update(before)
            raise

    return guarded


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
