"""Run the papers' experiments: ``python -m reproductions NAME``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
import warnings
from pathlib import Path

from reproductions import experiments
from reproductions.experiment import RESULTS, Experiment, run

# Results of smaller runs, out of the way of the committed ones.
SMALLER = Path(__file__).parent / ".smaller"


def names() -> list[str]:
    """List all experiments."""
    found = pkgutil.iter_modules(experiments.__path__)
    return sorted(module.name for module in found if not module.name.startswith("_"))


def load(name: str) -> Experiment:
    """Import one experiment."""
    found: Experiment = importlib.import_module(f"reproductions.experiments.{name}").EXPERIMENT
    return found


class Bar:
    """A progress bar on the standard error: redrawn on a terminal, else one line per cell."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = time.monotonic()

    def __call__(self, done: int, total: int, cell: str) -> None:
        filled = 20 * done // max(total, 1)
        passed = time.monotonic() - self.start
        line = f"{self.name} [{'#' * filled:<20}] {done}/{total} {passed:.0f} s {cell}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line[:110]}" + ("\n" if done == total else ""))
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    described = argparse.ArgumentParser(
        prog="python -m reproductions",
        description="Run experiments of the papers and write their tables and figures. An interrupted "
        "run continues where it stopped.",
    )
    described.add_argument("names", nargs="*", metavar="NAME", help="experiments; see --list")
    described.add_argument("--all", action="store_true", help="run all experiments")
    described.add_argument("--list", action="store_true", help="list the experiments and stop")
    size = described.add_mutually_exclusive_group()
    for short, time_ in (("quick", "two minutes"), ("tiny", "a few seconds")):
        size.add_argument(
            f"--{short}",
            dest="size",
            action="store_const",
            const=short,
            help=f"smaller protocol, at most {time_} each",
        )
    described.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder of the results (default: reproductions/results, smaller runs: "
        "reproductions/.smaller)",
    )
    return described


def main(arguments: list[str] | None = None) -> int:
    """Run the named experiments; return the number of those that could not run."""
    described = parser()
    options = described.parse_args(arguments)
    known = names()
    if options.list:
        width = max(map(len, known))
        for name in known:
            sys.stdout.write(f"{name:<{width}}  {load(name).reproduces}\n")
        return 0
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        described.error(f"no experiment {', '.join(unknown)}; choose from {', '.join(known)}")
    chosen = known if options.all else options.names
    if not chosen:
        described.error("name an experiment, or use --all; --list shows them")
    size = options.size or "full"
    results = options.output or (RESULTS if size == "full" else SMALLER)
    failed = 0
    for name in chosen:
        try:
            path = run(name, load(name), size, results=results, listen=Bar(name))
        except FileNotFoundError as missing:
            sys.stderr.write(f"{name}: {missing}\n")
            failed += 1
        else:
            sys.stdout.write(f"{path}\n")
    return failed


if __name__ == "__main__":
    # Fits that stop at their limit are part of some protocols; the tables say so.
    warnings.simplefilter("ignore", UserWarning)
    sys.exit(main())
