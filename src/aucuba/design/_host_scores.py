"""A Design whose scores are copied to the host."""

from __future__ import annotations

from collections.abc import Sequence

from aucuba._base._arrays import NUMPY, Arrays
from aucuba._base._typing import FloatArray
from aucuba.design._base import RowDesign


class HostScores:
    """Scores and gradients as NumPy arrays on the host, products where the data live.

    For algorithms whose work on the scores is not written for other devices: every product copies one
    vector with an entry per row.

    Parameters
    ----------
    design : RowDesign
        The data.
    """

    def __init__(self, design: RowDesign) -> None:
        self.design = design
        self.arrays: Arrays = NUMPY

    @property
    def n_rows(self) -> int:
        return self.design.n_rows

    @property
    def is_exact(self) -> bool:
        return self.design.is_exact

    @property
    def largest(self) -> float:
        return self.design.largest

    def exact(self) -> HostScores:
        return HostScores(self.design.exact())

    def zeros(self) -> FloatArray:
        return self.design.zeros()

    def scores(self, model: FloatArray) -> FloatArray:
        scores: FloatArray = self.design.arrays.host(self.design.scores(model))
        return scores

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        vector = self.design.arrays.vector
        if isinstance(gradient, Sequence):
            return self.design.adjoint([vector(one) for one in gradient])
        return self.design.adjoint(vector(gradient))

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return self.design.inner(models, model)
