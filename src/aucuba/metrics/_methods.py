"""Which method gives the interval or the test of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aucuba._base._validation import check_choice

if TYPE_CHECKING:
    from aucuba.metrics._study import Study

METHODS = (
    *("auto", "delong", "normal", "influence", "bootstrap", "bca", "exact", "wilson"),
    *("conservative", "simultaneous"),
)
# From this many rows on a bootstrap of a difference takes many seconds, and with this many of either
# class in the range the estimate is as good as normal.
_ROWS_FOR_NORMAL = 50_000
_FEWEST_FOR_NORMAL = 200


def chosen_method(study: Study, method: str, difference: bool) -> str:
    """Resolve "auto" to a method for one value or for differences; refuse one that does not fit."""
    check_choice(method, "method", METHODS)
    if method == "normal":
        method = "influence" if _has_effects(study) else "delong"
    best = _best_of_difference if difference else _best
    if method == "auto":
        return best(study)
    if difference and method not in ("delong", "influence", "bootstrap"):
        raise ValueError(
            f"method={method!r} gives intervals of one value; compare with 'delong', 'influence' or "
            "'bootstrap'."
        )
    reason = _reason_against(study, method, difference)
    if reason:
        raise ValueError(f"method={method!r} {reason}; use method={best(study)!r}.")
    return method


def _has_effects(study: Study) -> bool:
    """Whether the rows have first-order effects, and are the units or parts of them."""
    return study.measure.effects is not None and study.sampling != "queries"


def _effects_suffice(study: Study) -> bool:
    """Whether rows are so many that first-order effects say all about the spread."""
    return _has_effects(study) and study.n_effective() > study.measure.rows_for_effects


def _has_two_rates(study: Study) -> bool:
    """Whether the value is a sum of two rates at a threshold, over independent rows."""
    cells = study.measure.cells
    return cells is not None and cells.is_mean and study.group is None


def _reason_against(study: Study, method: str, difference: bool) -> str:
    """Return why a method does not fit the measure or the units; empty if it fits."""
    measure, is_of_queries = study.measure, study.sampling == "queries"
    name, is_modelled = measure.name, measure.is_modelled or _has_two_rates(study)
    is_best = measure.at_vertices is not None and not is_of_queries
    weighted = study.samples[0].weight is not None and not study.frequency
    against = {
        f"is biased for {name!r}, the best of all thresholds": (
            is_best and method != "simultaneous" and not difference
        ),
        f"is for the best of all thresholds, which {name!r} is not": (
            method == "simultaneous" and not is_best
        ),
        f"needs the first-order effects of rows, which {name!r} does not have": (
            method == "influence" and not _has_effects(study)
        ),
        f"needs placement values, which {name!r} does not have": (
            method == "delong" and measure.region is None and not is_of_queries
        ),
        f"needs a smooth measure, and {name!r} jumps with its threshold": (
            method == "bca" and not measure.is_smooth
        ),
        "needs independent rows or groups, not queries": (
            method in ("bca", "wilson") and is_of_queries
        ),
        f"needs to know how the variance of {name!r} changes with its value": (
            method == "wilson" and not is_modelled
        ),
        "is for rates at a threshold that was fixed beforehand (metric='rate_at_threshold'); that of "
        f"{name!r} comes from the rows, and its uncertainty must count": (
            method == "exact" and not measure.is_rate
        ),
        "needs independent rows, not groups": (
            method in ("exact", "conservative") and study.group is not None
        ),
        "counts rows and takes no sample_weight": method == "conservative" and weighted,
        f"is for 'tpr_at_fpr', got {name!r}": method == "conservative" and name != "tpr_at_fpr",
    }
    return next((reason for reason, holds in against.items() if holds), "")


def _best(study: Study) -> str:
    if study.sampling == "queries":
        return "delong"
    if study.measure.at_vertices is not None:
        return "simultaneous"
    if study.measure.is_rate and study.group is None:
        return "exact"
    if _has_two_rates(study):
        return "wilson"
    if _effects_suffice(study):
        return "influence"
    return "wilson" if study.measure.is_modelled else "bootstrap"


def _best_of_difference(study: Study) -> str:
    if study.sampling == "queries":
        return "delong"
    if study.measure.region is None:
        return "influence" if _effects_suffice(study) else "bootstrap"
    enough = min(study.deciding()) >= _FEWEST_FOR_NORMAL
    is_large = study.samples[0].n_rows >= _ROWS_FOR_NORMAL and enough
    return "delong" if is_large or study.group is not None else "bootstrap"
