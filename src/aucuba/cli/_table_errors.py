"""Errors of data files that cannot be used."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
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
    >>> from aucuba.cli._table_errors import Problems, TableError
    >>> problems = Problems()
    >>> for name in ("a", "b"):
    ...     with problems.collected():
    ...         raise TableError(f"The column {name!r} is empty.")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    aucuba.cli._table_errors.TableError: The column 'a' is empty. The column 'b' is empty.
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


def suggestion(name: str, names: Sequence[str]) -> str:
    """Name the column that was probably meant, or else the columns that there are."""
    folded = {one.casefold(): one for one in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    more = ", ..." if len(names) > 8 else ""
    return f"the columns are {', '.join(names[:8])}{more or '.'}"
