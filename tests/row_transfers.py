"""What crosses between tensors and the host, counted on any device."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np


def row_transfers(call: Callable[[], Any], least: int) -> Counter[str]:
    """Count by kind the vectors of at least so many entries that become tensors or arrays in a call.

    "up, uint8" is a NumPy array of bytes that a torch function is given, "down, float64" a tensor that
    becomes an array or a list. Between the processor's own memory these cost nothing; a graphics card
    waits for each.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    seen: Counter[str] = Counter()

    class Counting(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = [*args, *(kwargs or {}).values()]
            given += [part for one in given if isinstance(one, list | tuple) for part in one]
            for one in given:
                if isinstance(one, np.ndarray) and one.size >= least:
                    seen[f"up, {one.dtype}"] += 1
            name = getattr(func, "__name__", "")
            if name in ("numpy", "__array__", "tolist") and args[0].numel() >= least:
                seen[f"down, {str(args[0].dtype).removeprefix('torch.')}"] += 1
            return func(*args, **(kwargs or {}))

    with Counting():
        assert torch.as_tensor(np.zeros(least)).numpy().size == least
        assert seen.total() == 2, "the counter sees nothing"
        seen.clear()
        call()
    return seen
