"""One step of a loss: a value whose gradient is known, and its recording on a graphics card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Step = Callable[..., tuple[Tensor, Tensor]]
# Steps of a shape before it is recorded: a recording costs as much as some ten of them.
_FIRST_STEPS = 3
# Shapes that are recorded; each holds the memory of one step. Batches have one size, the last another.
_MOST_SHAPES = 4


class _GivenGradient(torch.autograd.Function):
    """A value whose gradient in the scores is known."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient.to(scores.dtype))
        return value.to(scores.dtype)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return upstream[0] * gradient, None, None


def with_gradient(scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    """Return the value as a function of the scores with this gradient."""
    # PyTorch ships no type of `apply`.
    apply: Any = _GivenGradient.apply
    loss: Tensor = apply(scores, value, gradient)
    return loss


class _Recording:
    """The kernels of one step as a CUDA graph, which starts by one call instead of a hundred."""

    def __init__(self, step: Step, inputs: tuple[Tensor, ...]) -> None:
        self._inputs = [one.clone() for one in inputs]
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._outputs = step(*self._inputs)

    def replay(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        for mine, given in zip(self._inputs, inputs, strict=True):
            mine.copy_(given)
        self._graph.replay()
        # The next replay writes over them.
        value, gradient = self._outputs
        return value.clone(), gradient.clone()


class Recorder:
    """Takes steps, on a graphics card from recordings once their shapes have come a few times.

    A step of a loss is about a hundred small kernels, whose launches take milliseconds and whose work
    takes microseconds. The results are the same bits: the same kernels run on the same numbers. Steps
    that are themselves being compiled or recorded are taken as they are.
    """

    def __init__(self) -> None:
        self._seen: Counter[Any] = Counter()
        self._recordings: dict[Any, _Recording] = {}

    def __reduce__(self) -> tuple[type[Recorder], tuple[()]]:
        # Copies and saved modules record anew.
        return Recorder, ()

    def take(self, step: Step, state: Any, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Take a step; ``state`` is what it depends on beside the inputs."""
        if torch.compiler.is_compiling() or not inputs[0].is_cuda:
            return step(*inputs)
        key = (state, *((one.shape, one.dtype, one.device) for one in inputs))
        recording = self._recordings.get(key)
        if recording is None:
            self._seen[key] += 1
            few = self._seen[key] <= _FIRST_STEPS or len(self._recordings) >= _MOST_SHAPES
            if few or torch.cuda.is_current_stream_capturing():
                return step(*inputs)
            recording = self._recordings[key] = _Recording(step, inputs)
        elif torch.cuda.is_current_stream_capturing():
            return step(*inputs)
        return recording.replay(inputs)
