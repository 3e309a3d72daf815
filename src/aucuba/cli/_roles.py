"""The columns that options name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aucuba.cli._errors import Problems, TableError
from aucuba.cli._table import Table

DEFAULT_TARGET = "y"
_SVMLIGHT_TARGET = "label"
_SVMLIGHT_QID = "qid"


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features, or not what they seem."""

    target: str
    sample_weight: str | None = None
    qid: str | None = None
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def from_options(
        cls,
        table: Table,
        target: str | None,
        sample_weight: str | None,
        qid: str | None,
        dropped: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Roles:
        """Give each column one role, with the names that a svmlight file has by itself filled in."""
        if target is None:
            target = DEFAULT_TARGET if table.matrix is None else _SVMLIGHT_TARGET
        if qid is None and table.matrix is not None and _SVMLIGHT_QID in table.frame.columns:
            qid = _SVMLIGHT_QID
        names = [str(name) for name in table.frame.columns]
        roles = cls(
            target,
            sample_weight,
            qid,
            tuple(split_names(dropped, names)),
            tuple(split_names(categories, names)),
        )
        roles._check(table)
        return roles

    @property
    def names(self) -> set[str]:
        """All columns that are not features."""
        named = {self.target, self.sample_weight, self.qid, *self.dropped}
        return {name for name in named if name is not None}

    def _check(self, table: Table) -> None:
        named = [
            ("--target", self.target),
            ("--sample-weight", self.sample_weight),
            ("--qid", self.qid),
        ]
        named += [("--drop", name) for name in self.dropped]
        named += [("--category", name) for name in self.categories]
        problems, taken = Problems(), dict[str, str]()
        for option, name in named:
            if name is not None:
                with problems.collected():
                    _check_column(table, option, name, taken)
        problems.raise_any()


def split_names(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Split ``a,b`` at its commas, unless a column has that very name; each name once.

    Examples
    --------
    >>> from aucuba.cli._roles import split_names
    >>> split_names(["a,b", "c,d", "a"], names=["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    parts: list[str] = []
    for text in given:
        parts += [text] if text in names else [part.strip() for part in text.split(",")]
    return list(dict.fromkeys(part for part in parts if part))


def _check_column(table: Table, option: str, name: str, taken: dict[str, str]) -> None:
    own = {"--target": _SVMLIGHT_TARGET, "--qid": _SVMLIGHT_QID}.get(option)
    if table.matrix is not None and name != own:
        raise TableError(
            f"{option} {name}: a svmlight file has labels, perhaps qid, and no other named columns; "
            f"leave {option} out."
        )
    table.column(name, option)
    if taken.setdefault(name, option) != option:
        raise TableError(
            f"The column {name!r} is given for both {taken[name]} and {option}; choose one."
        )
