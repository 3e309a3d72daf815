"""Size of the package, and the way of nine fits through it: ``python -m benchmarks house_size``.

Code lines are lines with code on them: no blanks, comments or docstrings. Public names are those of
every ``__all__``, each counted once. A private access is ``thing._name`` where ``thing`` is neither
``self`` nor ``cls`` and the module itself defines no such name. For each fit, files and functions are
those of the package with at least one call while the fit runs in its own interpreter; imports,
lambdas and comprehensions are left out. "Before" is commit {before}; "joined" is {joined}, where
rows, splits, groups, comparisons and warnings had got one owner each and small modules were merged,
before most features were added; "today" is the code as it is. Writes
``benchmarks/results/house_size.md``; the earlier numbers are beside it in ``house_size.json``.

``python -m benchmarks.house_size --store WHEN COMMIT`` stores the numbers of the present code under
one of these words; ``python -m benchmarks.house_size 0`` lists the functions on the way of the first
fit.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import os
import pkgutil
import subprocess
import sys
import threading
import tokenize
from pathlib import Path
from typing import Any

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "aucuba"
RESULT = Path(__file__).parent / "results" / "house_size.md"
STORED = RESULT.with_suffix(".json")
TIMES = ("before", "joined", "today")
LONG = 60
_NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def docstring_lines(tree: ast.AST) -> set[int]:
    """Lines of all docstrings."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                found |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found


def code_and_comments(text: str, tree: ast.AST) -> tuple[set[int], int]:
    """Numbers of the lines with code, and how many lines have a comment."""
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        comments += token.type == tokenize.COMMENT
        if token.type not in _NOT_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    return code - docstring_lines(tree), comments


def public_names(tree: ast.Module) -> set[str]:
    """Names in the module's ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def private_accesses(tree: ast.AST) -> int:
    """Count ``thing._name`` of things that the module does not define."""
    own: set[str] = set()
    used = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute):
            on_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if on_self and isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            elif not on_self and node.attr.startswith("_") and not node.attr.startswith("__"):
                used.append(node.attr)
    return sum(name not in own for name in used)


def sizes() -> dict[str, Any]:
    """Measure all files of the package."""
    packages: dict[str, dict[str, int]] = {}
    names: set[str] = set()
    long: list[str] = []
    comments = accesses = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code, n_comments = code_and_comments(text, tree)
        inside = path.relative_to(PACKAGE).parts
        package = inside[0] if len(inside) > 1 else "(root)"
        entry = packages.setdefault(package, {"files": 0, "code": 0, "names": 0})
        entry["files"] += 1
        entry["code"] += len(code)
        found = public_names(tree) if path.stem == "__init__" else set()
        entry["names"] += len(found)
        names |= found
        comments += n_comments
        accesses += private_accesses(tree)
        long += [
            f"{'/'.join(inside)}: {node.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and len(code & set(range(node.lineno, (node.end_lineno or 0) + 1))) > LONG
        ]
    return {
        "packages": packages,
        "names": len(names),
        "long": long,
        "comments": comments,
        "private": accesses,
    }


def way(number: int) -> list[tuple[str, str]]:
    """Return the (file, function) pairs of the package that one fit calls."""
    import aucuba
    from benchmarks._house_fits import FITS

    folder = str(Path(aucuba.__file__).parent)
    for module in pkgutil.walk_packages(aucuba.__path__, "aucuba."):
        if not module.name.endswith(("__main__", ".demo")):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    call = list(FITS.values())[number]()
    seen: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder) and "<" not in code.co_name:
            seen.add((os.path.relpath(code.co_filename, folder), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(seen)


def ways() -> dict[str, list[int]]:
    """Follow every fit in its own interpreter: numbers of files and of functions, by name."""
    from benchmarks._house_fits import FITS

    found = {}
    for number, name in enumerate(FITS):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.house_size", str(number)],
            env=os.environ | {"OMP_NUM_THREADS": "1", "DASK_SCHEDULER": "synchronous"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        pairs = [line.split("\t") for line in done.stdout.splitlines()]
        found[name] = [len({file for file, _ in pairs}), len(pairs)]
    return found


def measured() -> dict[str, Any]:
    return sizes() | {"fits": ways()}


def table_of(states: list[dict[str, Any]]) -> str:
    """Three tables: the whole, the packages, and the ways of the fits."""

    def total(one: dict[str, Any], key: str) -> int:
        return sum(entry[key] for entry in one["packages"].values())

    def each(read: Any) -> list[str]:
        return [read(one) for one in states]

    whole = [
        ["code lines", *each(lambda one: f"{total(one, 'code'):,}")],
        ["files", *each(lambda one: str(total(one, "files")))],
        ["distinct public names", *each(lambda one: str(one["names"]))],
        [f"functions above {LONG} code lines", *each(lambda one: str(len(one["long"])))],
        [
            "comments per 100 code lines",
            *each(lambda one: f"{100 * one['comments'] / total(one, 'code'):.1f}"),
        ],
        ["private accesses across modules", *each(lambda one: str(one["private"]))],
    ]
    packages = []
    for name in sorted({name for one in states for name in one["packages"]}):
        found = [one["packages"].get(name) for one in states]
        shown = [
            f"{entry[key]:,}" if entry else "-"
            for key in ("code", "files", "names")
            for entry in found
        ]
        packages.append([f"`{name}`", *shown])
    fits = []
    for name in dict.fromkeys(name for one in states for name in one["fits"]):
        found = [one["fits"].get(name, ("-", "-")) for one in states]
        fits.append([name, *(str(entry[key]) for key in (0, 1) for entry in found)])
    columns = [f"{what} {when}" for what in ("code", "files", "names") for when in TIMES]
    on_the_way = [f"{what} {when}" for what in ("files", "functions") for when in TIMES]
    return "\n\n".join(
        [
            markdown_table(["", *TIMES], whole),
            markdown_table(["package", *columns], packages),
            markdown_table(["fit", *on_the_way], fits),
        ]
    )


def main() -> None:
    stored, today = json.loads(STORED.read_text(encoding="utf-8")), measured()
    commits = {when: one["commit"] for when, one in stored.items()}
    text = __doc__.split("\n\n")[1].rpartition(" Writes")[0].format(**commits).replace("``", "`")
    table = table_of([*(stored[when] for when in TIMES[:-1]), today])
    print(table)
    for name in today["long"]:
        print(f"long: {name}")
    write_signed(RESULT, f"# Size of the package\n\n{text}\n\n{table}", "benchmarks house_size")


def run(arguments: list[str]) -> None:
    """Write the table, store the numbers of a commit, or list the way of one fit."""
    if arguments[:1] == ["--store"]:
        stored = json.loads(STORED.read_text(encoding="utf-8"))
        stored[arguments[1]] = {"commit": arguments[2]} | measured()
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    elif arguments:
        for file, name in way(int(arguments[0])):
            print(f"{file}\t{name}")
    else:
        main()


if __name__ == "__main__":
    run(sys.argv[1:])
