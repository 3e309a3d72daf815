"""Names for types that are used throughout the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
# Called after every iteration with its row of the history; a true result stops the fit.
Monitor = Callable[[dict[str, Any]], Any]

__all__ = ["AnyArray", "ArrayLike", "BoolArray", "FloatArray", "IntArray", "Monitor"]
