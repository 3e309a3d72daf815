"""The package as a whole: import, typing marker, version."""

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import aucuba

ROOT = Path(__file__).parents[1]


def in_subprocess(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()


FAMILIES = [
    "aum",
    "changepoint",
    "design",
    "ensemble",
    "linear",
    "metrics",
    "objectives",
    "risks",
    "solvers",
    "structured",
    "threshold",
]


def test_import_is_light():
    heavy = ("numba", "matplotlib", "pandas", "torch", "dask", "typer", "skops", "sklearn")
    code = f"import sys, aucuba; print([m for m in {heavy!r} if m in sys.modules])"
    assert in_subprocess(code) == "[]"


def test_no_family_imports_numba_or_matplotlib_before_it_needs_them():
    code = (
        f"import sys, importlib; [importlib.import_module('aucuba.' + f) for f in {FAMILIES!r}]; "
        "print([m for m in ('numba', 'matplotlib', 'torch') if m in sys.modules])"
    )
    assert in_subprocess(code) == "[]"


def test_names_are_found_lazily_and_unknown_ones_are_errors():
    assert aucuba.aum.ErrorFunctions is importlib.import_module("aucuba.aum").ErrorFunctions
    assert set(aucuba.__all__) <= set(dir(aucuba))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = aucuba.nothing


def test_version_and_typing_marker():
    # Not the installed metadata: an editable install keeps those of its day.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == aucuba.__version__
    assert (Path(aucuba.__file__).parent / "py.typed").exists()


def test_every_public_name_exists():
    for name in aucuba.__all__:
        assert hasattr(aucuba, name)


def test_citations_are_whole_bibtex_entries():
    entries = aucuba.citation().split("\n\n")
    assert len(entries) == 8
    for entry in entries:
        assert entry.startswith("@")
        assert entry.count("{") == entry.count("}")
        for part in ("title = ", "author = ", "year = "):
            assert part in entry
    assert aucuba.citation("aum", "bundle") == f"{entries[3]}\n\n{entries[7]}"
    with pytest.raises(ValueError, match=r"method must be one of 'partial_auc', .*, got 'svm'"):
        aucuba.citation("svm")


def test_the_citation_names_this_version():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {aucuba.__version__}" in lines


@pytest.mark.parametrize("family", FAMILIES)
def test_every_public_class_and_function_is_in_the_reference(family):
    module = importlib.import_module(f"aucuba.{family}")
    listed = {
        line.removeprefix(".. py:class::").partition("(")[0].strip()
        for page in (ROOT / "docs" / "api").glob("*.rst")
        for line in page.read_text(encoding="utf-8").splitlines()
    }
    for name in module.__all__:
        try:
            member = getattr(module, name)
        except ImportError:
            # A class whose extra is not installed is documented all the same.
            member = type
        if inspect.isclass(member) or inspect.isfunction(member):
            assert name in listed, f"add aucuba.{family}.{name} to docs/api"


def test_the_files_that_contributors_are_sent_to_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|docs|benchmarks|reproductions)/[\w/.]+)`", text))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    packages = {path.parent.name for path in (ROOT / "src" / "aucuba").glob("*/__init__.py")}
    assert [name for name in sorted(packages) if f"{name}/" not in text] == []
