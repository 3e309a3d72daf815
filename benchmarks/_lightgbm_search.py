"""LightGBM tuned by random search for as long as another model takes: what a patient user would do."""

from __future__ import annotations

import time

import lightgbm
import numpy as np

from benchmarks.any_model_quality import cross_validated, with_rounds

# Lower and upper limits, drawn evenly on the logarithmic scale.
_LOGARITHMIC = {
    "learning_rate": (0.02, 0.2),
    "num_leaves": (4, 128),
    "min_child_samples": (3, 100),
    "reg_alpha": (1e-3, 10.0),
    "reg_lambda": (1e-3, 10.0),
}
_EVEN = {"colsample_bytree": (0.3, 1.0), "subsample": (0.5, 1.0)}
_WHOLE = ("num_leaves", "min_child_samples")


class SearchedLightGBM:
    """The configuration of best five-fold log-loss among those tried in some processor seconds.

    The first is LightGBM with rounds by log-loss, as it stands alone in the tables; it is always
    completed. A later one that is under way when the time is over counts with the rounds it has.
    The fit of the winner on all rows comes on top.
    """

    def __init__(self, seconds, split):
        self.seconds, self.split = seconds, split

    def fit(self, X, y):
        end = time.process_time() + self.seconds
        rng = np.random.default_rng(self.split)
        tried = [(*cross_validated(X, y, self.split, {}), {})]
        while time.process_time() < end:
            params = _draw(rng)
            found = cross_validated(X, y, self.split, params, [_deadline(end)])
            tried.append((*found, params))
        _, rounds, params = min(tried, key=lambda one: one[0])
        self.n_tried_, self.params_ = len(tried), params
        self.model_ = with_rounds(rounds, params).fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def _draw(rng):
    params = {name: np.exp(rng.uniform(*np.log(ends))) for name, ends in _LOGARITHMIC.items()}
    params |= {name: rng.uniform(*ends) for name, ends in _EVEN.items()}
    params |= {name: round(params[name]) for name in _WHOLE}
    return params | {"subsample_freq": 1}


def _deadline(end):
    """Stop when the time is over, with the best rounds until then."""

    def stop(env):
        if time.process_time() >= end:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    return stop
