"""Random metrics, certificates and tables against exact oracles: cases tried, and cases wrong.

The cases are those of ``tests/hostile``, each from its own seed; a case is wrong where its test fails.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from aucuba.cli import main as run_command
from reproductions.tables import markdown_table, write_signed
from tests.hostile.test_certificates import check_certificate, random_problem
from tests.hostile.test_cli import FAST, random_table
from tests.hostile.test_metrics import check_exact_partial_auc

RESULT = Path(__file__).parent / "results" / "hostile_numbers.md"
SUFFIXES = ("csv", "tsv", "svm", "npz", "parquet")


def certificate(seed: int) -> None:
    check_certificate(*random_problem(np.random.default_rng(seed)))


def table(seed: int) -> None:
    """Fit on a random file: it is used, or refused in one line per problem."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("default")
        path, out = Path(folder) / f"t.{SUFFIXES[seed % 5]}", Path(folder) / "m.aucuba"
        path.write_bytes(random_table(rng))
        complaint = StringIO()
        with redirect_stderr(complaint), redirect_stdout(StringIO()):
            code = run_command(["fit", str(path), *FAST, "--max-iter", "5", "--out", str(out)])
        assert code in (0, 2)
        assert out.exists() == (code == 0)
        lines = complaint.getvalue().splitlines()
        assert all(line.startswith(("error: ", "note: ")) for line in lines)


CASES: dict[str, tuple[str, Callable[[int], None], int]] = {
    "metrics": ("partial AUC against rational numbers", check_exact_partial_auc, 20_000),
    "certificates": ("convex fits against the exact minimum of one feature", certificate, 2_000),
    "tables": ("`aucuba fit` on random bytes in five formats", table, 1_000),
}


def wrong_cases(check: Callable[[int], None], n_cases: int) -> list[int]:
    """Seeds whose check fails."""
    found = []
    for seed in range(n_cases):
        try:
            check(seed)
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            found.append(seed)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", type=float, default=1.0, help="run this part of the cases")
    part = parser.parse_args().part
    rows = []
    for words, check, n_cases in CASES.values():
        n_tried = max(1, int(part * n_cases))
        wrong = wrong_cases(check, n_tried)
        rows.append([words, f"{n_tried:,}", len(wrong)])
        print(rows[-1], flush=True)
    text = f"""# Random cases against exact oracles

Seeds 0, 1, ... of the generators in `tests/hostile`. Wrong: the value differs from the exact one by
more than rounding, a certificate does not hold in exact arithmetic, or a command ends otherwise than
in words.

{markdown_table(["cases", "tried", "wrong"], rows)}
"""
    write_signed(RESULT, text, "benchmarks hostile_numbers")


if __name__ == "__main__":
    main()
