"""Shared pieces: where the reference tables are."""

from __future__ import annotations

import pytest

from aucuba.datasets import data_home


@pytest.fixture(scope="session")
def reference():
    """The data directory, or a skip that says what is missing."""
    home = data_home()
    if not (home / "penaltylearning_reference").is_dir():
        pytest.skip(f"no reference tables in {home}; set AUCUBA_DATA")
    pytest.importorskip("pandas")
    return home
