"""The log-loss of log-odds, wherever they live."""

from __future__ import annotations

from aucuba._base._arrays import Vector, arrays_of


def log_loss(log_odds: Vector, positive: Vector, weight: Vector | None) -> float:
    """Compute the mean log-loss, rows counted by weight."""
    arrays = arrays_of(log_odds)
    losses = arrays.log1p_exp(arrays.where(positive, -log_odds, log_odds))
    if weight is None:
        return float(losses.mean())
    return float((losses * weight).sum() / weight.sum())


def log_loss_terms(
    log_odds: Vector, positive: Vector, weight: Vector
) -> tuple[float, Vector, Vector]:
    """Compute the log-loss summed by weight, and its first and second derivative by row."""
    arrays = arrays_of(log_odds)
    probability = arrays.expit(log_odds)
    losses = arrays.log1p_exp(arrays.where(positive, -log_odds, log_odds))
    residual = weight * (probability - arrays.vector(positive))
    return float(weight @ losses), residual, weight * probability * (1.0 - probability)
