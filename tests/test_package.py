"""The package as a whole: import, typing marker, version."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import aucuba

ROOT = Path(__file__).parents[1]


def in_subprocess(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()


def test_import_is_light():
    heavy = ("numba", "matplotlib", "pandas", "torch", "dask", "typer", "skops")
    code = f"import sys, aucuba; print([m for m in {heavy!r} if m in sys.modules])"
    without = f"import sys, sklearn; print([m for m in {heavy!r} if m in sys.modules])"
    assert in_subprocess(code) == in_subprocess(without)


def test_version_and_typing_marker():
    assert importlib.metadata.version("aucuba") == aucuba.__version__
    assert (Path(aucuba.__file__).parent / "py.typed").exists()


def test_every_public_name_exists():
    for name in aucuba.__all__:
        assert hasattr(aucuba, name)
