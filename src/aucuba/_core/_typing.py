"""Names for the array types that run through the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]

__all__ = ["AnyArray", "ArrayLike", "BoolArray", "FloatArray", "IntArray"]
