"""Segmentation losses: the cost of a segment, and the compiled search for the best segments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_choice, check_positive_number
from aucuba._base._warnings import warn_user

LOSS_NAMES = ("l2", "poisson", "variance")

_UNIT = np.finfo(np.float64).eps
# Default floor of the variance, as a fraction of the signal's mean square.
_VARIANCE_FLOOR = 1e-8


@dataclass(frozen=True)
class Statistics:
    """Summary of a signal for the searches in ``_loops.py``.

    ``mass`` and ``total`` are cumulative, from 0; the parameter of a segment lies in [low, high].
    """

    mass: FloatArray
    total: FloatArray
    low: float
    high: float


class Loss(ABC):
    """The loss of one segment with its best parameter, and of a segmentation."""

    @abstractmethod
    def statistics(self, y: FloatArray, weight: FloatArray) -> Statistics:
        """Summarise a signal, or raise an error if the loss is not defined for it."""

    @abstractmethod
    def segment_losses(self, mass: FloatArray, total: FloatArray, values: Statistics) -> FloatArray:
        """Return the losses of segments, up to a term that no segmentation changes."""

    @abstractmethod
    def evaluate(self, y: FloatArray, weight: FloatArray, changepoints: IntArray) -> float:
        """Compute the loss of a segmentation segment by segment."""

    @abstractmethod
    def rounding(self, losses: FloatArray, size: int, y: FloatArray, weight: FloatArray) -> float:
        """Bound the rounding error of a difference of losses, for the model in row ``size``."""

    @abstractmethod
    def resolution(self, y: FloatArray, weight: FloatArray) -> float:
        """Bound the differences of losses that the running sums of the search cannot resolve."""

    @abstractmethod
    def search(self) -> Any:
        """Return the compiled search of the loss; imports numba."""

    @abstractmethod
    def criterion(self, columns: FloatArray, weight: FloatArray) -> float:
        """Return the penalty per segment of Schwarz's criterion for the columns together."""


class SquaredLoss(Loss):
    """``sum w (y - m)^2``."""

    def statistics(self, y: FloatArray, weight: FloatArray) -> Statistics:
        with np.errstate(over="ignore", invalid="ignore"):
            # Centring keeps the running sums small and their differences exact.
            centred = y - np.average(y, weights=weight)
            total = _cumulative(weight * centred)
            energy = float(np.sum(weight * centred**2))
        if not np.isfinite(total[-1] + energy):
            raise ValueError(
                f"The values of the signal are too large, up to {np.abs(y).max():.3g}: their sum of "
                "squares overflows. Divide the signal by its standard deviation."
            )
        low, high = float(centred.min()), float(centred.max())
        # A constant signal still needs an interval of means to compare candidates on.
        return Statistics(_cumulative(weight), total, low, high if high > low else low + 1.0)

    def segment_losses(self, mass: FloatArray, total: FloatArray, values: Statistics) -> FloatArray:
        return -(total**2) / mass

    def evaluate(self, y: FloatArray, weight: FloatArray, changepoints: IntArray) -> float:
        starts, length = _segments(y, changepoints)
        mean = np.add.reduceat(weight * y, starts) / np.add.reduceat(weight, starts)
        return float(np.sum(weight * (y - np.repeat(mean, length)) ** 2))

    def rounding(self, losses: FloatArray, size: int, y: FloatArray, weight: FloatArray) -> float:
        # The rounding error of a sum of squares is proportional to it.
        return float(4 * _UNIT * losses[size - 1]) + self._floor(y, weight)

    def resolution(self, y: FloatArray, weight: FloatArray) -> float:
        mean = np.average(y, weights=weight)
        return float(4 * _UNIT * np.sum(weight * (y - mean) ** 2)) + self._floor(y, weight)

    def _floor(self, y: FloatArray, weight: FloatArray) -> float:
        """Bound the loss that rounding errors of the mean leave in a constant segment."""
        return float(weight.sum() * (4 * _UNIT * np.abs(y).max()) ** 2) or np.finfo(np.float64).tiny

    def search(self) -> Any:
        from aucuba.changepoint._loops import search_square

        return search_square

    def criterion(self, columns: FloatArray, weight: FloatArray) -> float:
        if np.any(weight != 1.0):
            raise ValueError(
                "The noise of weighted samples is unknown, so the number of segments cannot be chosen. "
                "Give max_segments, or a penalty to segment_penalty."
            )
        # A change affects a single difference of neighbours, and so not their median. For normal noise
        # the median of their absolute values is 0.6745 sqrt(2) standard deviations.
        steps = np.abs(np.diff(columns, axis=1))
        spread = np.median(steps, axis=1) / (0.6744897501960817 * np.sqrt(2)) if steps.size else 0.0
        noise = np.square(np.atleast_1d(spread))
        if not noise.all() and steps.any():
            column = int(np.argmin(noise))
            warn_user(
                f"{np.mean(steps[column] == 0):.0%} of the neighbouring samples are equal, so the "
                "noise is taken as 0 and every change of value counts. Give max_segments, or a "
                "penalty to segment_penalty."
            )
        return float((noise.sum() + noise.max()) * np.log(columns.shape[1]))


class _LogLoss(Loss):
    """Losses of the form ``mass m - total log(m)``.

    ``deviance_share`` is the loss divided by minus two log-likelihoods, for Schwarz's criterion.
    """

    deviance_share: ClassVar[float]

    def segment_losses(self, mass: FloatArray, total: FloatArray, values: Statistics) -> FloatArray:
        with np.errstate(divide="ignore"):
            m = np.clip(total / mass, values.low, values.high)
        return mass * m - total * np.log(np.where(total > 0, m, 1.0))

    def rounding(self, losses: FloatArray, size: int, y: FloatArray, weight: FloatArray) -> float:
        # Terms of both signs cancel, so the error is proportional to the sum of their magnitudes.
        return float(4 * _UNIT * (abs(losses[0]) + weight.sum()))

    def resolution(self, y: FloatArray, weight: FloatArray) -> float:
        whole = self.evaluate(y, weight, np.zeros(0, dtype=np.intp))
        return float(4 * _UNIT * (abs(whole) + weight.sum()))

    def search(self) -> Any:
        from aucuba.changepoint._loops import search_log

        return search_log

    def criterion(self, columns: FloatArray, weight: FloatArray) -> float:
        return float(self.deviance_share * (len(columns) + 1) * np.log(weight.sum()))


class PoissonLoss(_LogLoss):
    """``sum w (m - y log m)`` of counts."""

    deviance_share = 0.5

    def statistics(self, y: FloatArray, weight: FloatArray) -> Statistics:
        if y.min() < 0:
            raise ValueError(
                f"The Poisson loss needs non-negative values, got {y.min()} at sample "
                f"{int(y.argmin())}."
            )
        low, high = float(y.min()), float(y.max())
        high = high if high > low else low + 1.0
        return Statistics(_cumulative(weight), _cumulative(weight * y), low, high)

    def evaluate(self, y: FloatArray, weight: FloatArray, changepoints: IntArray) -> float:
        starts, _ = _segments(y, changepoints)
        total, mass = np.add.reduceat(weight * y, starts), np.add.reduceat(weight, starts)
        rate = np.where(total > 0, total / mass, 1.0)
        return float(np.sum(total - total * np.log(rate)))


class VarianceLoss(_LogLoss):
    """``sum w log v + w y^2 / v`` of a signal of known mean 0, for variances from the floor on.

    With ``m = 1 / v`` it is ``S m - n log(m)``: the roles of mass and total are exchanged.
    """

    deviance_share = 1.0

    def __init__(self, floor: float | None) -> None:
        self.floor = None if floor is None else check_positive_number(floor, "variance_floor")

    def _floor(self, y: FloatArray, weight: FloatArray) -> float:
        if self.floor is not None:
            return self.floor
        # Any floor gives a signal of zeros one segment.
        return _VARIANCE_FLOOR * float(np.average(y**2, weights=weight)) or 1.0

    def statistics(self, y: FloatArray, weight: FloatArray) -> Statistics:
        with np.errstate(over="ignore"):
            unit = float(np.average(y**2, weights=weight)) or 1.0
        if not np.isfinite(unit):
            raise ValueError(
                f"The values of the signal are too large, up to {np.abs(y).max():.3g}: their squares "
                "overflow. Divide the signal by its standard deviation."
            )
        square, floor = y**2 / unit, self._floor(y, weight) / unit
        low, high = 1 / max(square.max(), floor), 1 / max(square.min(), floor)
        low = float(low if low < high else high / 2)
        return Statistics(_cumulative(weight * square), _cumulative(weight), low, float(high))

    def evaluate(self, y: FloatArray, weight: FloatArray, changepoints: IntArray) -> float:
        starts, _ = _segments(y, changepoints)
        square, mass = np.add.reduceat(weight * y**2, starts), np.add.reduceat(weight, starts)
        variance = np.maximum(square / mass, self._floor(y, weight))
        return float(np.sum(mass * np.log(variance) + square / variance))


def make_loss(name: Any, variance_floor: Any = None) -> Loss:
    """Return the loss of a user's choice."""
    check_choice(name, "loss", LOSS_NAMES)
    if name == "variance":
        return VarianceLoss(variance_floor)
    if variance_floor is not None:
        raise ValueError(
            f"variance_floor applies only to loss='variance', not to {name!r}; leave it out."
        )
    return SquaredLoss() if name == "l2" else PoissonLoss()


def _cumulative(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])


def _segments(y: FloatArray, changepoints: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first samples and lengths of the segments."""
    starts = np.concatenate([[0], changepoints]).astype(np.intp)
    return starts, np.diff(np.append(starts, y.size))
