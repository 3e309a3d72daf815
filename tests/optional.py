"""Optional packages: which are missing, which modules need them, and what to install for them."""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
# Extras whose packages neither the library nor its tests import.
_NOT_TESTED = ("docs", "bench")
# Tools that no test imports.
_TOOLS = {"mypy", "ruff", "pytest", "pytest-xdist", "hypothesis"}


def _name(requirement: str) -> str:
    """Return the name of a requirement, without versions and extras."""
    for place, letter in enumerate(requirement):
        if letter in "[<>=~! ;":
            return requirement[:place]
    return requirement


@cache
def extras() -> dict[str, str]:
    """Return the extra that brings each optional package, by import name, read from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["optional-dependencies"]
    found: dict[str, str] = {}
    # Those for users come first in the file.
    for extra in (name for name in groups if name not in _NOT_TESTED):
        for requirement in groups[extra]:
            name = _name(requirement)
            if name != "aucuba" and name not in _TOOLS:
                found.setdefault(name, extra)
    return found


def how_to_install(name: str) -> str:
    """Say which extra brings a missing package."""
    return f'{name} is not installed: pip install -e ".[{extras()[name]}]"'


def missing_packages() -> set[str]:
    """Return the optional packages that are not installed."""
    return {name for name in extras() if importlib.util.find_spec(name) is None}


def needed_at_import(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names that a module imports while it is being imported itself.

    Imports inside functions, under ``if TYPE_CHECKING`` and in a ``try`` that goes on without
    them are left out.
    """
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif _may_fail(node):
            waiting += node.orelse
        elif isinstance(node, ast.If | ast.With | ast.ClassDef | ast.Try):
            waiting += ast.iter_child_nodes(node)


def _may_fail(node: ast.AST) -> TypeGuard[ast.If | ast.Try]:
    """Tell whether the imports below a statement are for type checkers, or handled if they fail."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if not isinstance(node, ast.Try):
        return False
    handled = [one for handler in node.handlers for one in ast.walk(handler)]
    return bool(node.handlers) and not any(isinstance(one, ast.Raise) for one in handled)


def modules_without(missing: set[str]) -> dict[Path, str]:
    """Return the library's modules that cannot be imported, each with a missing package it needs."""
    paths = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in _modules()}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    on_demand = _names_on_demand(trees)
    imports = {
        name: {on_demand.get(dotted, dotted) for dotted in needed_at_import(tree)}
        for name, tree in trees.items()
    }
    blocked: dict[str, str] = {}
    while True:
        found = {
            name: package
            for name, wanted in imports.items()
            if name not in blocked and (package := _blocker(wanted, missing, blocked))
        }
        if not found:
            return {paths[name]: package for name, package in blocked.items()}
        blocked |= found


def _names_on_demand(trees: dict[str, ast.Module]) -> dict[str, str]:
    """Return the module behind each name that a package imports when it is first asked for.

    A package names these to type checkers, and to others by ``__getattr__``.
    """
    return {
        f"{name.removesuffix('.__init__')}.{alias.name}": f"{imported.module}.{alias.name}"
        for name, tree in trees.items()
        if name.endswith("__init__")
        for node in tree.body
        if isinstance(node, ast.If) and _may_fail(node)
        for imported in node.body
        if isinstance(imported, ast.ImportFrom)
        for alias in imported.names
    }


def _modules() -> list[Path]:
    return sorted((SOURCE / "aucuba").rglob("*.py"))


def _blocker(wanted: set[str], missing: set[str], blocked: dict[str, str]) -> str | None:
    """Return the missing package behind the first import that must fail, or None."""
    for dotted in sorted(wanted):
        package = dotted.partition(".")[0]
        if package in missing:
            return package
        # ``from a.b import c`` fails with module a.b, and with module a.b.c.
        for module in (dotted, dotted.rpartition(".")[0]):
            if module in blocked:
                return blocked[module]
    return None
