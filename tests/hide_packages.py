"""Pytest plugin that hides packages, and a job that hides every optional package in turn.

    AUCUBA_HIDE=torch,dask python -m pytest -p tests.hide_packages
    python -m tests.hide_packages [PACKAGE ...]

The second form collects all tests once per optional package, with that package hidden, and once with
all of them hidden: a missing package must break neither the import nor the collection of the rest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Packages that cannot be imported without the hidden one.
HIDDEN_WITH = {
    "matplotlib": ("torchmetrics",),
    "pandas": ("dask",),
    "pyarrow": ("dask",),
    "transformers": ("torchmetrics",),
}


class Hiding(PathFinder):
    """Find what Python's own finder finds, apart from the hidden packages."""

    hidden: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in cls.hidden:
            return None
        return super().find_spec(fullname, path, target)


def hide(names: frozenset[str]) -> None:
    """Make later imports of the named packages fail as if they were not installed."""
    Hiding.hidden = names
    sys.meta_path[:] = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]


if os.environ.get("AUCUBA_HIDE"):
    hide(frozenset(os.environ["AUCUBA_HIDE"].split(",")))


def collect_without(names: tuple[str, ...]) -> tuple[int, str]:
    """Collect the tests without the named packages; return exit status and last lines."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.hide_packages", "--collect-only", "-q"]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=os.environ | {"AUCUBA_HIDE": ",".join(names)},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, "\n".join((run.stdout + run.stderr).splitlines()[-30:])


def main(names: list[str]) -> int:
    """Collect without each named (else each optional) package; return how many collections failed."""
    from tests.optional import extras

    cases = [(name, *HIDDEN_WITH.get(name, ())) for name in names or sorted(extras())]
    if not names:
        cases.append(tuple(sorted(extras())))
    failed, start = 0, time.monotonic()
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for case, (status, tail) in zip(cases, pool.map(collect_without, cases), strict=True):
            name = "all of them" if len(case) == len(extras()) else case[0]
            print(f"without {name}: {'ok' if status == 0 else 'FAILED'}", flush=True)  # noqa: T201
            if status != 0:
                failed += 1
                print(tail, flush=True)  # noqa: T201
    seconds = time.monotonic() - start
    print(f"{len(cases)} collections, {failed} failed, {seconds:.0f} s")  # noqa: T201
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
