"""Messages of the command line: problems of data files, and the library's own in its words.

Nothing here imports NumPy or pandas, so that the help appears at once.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from aucuba.cli._options import spelled_as_option

# Parameters of the library that are options here, spelled alike.
PARAMETERS = (
    *("C", "cv", "fpr_range", "max_fpr", "max_iter", "max_segments", "min_tpr"),
    *("pos_label", "qid", "random_state", "sample_weight", "loss"),
)
# A parameter with a value is always meant; without one, "loss" is an English word.
_WITH_VALUE = re.compile(rf"\b({'|'.join(PARAMETERS)})=(['\"]?)([\w.+-]*\w)\2")
_ALONE = re.compile(rf"(?<![\w-])({'|'.join(set(PARAMETERS) - {'loss'})})\b(?!=)")


def spelled_as_options(message: str) -> str:
    """Spell every parameter in a message as its option: ``max_iter`` is ``--max-iter``.

    Examples
    --------
    >>> from aucuba.cli._messages import spelled_as_options
    >>> spelled_as_options("Use loss='tight' or PartialAUCClassifier, or widen fpr_range.")
    'Use --loss tight or --model linear, or widen --fpr-range.'
    """
    message = re.sub(r"\bPartialAUCClassifier\b", "--model linear", message)
    message = _WITH_VALUE.sub(lambda found: f"{spelled_as_option(found[1])} {found[3]}", message)
    return _ALONE.sub(lambda found: spelled_as_option(found[1]), message)


def warning_text(warning: warnings.WarningMessage) -> str:
    """Write a warning with those of its remedies that the command line offers."""
    from aucuba._base._warnings import Advice

    said = warning.message
    text = said.text({*PARAMETERS, "model"}) if isinstance(said, Advice) else str(said)
    return spelled_as_options(text)


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
    >>> from aucuba.cli._messages import Problems, TableError
    >>> problems = Problems()
    >>> for name in ("a", "b"):
    ...     with problems.collected():
    ...         raise TableError(f"The column {name!r} is empty.")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    aucuba.cli._messages.TableError: The column 'a' is empty. The column 'b' is empty.
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
