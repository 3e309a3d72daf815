"""Shared set-up of the tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
