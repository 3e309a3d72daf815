"""Fits that change an estimator wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        with _given_back(estimator, before):
            return fit(estimator, *args, **kwargs)

    return guarded


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[dict[str, Any]]:
    """The same for a part of ``fit``, which begins without the attributes of before.

    Yields them, for a warm start. Kinds of models differ in what they set, so what is not set anew must
    not stay. After this part a fit may still be interrupted and keep the model it has.
    """
    before = _fitted(estimator)
    _forget(estimator)
    with _given_back(estimator, before):
        yield before


@contextmanager
def _given_back(estimator: Any, before: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        _forget(estimator)
        vars(estimator).update(before)
        raise


def _forget(estimator: Any) -> None:
    for name in _fitted(estimator):
        delattr(estimator, name)


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
