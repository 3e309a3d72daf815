"""The objects inside a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

# Nothing of the file is inside these.
_PLAIN = (str, bytes, int, float, type(None), type, FunctionType, np.generic, np.dtype, np.ufunc)


def parts_of(model: Any) -> Iterator[Any]:
    """Yield the model and everything inside it, outer objects first, each once."""
    waiting: list[Any] = [model]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, _PLAIN):
            continue
        seen.add(id(part))
        yield part
        waiting.extend(_inside(part))


def _inside(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    if isinstance(part, partial):
        return [part.args, part.keywords, vars(part)]
    return list(getattr(part, "__dict__", {}).values())
