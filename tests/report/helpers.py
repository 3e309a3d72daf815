"""A small table, and how to read a page."""

import re

import numpy as np
from sklearn.datasets import make_classification


def rng():
    return np.random.default_rng(0)


def random_scores(n=200):
    y = (rng().random(n) < 0.3).astype(int)
    return y, rng().normal(size=n) + y, rng().normal(size=n).round(1) + 0.5 * y


def small_table():
    X, y = make_classification(300, n_features=6, weights=[0.7], flip_y=0.1, random_state=0)
    return X, y, [f"column {k}" for k in range(6)]


def body_of(page, key):
    return next(section.body for section in page.sections if section.key == key)


def fact(body, name):
    return re.search(f"<dt>{re.escape(name)}</dt><dd>(.*?)</dd>", body)[1]
