"""Run every benchmark: ``python -m benchmarks [name ...]``.

A benchmark is a module of this folder with a ``main()`` that writes ``results/<name>.md``, or a picture
of such results. Each runs in its own interpreter, so that none inherits the caches, threads or memory
of another.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks() -> dict[str, Path]:
    """Find the modules that define ``main``, by name, without importing them."""
    return {
        path.stem: path
        for path in sorted(FOLDER.glob("*.py"))
        if path != Path(__file__) and _defines_main(path)
    }


def _defines_main(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them, and return the number that failed."""
    known = benchmarks()
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"No benchmark {', '.join(unknown)}; there are: {', '.join(known)}.")
    failed = []
    for name in names or known:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        if subprocess.run(command, cwd=FOLDER.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nFailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
