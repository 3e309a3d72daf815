"""Nothing that users install or read as an example needs the reproductions."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [*ROOT.glob("examples/**/*.py"), *ROOT.glob("src/**/*.py")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        assert not {name.partition(".")[0] for name in names} & {"reproductions", "benchmarks"}
