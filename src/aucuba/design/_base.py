"""The contract of a Design: the data as a linear map from models to scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from aucuba._base._arrays import Arrays, Vector
from aucuba._base._typing import FloatArray

RowTerms = Callable[..., tuple[float, Vector, Vector]]


class Design(Protocol):
    """The data as a linear map ``A`` from a Hilbert space of models to the scores of the rows.

    A model is a float64 vector: the weights ``w`` for tables, the dual coefficients ``v`` for
    kernels. A Design knows only the data: no labels, no losses, no FPR ranges. For all
    models ``a`` and score gradients ``g``

        ``scores(a) @ g == inner(a, adjoint(g))``

    A solver uses nothing else, so every solver works on every Design.
    """

    @property
    def n_rows(self) -> int:
        """Return the number of scores."""
        ...

    @property
    def arrays(self) -> Arrays:
        """Return where scores and their gradients live."""
        ...

    @property
    def largest(self) -> float:
        """Bound the entries of A: ``scores(a)`` never exceed ``largest * sum |a|``."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether products with the data are in double precision, as certificates need."""
        ...

    def exact(self) -> Design:
        """Return the same map with products in double precision."""
        ...

    def on_host(self) -> Design:
        """Return the same map with scores and gradients as NumPy arrays."""
        ...

    def zeros(self) -> FloatArray:
        """Return the model that scores every row zero."""
        ...

    def scores(self, model: FloatArray) -> Vector:
        """Apply A to a model: ``X @ w`` for a table, ``K @ v`` for a kernel."""
        ...

    def adjoint(self, gradient: Vector | Sequence[Vector]) -> FloatArray:
        """Apply the adjoint of A: ``X.T @ g`` for a table, ``g`` itself for a kernel.

        A list of k gradients gives a stack of models ``(k, size)`` in one pass over the data.
        """
        ...

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        """Compute inner products of one model, or a stack of them ``(k, size)``, with another.

        ``models @ model`` for a table, ``models @ K @ model`` for a kernel.
        """
        ...


class RowDesign(Design, Protocol):
    """The Design of a table, whose models are one weight per column: ``scores = X @ w``."""

    def exact(self) -> RowDesign: ...

    def scores(self, model: FloatArray) -> Vector:
        """Apply A to a model; a stack of them ``(k, size)`` gives ``(k, n_rows)`` in one pass."""
        ...

    def in_single_precision(self) -> RowDesign:
        """Return the same rows with faster, rougher products where there are such, else itself.

        For fits that are averaged or only compared, such as those of folds.
        """
        ...

    @property
    def table(self) -> Any:
        """The rows as a NumPy array or CSR matrix; None where they live elsewhere."""
        ...

    def take(self, rows: Vector) -> RowDesign:
        """Return the Design of some of the rows."""
        ...

    def some_rows(self, count: int) -> Any:
        """Return at most ``count`` evenly spaced rows as an array or CSR matrix in memory."""
        ...

    def gram(self, weight: Vector) -> FloatArray:
        """Compute ``X.T @ diag(weight) @ X`` in one pass."""
        ...

    def beside(self, *columns: Vector) -> RowsWithColumns | None:
        """Put columns beside rows that are in blocks elsewhere; None where the rows are at hand.

        A risk that is a sum over rows then takes one pass instead of two, and no vector travels.
        """
        ...


class RowsWithColumns(Protocol):
    """Rows in blocks elsewhere, with what a risk that is a sum over rows knows of each.

    The risk is ``terms(scores, *columns)``: its value, and its first and second derivative by row. A
    model is the weights of the columns of X, then the intercept.
    """

    def risk(self, terms: RowTerms, model: FloatArray) -> tuple[float, FloatArray]:
        """Compute the value and the gradient in the model, in one pass."""
        ...

    def second_derivative(self, terms: RowTerms, model: FloatArray) -> FloatArray:
        """Compute the second derivative in the model, in one pass."""
        ...
