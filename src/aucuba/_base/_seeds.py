"""Seeds: one draw per fit, handed to everything random in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def draw_seed(random_state: Any) -> int:
    """Draw one seed for all random parts of a fit."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def with_fixed_seed(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` that is None, here and in nested estimators.

    Models are then the same wherever they are fitted, in this process or in another.
    """
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**unset)
