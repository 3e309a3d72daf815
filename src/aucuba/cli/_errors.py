"""Errors of data files that cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class TableError(ValueError):
    """A data file that cannot be used: one sentence per problem.

    Parameters
    ----------
    *problems : str
    """

    def __init__(self, *problems: str) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


class Problems:
    """Collects the problems of a file, so that one run names them all.

    Examples
    --------
    >>> from aucuba.cli._errors import Problems, TableError
    >>> problems = Problems()
    >>> for name in ("a", "b"):
    ...     with problems.collected():
    ...         raise TableError(f"The column {name!r} is empty.")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    aucuba.cli._errors.TableError: The column 'a' is empty. The column 'b' is empty.
    """

    def __init__(self) -> None:
        self._found: list[str] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep the table error of the block for later."""
        try:
            yield
        except TableError as error:
            self._found += error.problems

    def raise_any(self) -> None:
        """Raise one error for everything collected, if anything was."""
        if self._found:
            raise TableError(*dict.fromkeys(self._found))
