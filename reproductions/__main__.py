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
from reproductions.data import data_home, sources
from reproductions.experiment import RESULTS, Experiment, check, run

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
        epilog="python -m reproductions prepare NAME FOLDER brings a downloaded data set into the form "
        "that the experiments read; reproductions/README.md says where to find it.",
    )
    described.add_argument("names", nargs="*", metavar="NAME", help="experiments; see --list")
    described.add_argument("--all", action="store_true", help="run all experiments")
    described.add_argument(
        "--list", action="store_true", help="list the experiments and which of their data are there"
    )
    described.add_argument(
        "--check",
        action="store_true",
        help="compute one cell of each experiment again and compare it with the committed results",
    )
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


def data_of(experiment: Experiment) -> str:
    """Say which data of an experiment are there and which are missing."""
    if not experiment.data and not experiment.optional:
        return "needs no data"
    needed = {name: sources.missing(name) for name in experiment.data}
    absent = [name for name, files in needed.items() if files]
    there = [name for name in needed if name not in absent]
    extra = [name for name in experiment.optional if not sources.missing(name)]
    shown = [f"has {', '.join(there + extra)}"] if there + extra else []
    if absent:
        shown.append(f"MISSING {', '.join(absent)}")
    elif not experiment.data:
        others = [name for name in experiment.optional if name not in extra]
        shown.append(f"runs without {', '.join(others)}" if others else "runs without any")
    return "; ".join(shown)


def show_list(known: list[str]) -> int:
    """Print the experiments with the state of their data."""
    width = max(map(len, known))
    for name in known:
        experiment = load(name)
        sys.stdout.write(f"{name:<{width}}  {experiment.reproduces} [{data_of(experiment)}]\n")
    sys.stdout.write(f"Data directory: {data_home()} (AUCUBA_DATA); see reproductions/README.md.\n")
    return 0


def prepare(described: argparse.ArgumentParser, arguments: list[str]) -> int:
    """Bring a download into the form that the loaders read."""
    if len(arguments) != 2:
        described.error("prepare takes the name of a data set and the folder of its download")
    name, folder = arguments
    if name not in sources.SOURCES:
        described.error(f"no data set {name}; choose from {', '.join(sources.SOURCES)}")
    try:
        written = sources.prepare(name, Path(folder))
    except (FileNotFoundError, ValueError) as problem:
        sys.stderr.write(f"{name}: {problem}\n")
        return 1
    for path in written:
        expected = sources.checksums().get(path.relative_to(data_home()).as_posix())
        same = (
            "as in the committed results"
            if sources.digest(path) == expected
            else ("NOT what the committed results were computed from")
        )
        sys.stdout.write(f"{path}: {same}\n")
    return 0


def run_checks(chosen: list[str]) -> int:
    """Compare one cell of each experiment with the committed results; count those that differ."""
    failed = 0
    for name in chosen:
        start = time.process_time()
        try:
            found = check(name, load(name))
        except FileNotFoundError as missing:
            sys.stdout.write(f"{name}: not checked. {missing}\n")
            continue
        verdict = "\n  ".join([f"{len(found)} differ", *found]) if found else "as committed"
        sys.stdout.write(f"{name}: {verdict} ({time.process_time() - start:.1f} s)\n")
        sys.stdout.flush()
        failed += bool(found)
    return failed


def main(arguments: list[str] | None = None) -> int:
    """Run the named experiments; return the number of those that could not run."""
    described = parser()
    options = described.parse_args(arguments)
    known = names()
    if options.list:
        return show_list(known)
    if options.names[:1] == ["prepare"]:
        return prepare(described, options.names[1:])
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        described.error(f"no experiment {', '.join(unknown)}; choose from {', '.join(known)}")
    chosen = known if options.all else options.names
    if options.check:
        return run_checks(chosen or known)
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
