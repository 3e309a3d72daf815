"""Fits that change an estimator completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Restore the previous fitted attributes if ``fit`` fails or is interrupted.

    A fitted estimator keeps its model and a new one stays unfitted: half of a new model beside half
    of an old one would predict nonsense.
    """

    @wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        with _restored_on_failure(estimator, _fitted(estimator)):
            return fit(estimator, *args, **kwargs)

    return guarded


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[dict[str, Any]]:
    """Remove the fitted attributes for a part of ``fit`` and restore them if that part fails.

    Yields the previous attributes, for a warm start. Kinds of models differ in the attributes they
    set, so that none may survive from an earlier fit. Once this part is done, an interrupt no longer
    discards the model.
    """
    before = _fitted(estimator)
    _forget(estimator)
    with _restored_on_failure(estimator, before):
        yield before


@contextmanager
def _restored_on_failure(estimator: Any, before: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        _forget(estimator)
        vars(estimator).update(before)
        if type(error).__name__ == "OutOfMemoryError":
            # PyTorch's own message speaks of its allocator.
            raise MemoryError(
                "The device has too little memory for this fit, which needs room for X, for about a "
                "dozen vectors with one double per row, and for one more per iteration. Train on "
                "fewer rows, or store X in half precision."
            ) from error
        raise


def _forget(estimator: Any) -> None:
    for name in _fitted(estimator):
        delattr(estimator, name)


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}
