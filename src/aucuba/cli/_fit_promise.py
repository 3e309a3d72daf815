"""Decisions that ``aucuba fit`` sets on a held-out half: a threshold, a triage or a selection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from aucuba._base._validation import check_choice, check_fraction
from aucuba._rows._sample import Sample
from aucuba.cli._command_options import FitOptions
from aucuba.cli._options import read_shares, spelled_as_option
from aucuba.threshold import (
    AlertBudgetClassifier,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    TriageClassifier,
)

_PROMISES = {
    "fpr": FixedFPRClassifier,
    "tpr": FixedTPRClassifier,
    "precision": FixedPrecisionClassifier,
    "alerts": AlertBudgetClassifier,
}
# Rates of one class, for which the halves are stratified. The other rates depend on the prevalence,
# which random halves do not fix.
_STRATIFIED = ("fpr", "tpr")
_CONFIDENCE = 0.95
_FOR_PREVALENCE = "is for --promise precision= and --triage with ppv or npv"
# By the name that --triage takes; ``ppv`` and ``npv`` depend on the prevalence.
_OF_TRIAGE = {"fpr": "max_fpr", "tpr": "min_tpr", "ppv": "min_ppv", "npv": "min_npv"}


@dataclass(frozen=True)
class Promised:
    """A decision set on a held-out half: a threshold, two thresholds, or a selection.

    ``option`` is the option that asked for it.
    """

    option: str
    kind: Any
    params: dict[str, Any]
    stratified: bool

    @classmethod
    def from_options(cls, options: FitOptions) -> Promised | None:
        """Read ``--promise fpr=0.01``, ``--triage fpr=0.01,tpr=0.95`` or ``--max-fdr 0.1``."""
        asked = [name for name in ("promise", "triage", "max_fdr") if name in options.given]
        if not asked:
            options.refuse("is for --promise, --triage and --max-fdr", "confidence")
            options.refuse(_FOR_PREVALENCE, "target_prevalence")
            return None
        option = spelled_as_option(asked[0])
        if len(asked) > 1:
            raise ValueError(
                f"{option} and {spelled_as_option(asked[1])} decide in different ways; give only one."
            )
        confidence = options.confidence
        if confidence is not None:
            check_fraction(confidence, "--confidence", low_open=True, high_open=True)
        target = read_shares(options.target_prevalence)
        if options.max_fdr is not None:
            options.refuse(_FOR_PREVALENCE, "target_prevalence")
            max_fdr = check_fraction(options.max_fdr, option, low_open=True, high_open=True)
            params = {"max_fdr": max_fdr, "confidence": confidence}
            return cls(option, FalseDiscoverySelector, params, True)
        sure = {"confidence": _CONFIDENCE if confidence is None else confidence}
        if options.triage is not None:
            limits = dict[str, float]()
            for one in options.triage.split(","):
                name, limit = _limit(one, option, _OF_TRIAGE)
                if name in limits:
                    raise ValueError(f"{option} names {name} twice; give one limit.")
                limits[name] = limit
            named = {_OF_TRIAGE[name]: limit for name, limit in limits.items()}
            depends = bool({"ppv", "npv"} & {*limits})
            if not depends:
                options.refuse(_FOR_PREVALENCE, "target_prevalence")
            several = {**named, **sure, "target_prevalence": target}
            return cls(option, TriageClassifier, several, not depends)
        name, limit = _limit(options.promise or "", option, _PROMISES)
        kind: Any = _PROMISES[name]
        if name != "precision":
            options.refuse(_FOR_PREVALENCE, "target_prevalence")
        prevalence = {} if target is None else {"target_prevalence": target}
        kept = partial(_of_rate, kind, limit, **prevalence)
        return cls(option, kept, sure, name in _STRATIFIED)

    def check_rows(self, rows: Sample) -> None:
        """Refuse rows whose structure the decisions would not keep."""
        if rows.query is not None:
            raise ValueError(f"{self.option} does not support --qid; leave one of them out.")
        if rows.group is not None and self.kind is FalseDiscoverySelector:
            raise ValueError(
                "--max-fdr selects rows, and the rows of a group depend on each other. Leave --groups "
                "out if they do not, or select whole groups from Python: "
                "FalseDiscoverySelector(...).fit(X, y, groups=...)."
            )

    def around(self, model: Any, random_state: int) -> Any:
        """Wrap a fitted classifier; the wrapper is not yet fitted to held-out rows."""
        return self.kind(model, cv="prefit", random_state=random_state, **self.params)


def _of_rate(kind: Any, limit: float, model: Any, **params: Any) -> Any:
    # Every class has its limit as its second parameter, under a different name.
    return kind(model, limit, **params)


def _limit(text: str, option: str, known: dict[str, Any]) -> tuple[str, float]:
    """Read ``fpr=0.01``; ``recall`` is ``tpr``, as in ``--at``."""
    name, equals, value = (part.strip() for part in text.partition("="))
    name = "tpr" if name == "recall" and "tpr" in known else name
    if equals:
        check_choice(name, option, tuple(known))
    try:
        limit = float(value)
    except ValueError:
        raise ValueError(
            f"{option} must read NAME=LIMIT, such as fpr=0.01 for 1 %, got {text!r}."
        ) from None
    return name, check_fraction(limit, option, low_open=True, high_open=True)
