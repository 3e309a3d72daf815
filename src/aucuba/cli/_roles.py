"""The columns that options name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aucuba.cli._tables import Table, TableError

DEFAULT_TARGET = "y"
_SVMLIGHT_TARGET = "label"
_SVMLIGHT_GROUP = "qid"


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features, or not what they seem."""

    target: str
    weight: str | None = None
    group: str | None = None
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        target: str | None,
        weight: str | None,
        group: str | None,
        dropped: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Roles:
        """Each column in one role, with the names that a svmlight file has by itself filled in."""
        if target is None:
            target = DEFAULT_TARGET if table.matrix is None else _SVMLIGHT_TARGET
        if group is None and table.matrix is not None and _SVMLIGHT_GROUP in table.frame.columns:
            group = _SVMLIGHT_GROUP
        roles = cls(target, weight, group, tuple(dropped), tuple(dict.fromkeys(categories)))
        roles._check(table)
        return roles

    def _check(self, table: Table) -> None:
        named = [("--target", self.target), ("--weight", self.weight), ("--group", self.group)]
        named += [("--drop", name) for name in self.dropped]
        named += [("--category", name) for name in self.categories]
        taken: dict[str, str] = {}
        for option, name in named:
            if name is None:
                continue
            own = {"--target": _SVMLIGHT_TARGET, "--group": _SVMLIGHT_GROUP}.get(option)
            if table.matrix is not None and name != own:
                raise TableError(
                    f"{option} {name}: a svmlight file has labels, perhaps qid, and no other named "
                    f"columns; leave {option} out."
                )
            table.column(name, option)
            if taken.setdefault(name, option) != option:
                raise TableError(
                    f"The column {name!r} is given for both {taken[name]} and {option}; choose one."
                )

    @property
    def names(self) -> set[str]:
        """All but the features."""
        named = {self.target, self.weight, self.group, *self.dropped}
        return {name for name in named if name is not None}
