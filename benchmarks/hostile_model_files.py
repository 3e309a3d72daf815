"""Random damage and forgery of model files: ``python -m benchmarks hostile_model_files``.

The cases are those of ``tests/hostile/model_files.py``, each from its own seed, in forked children of
one process, so that a crash is counted and ends only its case. Targets that are done are kept in
``benchmarks/results/hostile_model_files.json`` and not run again unless the code of model files has
changed; ``--only`` runs some targets again, and the page says which are from earlier code.
Writes ``benchmarks/results/hostile_model_files.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "hostile_model_files.md"
RECORD = RESULT.with_suffix(".json")
OUTCOMES = ("refused", "loaded", "loaded, prediction failed", "wrong")
DAMAGE = {
    "flipped": "any file, one to eight bytes changed",
    "cut": "any file, a piece missing",
    "forged bytes": "any file, bytes of one entry changed, checksums right",
}
FAMILIES = {
    "aucuba.": "estimators and measures of aucuba",
    "sklearn.": "classes of scikit-learn",
    "": "arrays, trees, containers, random states and other parts",
}


def code() -> str:
    """Digest of the code that reads model files, and of the cases."""
    paths = [*sorted((ROOT / "src/aucuba/persistence").glob("*.py"))]
    paths.append(ROOT / "tests/hostile/model_files.py")
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def tried(n_cases: int, only: list[str]) -> dict[str, dict[str, Any]]:
    """Run what has not been run, and return the results of all targets."""
    done = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    key = {"code": code(), "asked": n_cases}
    command = [sys.executable, "-m", "tests.hostile.model_files"]
    every = subprocess.run(
        [*command, "0", "0"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    targets = [json.loads(line)["target"] for line in every.stdout.splitlines()]
    done = {name: done[name] for name in targets if name in done}
    left = only or [one for one in targets if not key.items() <= done.get(one, {}).items()]
    if left:
        run = subprocess.Popen(
            [*command, "0", str(n_cases), *left], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert run.stdout is not None
        for line in run.stdout:
            result = json.loads(line)
            done[result.pop("target")] = result | key
            RECORD.write_text(json.dumps(done, indent=1) + "\n")
            print(line.strip(), flush=True)
        if run.wait():
            raise SystemExit("the fuzzer itself ended; run again to go on")
    return done


def row(words: str, results: list[dict[str, Any]]) -> list[str]:
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result["outcomes"])
    n_cases = [result["cases"] for result in results]
    return [
        words,
        f"{len(results)}",
        f"{min(n_cases):,}",
        f"{sum(n_cases):,}",
        *(f"{counts[name]:,}" for name in OUTCOMES),
        f"{max(result['seconds'] for result in results):.2f}",
        f"{max(result['growth'] for result in results) / 1e6:.0f}",
    ]


def report(done: dict[str, dict[str, Any]]) -> str:
    left, now = dict(done), code()
    earlier = [name for name, one in done.items() if one["code"] != now]
    rows = [row(words, [left.pop(name)]) for name, words in DAMAGE.items()]
    for start, words in FAMILIES.items():
        rows.append(row(words, [left.pop(name) for name in list(left) if name.startswith(start)]))
    rows.append(row("all", list(done.values())))
    header = [
        *("case", "targets", "least per target", "tried", "refused", "loaded and used"),
        *("loaded, prediction failed", "wrong", "longest load (s)", "largest growth (MB)"),
    ]
    return "\n".join(
        [
            "# Damaged and forged model files",
            "",
            "Small files that hold every class which a model file may hold without trust, and gradient "
            "boosting, support vector machines and a grid search, which need it. Each case changes one "
            "file at random, loads it in a forked child of one process, and scores a few rows. In the "
            "first three rows any part of the file is changed; in the others one to three parts of an "
            "object of the class or kind: arrays that change places, have other dimensions, types, "
            "sizes or entries (trees that run in circles among them), settings, names, missing parts, "
            "other objects, nesting of up to 100,000 levels. Wrong is a process that ends, an error "
            "other than the one of a damaged file, a load of more than 10 s of processor time, growth "
            "of the process by more than ten times the unpacked file and 100 MB while it loads and "
            "scores, or other scores from a damaged file than from the whole one. A forged file may "
            "load: its numbers are then others, and a prediction may raise an error.",
            "",
            markdown_table(header, rows),
            "",
            f"Targets tried on the present code of model files: {len(done) - len(earlier)}; on earlier "
            f"code: {len(earlier)}. Found by this search, and mended: rankers with infinite weights of "
            "pairs, or with pairs of a label with itself, scored rows without end.",
            "",
            f"Targets: {', '.join(f'`{name}`' for name in done if name not in DAMAGE)}.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1_350, help="number of cases of each target")
    parser.add_argument("--only", nargs="*", default=[], help="run these targets again, no others")
    options = parser.parse_args()
    write_signed(
        RESULT, report(tried(options.cases, options.only)), "benchmarks hostile_model_files"
    )


if __name__ == "__main__":
    main()
