r"""Standard errors of weighted means, under either meaning of a weight.

A statistic with influence :math:`c_i` of row i has the variance, summed over the two classes,

.. math::
    \frac{\sum_i w_i\, c_i^2}{W^2} \ \text{(replication)}, \qquad
    \frac{\sum_i (w_i c_i)^2}{W^2} \ \text{(sampling)}, \qquad W = \sum_i w_i,

with the influences centred within the class. *Replication*: a row of weight k stands for k independent
rows; estimators use it, since their fits must not tell weights from copies. *Sampling*: a row is one
independent unit whatever its weight, as in a bootstrap that draws rows; metrics and reports use it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._roc._sample import Sample

WeightMeaning = Literal["replication", "sampling"]


def standard_error(sample: Sample, influence: FloatArray, *, meaning: WeightMeaning) -> float:
    """Compute the standard error of a statistic of two classes from its influences.

    Parameters
    ----------
    sample : Sample
        Class and weight of every row.
    influence : ndarray of shape (n_rows,)
        Influence of every row on the statistic, up to a constant per class.
    meaning : {"replication", "sampling"}
        What a weight means; see above.
    """
    # Only relations of weights matter to a unit that is drawn whole; sums stay far from overflow.
    weight = sample.weights if meaning == "replication" else sample.weights / sample.weights.mean()
    variance = 0.0
    for rows in (sample.positive, ~sample.positive):
        total = weight[rows].sum()
        part = weight[rows] / total
        centred = influence[rows] - part @ influence[rows]
        if meaning == "replication":
            variance += float(part @ centred**2 / total)
        else:
            variance += float(np.sum((part * centred) ** 2))
    return float(np.sqrt(variance))


def effective_rows(weight: FloatArray) -> float:
    """Number of equally weighted rows that are as informative: ``sum(w)^2 / sum(w^2)``."""
    relative = weight / weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2))
