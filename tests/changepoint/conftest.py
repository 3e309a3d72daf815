"""Shared pieces: where the reference tables are."""

from __future__ import annotations

import pytest

from reproductions.data import data_home
from reproductions.data.changepoints import load_chipseq, load_neuroblastoma


@pytest.fixture(scope="session")
def reference():
    """The data directory, or a skip that says what is missing."""
    home = data_home()
    if not (home / "penaltylearning_reference").is_dir():
        pytest.skip(f"no reference tables in {home}; set AUCUBA_DATA")
    pytest.importorskip("pandas")
    return home


@pytest.fixture(scope="session")
def neuroblastoma(reference):
    return load_neuroblastoma()


@pytest.fixture(scope="session")
def chipseq(reference):
    return load_chipseq()
