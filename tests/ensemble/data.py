"""Generated tables for the tests of ensembles."""

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import make_classification


def numbers(n_rows=300, seed=0):
    """A plain table with one positive in five."""
    return make_classification(
        n_rows, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=seed
    )


def blended(scores, y, shrinkage, new=None):
    """The last layer of a stack by its definition, on new scores or the same."""
    mean, sd = scores.mean(axis=0), scores.std(axis=0)
    Z = (scores - mean) / sd

    def penalised(params):
        coef, intercept = params[:-1], params[-1]
        log_odds = Z @ coef + intercept
        loss = np.logaddexp(0.0, np.where(y == 1, -log_odds, log_odds)).sum()
        spread = np.sum((coef - coef.mean()) ** 2)
        return loss + 0.5 * np.sum(coef**2) + 0.5 * shrinkage * spread

    start = np.zeros(scores.shape[1] + 1)
    found = minimize(penalised, start, method="BFGS", options={"gtol": 1e-6}).x
    return ((scores if new is None else new) - mean) / sd @ found[:-1] + found[-1]


def mixed_frame(n_rows=300, seed=0):
    """A DataFrame with numbers, missing values, strings and categories, one category rare."""
    import pandas as pd

    X, y = numbers(n_rows, seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame.loc[rng.random(n_rows) < 0.2, "b"] = np.nan
    colour = np.where(X[:, 3] > 0, "red", "blue").astype(object)
    colour[rng.random(n_rows) < 0.1] = None
    frame["colour"] = colour
    frame["size"] = pd.Categorical(np.array(["S", "M", "L"])[rng.integers(3, size=n_rows)])
    return frame, y
