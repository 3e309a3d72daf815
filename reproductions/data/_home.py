"""Where data sets live on this machine."""

from __future__ import annotations

import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path

# What readers raise on a file that is cut off, or is not what its name says.
_BROKEN = (
    BadGzipFile,
    EOFError,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


def data_home() -> Path:
    """Return the user's data directory: ``$AUCUBA_DATA``, else a folder in the platform's cache."""
    chosen = os.environ.get("AUCUBA_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return cache / "aucuba"


def data_file(*parts: str) -> Path:
    """Return the path of one data file, with one clear error where it is missing."""
    path = data_home().joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(
            f"No data file {Path(*parts)} in the data directory {data_home()}. Put the file there, or "
            "point the environment variable AUCUBA_DATA at the directory that holds it."
        )
    return path


@contextmanager
def reading(path: Path) -> Iterator[Path]:
    """Turn whatever shows that a data file is broken into one error that names it."""
    try:
        yield path
    except _BROKEN as problem:
        seen = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise ValueError(
            f"The data file {path} is cut off or broken ({seen}). Fetch it again."
        ) from problem
