"""Choose the members of a stack: from a preset, a list, or the plan of an earlier fit."""

from __future__ import annotations

from typing import Any

from aucuba._base._validation import check_choice, check_positive_number
from aucuba.ensemble._defaults import PRESETS, preset_members

# A name or a pair (name, classifier), and the settings of a named member.
Entry = tuple[Any, dict[str, Any]]


def wanted_members(
    estimators: Any, preset: str, plan: Any, pairs: dict[str, Any], *, is_sparse: bool
) -> list[Entry]:
    """Return the members of ``plan``, else of ``estimators``, else of ``preset``.

    ``pairs`` holds the classifiers of ``estimators`` by name, for a plan that names them.
    """
    check_choice(preset, "preset", list(PRESETS))
    if estimators is not None and (not isinstance(estimators, list | tuple) or not estimators):
        raise ValueError(
            "estimators must be a list of names of members and pairs (name, classifier), or None for "
            f"the members of preset; got {estimators!r}."
        )
    if plan is not None:
        return _read(plan, pairs)
    if estimators is None:
        return list(preset_members(preset, is_sparse=is_sparse).items())
    return [(entry, {}) for entry in estimators]


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
