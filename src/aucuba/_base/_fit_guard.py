"""Fits that change an estimator completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[dict[str, Any]]:
    """Remove the fitted attributes for a part of ``fit`` and restore them if that part fails.

    A fitted estimator keeps its model and a new one stays unfitted: half of a new model beside half
    of an old one would predict nonsense. Kinds of models differ in the attributes they set, so none
    survives from an earlier fit. Once this part is done, an interrupt no longer discards the model.

    Yields
    ------
    dict
        The previous fitted attributes, for a warm start.
    """
    before = _fitted(estimator)
    _forget(estimator)
    try:
        yield before
    except BaseException as error:
        _forget(estimator)
        vars(estimator).update(before)
        if type(error).__name__ == "OutOfMemoryError":
            # PyTorch's message is about its allocator.
            raise MemoryError(
                "The device has too little memory for this fit, which needs room for X, for about a "
                "dozen vectors with one double per row, and for one more per iteration. Train on "
                "fewer rows, or store X in half precision."
            ) from error
        raise


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Run a whole ``fit`` method in `fresh_fit`."""

    @wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        with fresh_fit(estimator):
            return fit(estimator, *args, **kwargs)

    return guarded


def _forget(estimator: Any) -> None:
    for name in _fitted(estimator):
        delattr(estimator, name)


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
