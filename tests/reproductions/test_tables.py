"""Committed result tables: each names a command that would make it again, its machine and its date."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.__main__ import benchmarks
from reproductions.__main__ import names
from reproductions.tables import markdown_table, read_signature, signature, write_signed

ROOT = Path(__file__).parents[2]
TABLES = sorted(ROOT.glob("*/results/*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Distributions whose modules have another name.
MODULE_OF = {"scikit-learn": "sklearn", "dlib-bin": "dlib", "aucuba": "aucuba"}
# Packages that join where someone has installed them: a rival no release of which suits all of ours,
# one that is of use beside a graphics card alone, and one whose licence (GPL) is not ours.
BY_HAND = {"cupy", "libauc", "maxflow"}
# The extras that the Makefile installs before each command.
INSTALLED = {"benchmarks": ("plot", "test", "bench"), "reproductions": ("plot", "test")}


def requirements(extra):
    """Modules that an extra installs, those of the extras it names included."""
    found = set()
    for entry in PROJECT["optional-dependencies"][extra]:
        nested = re.fullmatch(r"aucuba\[(.+)\]", entry)
        if nested:
            for name in nested[1].split(","):
                found |= requirements(name)
        else:
            found.add(module_of(entry))
    return found


def module_of(requirement):
    name = re.match(r"[\w-]+", requirement)[0]
    return MODULE_OF.get(name, name.replace("-", "_"))


def imports(path, seen):
    """Outside modules that a script imports, those of its neighbours in the repository included."""
    if path in seen:
        return set()
    seen.add(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for module in modules:
            top = module.partition(".")[0]
            if top not in ("benchmarks", "reproductions", "tests"):
                found.add(top)
                continue
            inside = ROOT.joinpath(*module.split("."))
            for near in (inside.with_suffix(".py"), inside / "__init__.py"):
                if near.exists():
                    found |= imports(near, seen)
    return found


def test_there_are_tables():
    assert len(TABLES) > 15


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_the_command_of_every_table_would_run(table):
    made = read_signature(table.read_text(encoding="utf-8"))
    assert made is not None, f"{table} has no line 'Written by `python -m ...`; machine; date.'"
    assert made["package"] == table.parents[1].name
    assert made["name"] == table.stem
    known = {"benchmarks": benchmarks(), "reproductions": names()}[made["package"]]
    assert made["name"] in known
    folder = ROOT / made["package"]
    script = folder / "experiments" if made["package"] == "reproductions" else folder
    needed = imports(script / f"{table.stem}.py", set()) - {"aucuba"} - BY_HAND
    outside = needed - set(sys.stdlib_module_names)
    installed = {module_of(entry) for entry in PROJECT["dependencies"]}
    for extra in INSTALLED[made["package"]]:
        installed |= requirements(extra)
    assert outside <= installed, f"declare {outside - installed} in an extra of pyproject.toml"


def test_every_experiment_has_its_table_and_every_picture_its_experiment():
    results = ROOT / "reproductions" / "results"
    assert {path.stem for path in results.glob("*.md")} == set(names())
    assert {path.stem for path in results.glob("*.*")} <= set(names())


def test_the_makefile_runs_both():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(BIN)/python -m benchmarks\n" in text
    assert "$(BIN)/python -m reproductions --all\n" in text
    for package, extras in INSTALLED.items():
        target = {"benchmarks": "bench", "reproductions": "reproduce"}[package]
        assert f"\n{target}: .venv/.{extras[-1]} " in text


def test_a_signature_is_read_back(tmp_path):
    text = markdown_table(["a", "b"], [["x", 1]])
    assert text == "| a | b |\n| --- | ---: |\n| x | 1 |"
    write_signed(tmp_path / "deep" / "letters.md", text, "reproductions letters --quick")
    written = (tmp_path / "deep" / "letters.md").read_text(encoding="utf-8")
    assert written.startswith(text + "\n\nWritten by ")
    made = read_signature(written)
    assert (made["package"], made["name"], made["options"]) == (
        "reproductions",
        "letters",
        " --quick",
    )
    assert "Python" in made["machine"]
    assert read_signature(text) is None
    assert read_signature(signature("elsewhere letters")) is None
