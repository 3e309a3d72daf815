"""Shared set-up of the tests."""

import os
from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import HealthCheck, settings
from sklearn.utils import estimator_checks, get_tags

os.environ.setdefault("MPLBACKEND", "Agg")

# Neither the time of one example nor that of drawing it fails a test: both depend on the machine.
settings.register_profile(
    "aucuba",
    deadline=None,
    max_examples=50,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("aucuba")


if sklearn.__version__.startswith("1.6."):
    # Its checks turn three classes into two by the label of the first row, so that the shuffled and the
    # repeated rows of the weight check get different labels; 1.7 goes by the smallest label.
    enforce_tags = estimator_checks._enforce_estimator_tags_y

    def by_smallest_label(estimator, y):
        classifier = get_tags(estimator).classifier_tags
        if classifier is None or classifier.multi_class:
            return enforce_tags(estimator, y)
        return np.where(y == y.min(), y, y.min() + 1)

    estimator_checks._enforce_estimator_tags_y = by_smallest_label


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The directory of real data, or a skip where it is missing."""
    from reproductions.data import data_home

    home = data_home()
    if not home.is_dir():
        pytest.skip(
            f"real data not found in {home}; set AUCUBA_DATA to the directory that holds it"
        )
    return home
