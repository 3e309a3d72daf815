import sys
from pathlib import Path

import pytest

from reproductions.data import data_file, data_home


def test_the_variable_names_the_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    assert data_home() == tmp_path
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "rows.csv").write_text("1\n")
    assert data_file("one", "rows.csv") == tmp_path / "one" / "rows.csv"


def test_a_missing_file_says_where_to_put_it(monkeypatch, tmp_path):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"No data file .*rows.csv in the data directory .*"
    ):
        data_file("one", "rows.csv")


@pytest.mark.parametrize(
    ("platform", "variable", "folder"),
    [
        ("linux", "XDG_CACHE_HOME", "."),
        ("win32", "LOCALAPPDATA", "."),
        ("darwin", "HOME", "Library/Caches"),
    ],
)
def test_otherwise_the_cache_of_the_platform(monkeypatch, tmp_path, platform, variable, folder):
    monkeypatch.delenv("AUCUBA_DATA", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert data_home() == Path(tmp_path) / folder / "aucuba"
