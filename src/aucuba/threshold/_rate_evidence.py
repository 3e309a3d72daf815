"""The evidence that a monitor has gathered about one rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba.threshold._sequences import (
    CHANGES,
    advance_detector,
    advance_detector_by_counts,
    log_average,
    log_evidence_above,
    log_evidence_below,
)

# Up to this many rows the detector's recursion is faster than its closed form.
_FEW = 4
# Sums of many fractions, and logarithms written as text, agree to this.
_ROUNDING = 1e-6


def _nothing() -> list[float]:
    return [0.0, 0.0]


def _no_detector() -> FloatArray:
    return np.full(len(CHANGES), -np.inf)


@dataclass
class RateEvidence:
    """Counts behind "ok" and "broken", and the detector of a change.

    Parameters
    ----------
    allowed : float
        The highest mean loss.
    confidence : float
    window : float or None
        Length of a run of "ok", in days or counted rows.
    joining : float or None
        Days per cohort if the detector counts days, None if it counts rows.
    known, for_ok, for_broken : list of float
        Rows counted and rows against the limit: of labelled rows, and with unlabelled rows counted in
        the way least favourable to each statement. ``for_ok`` starts again with every run.
    log_evidence : float
        The largest evidence for "broken" so far.
    log_detector : float
        The largest average of the detector's states since it was cleared.
    detector : ndarray
        Logarithms of the states.
    run : int
        Number of the run of "ok".
    since : float
        The day, or the counted row, at which the run starts.
    """

    allowed: float
    confidence: float
    window: float | None = None
    joining: float | None = None
    known: list[float] = field(default_factory=_nothing)
    for_ok: list[float] = field(default_factory=_nothing)
    for_broken: list[float] = field(default_factory=_nothing)
    log_evidence: float = 0.0
    log_detector: float = -np.inf
    detector: FloatArray = field(default_factory=_no_detector)
    run: int = 1
    since: float = 0.0

    @property
    def is_broken(self) -> bool:
        return self.log_evidence >= -math.log1p(-self.confidence)

    @property
    def is_ok(self) -> bool:
        n, s = self.for_ok
        return bool(log_evidence_below(n, s, self.allowed) >= -np.log(self.ok_error(self.run)))

    def ok_error(self, run: int) -> float:
        """Return a run's part of the error of "ok"; all parts add up to it."""
        error = 1.0 - self.confidence
        return error if self.window is None else error / (run * (run + 1))

    def restart_if_due(self, now: float) -> None:
        """Start a new run of "ok" once a window has passed."""
        if self.window is not None and now - self.since >= self.window:
            self.run, self.since, self.for_ok = self.run + 1, float(now), [0.0, 0.0]
            self.clear_detector()

    def clear_detector(self) -> None:
        self.log_detector, self.detector = -np.inf, _no_detector()

    def add_losses(self, losses: FloatArray, share: FloatArray | None = None) -> None:
        """Count single rows in their order, each as its ``share`` of a row."""
        if share is not None:
            self._add_shares(losses, share)
            return
        # Rows with less than the allowed loss lower the evidence, so it can peak only at the others.
        (peaks,) = (losses > self.allowed).nonzero()
        if peaks.size:
            n, s = self.for_broken
            self._note(n + 1.0 + peaks, s + np.cumsum(losses)[peaks])
        few = losses.tolist() if losses.size <= _FEW else []
        if few and all(loss in (0.0, 1.0) for loss in few):
            for loss in few:
                self._detect(1.0, loss, 1.0)
        else:
            self.detector, averages = advance_detector(self.detector, losses, self.allowed)
            self.log_detector = max(self.log_detector, float(averages.max()))
        total = float(losses.sum())
        for pair in (self.known, self.for_ok, self.for_broken):
            _add(pair, losses.size, total)

    def _add_shares(self, losses: FloatArray, share: FloatArray) -> None:
        n, s = self.for_broken
        self._note(n + np.cumsum(share), s + np.cumsum(share * losses))
        self.detector, averages = advance_detector(self.detector, losses, self.allowed, share)
        self.log_detector = max(self.log_detector, float(averages.max()))
        for pair in (self.known, self.for_ok, self.for_broken):
            _add(pair, float(share.sum()), float(np.sum(share * losses)))

    def add_counts(self, known: FloatArray, ok: FloatArray, broken: FloatArray) -> None:
        """Count rows in unknown order, by their counts for the rate shown, "ok" and "broken"."""
        for pair, more in ((self.known, known), (self.for_ok, ok), (self.for_broken, broken)):
            _add(pair, *more.tolist())
        n, s = broken.tolist()
        self._note(*np.array(self.for_broken)[:, None])
        joining = n if self.joining is None else self.joining
        if joining:
            self._detect(n, s, joining)

    def add_early(self, waiting: FloatArray) -> None:
        """Look for evidence for "broken" after every waiting cohort, without counting the cohorts."""
        n, s = (np.array(self.for_broken) + np.cumsum(waiting, axis=0)).T
        self._note(n, s)

    def to_json(self) -> dict[str, Any]:
        """Convert the state to JSON's types; infinity, which JSON lacks, becomes null."""
        return {
            **{name: getattr(self, name) for name in ("known", "for_ok", "for_broken")},
            **{name: getattr(self, name) for name in ("log_evidence", "run", "since")},
            "log_detector": None if np.isinf(self.log_detector) else self.log_detector,
            "detector": [None if np.isinf(one) else one for one in self.detector.tolist()],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state, after checking that it is consistent."""
        for name in ("known", "for_ok", "for_broken"):
            pair = [_number(one, name) for one in state[name]]
            if len(pair) != 2 or not 0 <= pair[1] <= pair[0] * (1 + _ROUNDING) < np.inf:
                raise ValueError(f"impossible counts {name}={state[name]!r}")
            setattr(self, name, pair)
        for name in ("log_evidence", "since"):
            setattr(self, name, _number(state[name], name))
        self.run = state["run"]
        if isinstance(self.run, bool) or not isinstance(self.run, int) or self.run < 1:
            raise ValueError(f"run={self.run!r}")
        listed = [-np.inf if one is None else _number(one, "detector") for one in state["detector"]]
        self.detector = np.array(listed, dtype=np.float64)
        if self.detector.shape != (len(CHANGES),):
            raise ValueError(f"a detector of shape {self.detector.shape}")
        top = state["log_detector"]
        self.log_detector = -np.inf if top is None else _number(top, "log_detector")
        self._check()

    def _check(self) -> None:
        """Raise an error if the largest evidence is below that of the counts."""
        n, s = np.array(self.for_broken)
        now = float(log_evidence_above(n, s, self.allowed))
        if self.log_evidence < now - _ROUNDING or self.log_evidence < 0.0:
            raise ValueError(
                f"log_evidence={self.log_evidence} is below that of {s:g} in {n:g} rows"
            )
        if self.log_detector < float(log_average(self.detector)) - _ROUNDING:
            raise ValueError(f"log_detector={self.log_detector} is below that of its states")

    def _detect(self, n: float, s: float, joining: float) -> None:
        self.detector = advance_detector_by_counts(self.detector, n, s, self.allowed, joining)
        self.log_detector = max(self.log_detector, float(log_average(self.detector)))

    def _note(self, n: Any, s: Any) -> None:
        # If the rate is within the limit, every likelihood ratio is at most 1.
        (beyond,) = (s > n * self.allowed).nonzero()
        if beyond.size:
            evidence = log_evidence_above(n[beyond], s[beyond], self.allowed)
            self.log_evidence = max(self.log_evidence, float(evidence.max()))


def _add(pair: list[float], n: float, s: float) -> None:
    pair[0] += n
    pair[1] += s


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{name} has {value!r}")
    return float(value)
