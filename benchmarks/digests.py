"""Digests of fixed fits of all estimators, to tell whether a change of the code changes results.

    python -m benchmarks.digests           fit all and write benchmarks/results/digests.json
    python -m benchmarks.digests --check   fit all and compare with that file; 1 if anything differs

``--only PATTERN`` restricts both to the fits whose name matches, such as ``'svc_*'``. The file holds
for every array a SHA-256 of its bytes, its shape and type, its sum and some of its values: the bytes
tell that rounding differs, the values by how much. Equal bytes are expected on one machine with one
thread and one version of each package, not across machines. Fits whose package is missing are skipped.
A change that is meant to change results writes the file again and says so in its commit.
"""

from __future__ import annotations

import argparse
import os

# Before NumPy and the boosters read them: sums of several threads are not repeatable.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ["DASK_SCHEDULER"] = "synchronous"

import fnmatch
import hashlib
import json
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _digest_linear, _digest_measures, _digest_models, _digest_selections  # noqa: F401
from benchmarks._digest_tables import FITS

RESULT = Path(__file__).parent / "results" / "digests.json"
# Values of a long array that are kept, evenly spaced, the first and the last among them.
N_KEPT = 6

Digests = dict[str, dict[str, dict[str, Any]]]


def digest(value: Any) -> dict[str, Any]:
    """Return the digest of one array, number or list of words."""
    if hasattr(value, "compute"):
        value = value.compute()
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.ascontiguousarray(value)
    if array.dtype.kind in "OU":
        array = array.astype(str)
        content = json.dumps(array.tolist()).encode()
    else:
        content = array.astype(array.dtype.newbyteorder("<")).tobytes()
    found = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "shape": list(np.shape(value)),
        "dtype": "str" if array.dtype.kind == "U" else array.dtype.name,
    }
    if array.dtype.kind in "biuf" and array.size:
        numbers = array.ravel().astype(np.float64)
        at = np.unique(np.linspace(0, numbers.size - 1, N_KEPT).round().astype(int))
        found["sum"] = repr(float(np.nansum(numbers)))
        found["values"] = {str(k): repr(float(numbers[k])) for k in at}
    elif array.dtype.kind == "U":
        found["values"] = dict(enumerate(array.ravel()[:N_KEPT].tolist()))
    return found


def computed(pattern: str) -> tuple[Digests, list[str]]:
    """Run the fits that match, skipping those of missing packages; return digests and failures."""
    found: Digests = {}
    failed: list[str] = []
    for name, fit in FITS.items():
        if not fnmatch.fnmatch(name, pattern):
            continue
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arrays = fit()
        except Exception as error:
            missing = (getattr(error, "name", None) or "aucuba").partition(".")[0]
            if isinstance(error, ImportError) and missing not in ("aucuba", "benchmarks"):
                print(f"skipped {name}: {error}")
            else:
                traceback.print_exc()
                print(f"{name}: {type(error).__name__}: {error}")
                failed.append(name)
            continue
        found[name] = {key: digest(value) for key, value in arrays.items()}
        print(f"{time.process_time() - start:6.2f} s  {name}", file=sys.stderr, flush=True)
    return found, failed


def difference(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """Say how an array differs from the stored one, or return None."""
    if all(old[key] == new[key] for key in ("sha256", "shape", "dtype")):
        return None
    changes = [
        f"{key} {old[key]} -> {new[key]}" for key in ("shape", "dtype") if old[key] != new[key]
    ]
    if not changes and "sum" in old:
        before, after = (
            np.array([float(one["sum"]), *map(float, one["values"].values())]) for one in (old, new)
        )
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        gap = np.where(same, 0.0, np.nan_to_num(np.abs(before - after), nan=np.inf))
        scale = np.nanmax(np.abs(before[1:]), initial=0.0)
        changes.append(
            f"largest known difference {gap[1:].max():.3g} (of values up to {scale:.3g}), "
            f"of the sum {gap[0]:.3g}"
        )
    return "; ".join(changes) or f"{old.get('values')} -> {new.get('values')}"


def report(stored: Digests, found: Digests) -> int:
    """Print every array that differs; return how many."""
    count = 0
    for name in found:
        old, new = stored.get(name, {}), found[name]
        for key in dict.fromkeys([*old, *new]):
            if key not in new:
                words = "is gone"
            elif key not in old:
                words = "is not in the file"
            else:
                words = difference(old[key], json.loads(json.dumps(new[key]))) or ""
            if words:
                count += 1
                print(f"{name}.{key}: {words}")
    return count


def in_lines(digests: Digests) -> str:
    """Write JSON with one line per array, so that a change shows which ones differ."""
    fits = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f" {json.dumps(key)}: {json.dumps(one)}" for key, one in arrays.items())
        + "\n}"
        for name, arrays in digests.items()
    ]
    return "{\n" + ",\n".join(fits) + "\n}\n"


def run(arguments: list[str]) -> int:
    """Write or check the digests; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed file")
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="names of fits, with * and ?"
    )
    options = parser.parse_args(arguments)
    found, failed = computed(options.only)
    stored = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    if options.check:
        gone = [name for name in stored if fnmatch.fnmatch(name, options.only) and name not in FITS]
        for name in gone:
            print(f"{name}: no such fit")
        count = report(stored, found) + len(gone) + len(failed)
        print(
            f"{len(found)} fits, {count} differences, {time.process_time():.0f} processor seconds"
        )
        return int(count > 0)
    kept = {name: stored[name] for name in stored if name in FITS} | found
    ordered = {name: kept[name] for name in FITS if name in kept}
    RESULT.write_text(in_lines(ordered), encoding="utf-8")
    print(f"wrote {len(found)} fits to {RESULT}; {time.process_time():.0f} processor seconds")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
