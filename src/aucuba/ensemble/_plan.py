"""Choose the members of a stack: from a preset, a list, or the plan of an earlier fit."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from aucuba._base._validation import check_choice, check_positive_number
from aucuba.ensemble._defaults import PRESETS, NamedMembers, preset_members
from aucuba.ensemble._members import Member, as_member

# A name or a pair (name, classifier), and the settings of a named member.
Entry = tuple[Any, dict[str, Any]]


def chosen_members(
    estimators: Any, preset: str, plan: Any, named: NamedMembers, *, weighted: bool
) -> list[tuple[str, Member]]:
    """Make every member of ``plan``, else of ``estimators``, else of ``preset``.

    All members are checked before the first is fitted. ``weighted`` tells whether rows have weights.
    """
    check_choice(preset, "preset", list(PRESETS))
    if estimators is not None and (not isinstance(estimators, list | tuple) or not estimators):
        raise ValueError(
            "estimators must be a list of names of members and pairs (name, classifier), or None for "
            f"the members of preset; got {estimators!r}."
        )
    if plan is not None:
        given = _read(plan, pairs_of(estimators))
    elif estimators is None:
        given = list(preset_members(preset, is_sparse=sparse.issparse(named.X)).items())
    else:
        given = [(entry, {}) for entry in estimators]
    members = [_member(entry, settings, named, weighted=weighted) for entry, settings in given]
    names = [name for name, _ in members]
    if len(set(names)) < len(names):
        raise ValueError(f"The members of estimators need different names, got {names}.")
    return members


def pairs_of(estimators: Any) -> dict[str, Any]:
    """Return the classifiers of the pairs (name, classifier) in ``estimators``."""
    given = estimators if isinstance(estimators, list | tuple) else ()
    return {entry[0]: entry[1] for entry in given if is_pair(entry)}


def is_pair(entry: Any) -> bool:
    """Tell a pair (name, classifier) from the name of a member."""
    return isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str)


def checked_limit(time_limit: Any, plan: Any) -> float | None:
    """Check the seconds that a fit may take; None is no limit."""
    if time_limit is None:
        return None
    if plan is not None:
        raise ValueError("plan fits the same members however long it takes; leave time_limit out.")
    return check_positive_number(time_limit, "time_limit")


def _read(plan: Any, pairs: dict[str, Any]) -> list[Entry]:
    entries = list(plan) if isinstance(plan, list | tuple) else []
    if not entries or not all(isinstance(one, dict) and "member" in one for one in entries):
        raise ValueError(
            f"plan must be plan_ of a fitted stack, a list of dicts with 'member', got {plan!r}."
        )
    listed: list[Entry] = []
    for one in entries:
        name, settings = one["member"], {key: one[key] for key in one if key != "member"}
        listed.append(((name, pairs[name]) if name in pairs else name, settings))
    return listed


def _member(
    entry: Any, settings: dict[str, Any], named: NamedMembers, *, weighted: bool
) -> tuple[str, Member]:
    if isinstance(entry, str):
        return entry, named.member(entry, **settings)
    if is_pair(entry):
        return entry[0], as_member(*entry, weighted=weighted)
    raise ValueError(
        f"estimators must hold names of members and pairs (name, classifier), got {entry!r}."
    )
