"""The best segmentation for one penalty."""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba.changepoint._losses import Loss, make_loss
from aucuba.changepoint._segmentation import Segmentation, envelope_room
from aucuba.changepoint._signals import check_signal, check_weights, sample_positions

# Of segmentations whose costs differ by less than this fraction of the penalties paid, or by rounding,
# the one with fewer segments is taken.
_TIE = 1e-10


def segment_penalty(
    signal: ArrayLike,
    penalty: float,
    *,
    loss: str = "l2",
    weights: ArrayLike | None = None,
    variance_floor: float | None = None,
    positions: ArrayLike | None = None,
) -> Segmentation:
    r"""Find the best segmentation for one penalty per segment.

    .. math::
        \min_k \; L_k + \lambda k

    with :math:`L_k` the least loss of k segments, as in `segment`. The minimum over all segmentations
    of any size, by functional pruning (FPOP): time is near linear in the number of samples, whatever
    the number of segments. Of equally good segmentations one with the fewest segments is returned.

    Parameters
    ----------
    signal, loss, weights, variance_floor, positions
        As in `segment`.
    penalty : float
        :math:`\lambda`, what every segment costs; 0 or more.

    Returns
    -------
    Segmentation
        With one model: ``changepoints[0]``, ``losses[0]`` (without penalties), ``sizes[0]``.

    See Also
    --------
    segment : The best segmentations of every size.

    Notes
    -----
    Maidstone, Hocking, Rigaill, Fearnhead, "On optimal multiple changepoint algorithms for large data"
    (2017).

    Examples
    --------
    >>> from aucuba.changepoint import segment_penalty
    >>> found = segment_penalty([1, 1, 1, 5, 5, 2, 2, 2], 2.0)
    >>> found.changepoints[0]
    array([3, 5])
    >>> segment_penalty([3, 0, 0, 8], 1.0, loss="poisson", weights=[5, 2, 4, 5]).changepoints[0]
    array([1, 3])
    """
    cost = make_loss(loss, variance_floor)
    y = check_signal(signal)
    if not isinstance(penalty, int | float | np.number) or not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be a finite number, at least 0, got {penalty!r}.")
    where = sample_positions(positions, y.size)
    return one_penalty(y, check_weights(weights, y.size), cost, float(penalty), where)


def one_penalty(
    y: FloatArray, weight: FloatArray, loss: Loss, penalty: float, positions: FloatArray
) -> Segmentation:
    """`segment_penalty` on validated input."""
    values = loss.statistics(y, weight)
    best, last = np.zeros(y.size + 1), np.zeros(y.size + 1, np.int32)
    paid = penalty + max(_TIE * penalty, loss.resolution(y, weight))
    loss.search()(
        *(1, values.mass, values.total, values.low, values.high, paid),
        *(best, best, last, *envelope_room(y.size), 0),
    )
    changes, end = [], int(last[-1])
    while end > 0:
        changes.append(end)
        end = int(last[end])
    first = np.array(changes[::-1], dtype=np.intp)
    losses = np.array([loss.evaluate(y, weight, first)])
    return Segmentation(losses, np.array([first.size + 1]), [first], positions)
