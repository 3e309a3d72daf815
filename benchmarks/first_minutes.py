"""The first five minutes on a clean clone: what a newcomer types, and how long each step takes.

    python -m benchmarks first_minutes
    python -m benchmarks.first_minutes --steps
    python -m benchmarks.first_minutes --commands

Clones the last commit into a temporary folder, makes an environment there with nothing in it, and runs
the first examples of the README and of "Getting started" in new interpreters, so that imports and the
compilation of kernels are part of the clock. Then it runs README's two commands, each in a clone of its
own with nothing installed. ``--steps`` renews the first part and ``make demo``, ``--commands`` the
commands alone; each part names the commit it was run on. Needs git and a package
index; downloads of packages are part of the second step, and pip's cache is switched off there.
"""

from __future__ import annotations

import doctest
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
HEADING = "## The two commands"
TABLE = Path(__file__).parent / "results" / "first_minutes.md"
PICTURE = """
from aucuba.demo import FPR_RANGE, two_kinds_of_fraud
from aucuba.metrics import RocRegionDisplay
from sklearn.linear_model import LogisticRegression

X, X_new, y, y_new = two_kinds_of_fraud()
score = LogisticRegression().fit(X, y).decision_function(X_new)
display = RocRegionDisplay.from_predictions(y_new, score, fpr_range=FPR_RANGE)
display.figure_.savefig("roc_band.png")
"""
CSV = """
import pandas as pd
from aucuba.demo import two_kinds_of_fraud

X, X_new, y, y_new = two_kinds_of_fraud()
for name, rows, labels in (("train.csv", X, y), ("test.csv", X_new, y_new)):
    pd.DataFrame(rows).add_prefix("column ").assign(fraud=labels).to_csv(name, index=False)
"""


def readme_example() -> str:
    """The first example of the README as a script: everything before the promised threshold."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_examples(text)
    first = [one.source for one in examples]
    end = next(place for place, source in enumerate(first) if "FixedFPRClassifier" in source)
    return "".join(first[:end])


def steps(clone: Path) -> list[tuple[str, str, list[list[str]]]]:
    """What is reached, what is typed, and the commands behind it."""
    python, aucuba = str(clone / ".venv/bin/python"), str(clone / ".venv/bin/aucuba")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    fit = [aucuba, "fit", "train.csv", "--target", "fraud", "--max-fpr", "0.01"]
    return [
        ("clone", "`git clone`", [["git", "clone", "--quiet", str(ROOT), str(clone)]]),
        (
            "installed",
            '`pip install ".[plot,cli]"` in a new environment',
            [
                [sys.executable, "-m", "venv", str(clone / ".venv")],
                [*pip, "install", ".[plot,cli]"],
            ],
        ),
        ("first picture", "`RocRegionDisplay.from_predictions`", [[python, "-c", PICTURE]]),
        ("first trained model", "the README's example", [[python, "-c", readme_example()]]),
        (
            "first model from a table",
            "`aucuba fit train.csv`",
            [[python, "-c", CSV], [*fit, "--out", "model.aucuba"]],
        ),
        (
            "first report",
            "`aucuba report model.aucuba test.csv`",
            [[aucuba, "report", "model.aucuba", "test.csv", "--out", "report.html"]],
        ),
        ("everything at once", "`aucuba demo`", [[aucuba, "demo"]]),
    ]


def measure() -> list[list[str]]:
    """Run every step; rows of name, command, seconds, seconds since the start and processor seconds."""
    rows, begin = [], time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory(prefix="first_minutes_") as folder:
        clone = Path(folder) / "aucuba"
        for name, typed, commands in steps(clone):
            started, processor = time.perf_counter(), _processor_seconds()
            for command in commands:
                place = clone if clone.exists() else Path(folder)
                subprocess.run(command, cwd=place, env=environment, check=True)
            now = time.perf_counter()
            seconds = (now - started, now - begin, _processor_seconds() - processor)
            rows.append([name, typed, *(f"{one:.0f}" for one in seconds)])
            print(rows[-1], flush=True)
        for made in ("roc_band.png", "model.aucuba", "report.html", "demo_output/report.html"):
            if not (clone / made).stat().st_size:
                raise RuntimeError(f"{made} is empty.")
    return rows


def from_the_code() -> str:
    """Name the commit and how busy the machine was."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    head = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    load = os.getloadavg()[0]
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"From the code at {head.strip()}, while {load:.0f} processes wanted the two cores; "
        f"OMP_NUM_THREADS={threads}."
    )


def last_lines(command: str) -> list[str]:
    """Run a command in a clone without an environment; return its minutes and its last lines."""
    bare = {"PYTHONPATH", "AUCUBA_DATA", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in bare}
    with tempfile.TemporaryDirectory(prefix="two_commands_") as folder:
        clone = Path(folder) / "aucuba"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        started, processor = time.perf_counter(), _processor_seconds()
        run = subprocess.run(
            command.split(), cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        minutes = (time.perf_counter() - started) / 60
        used = (_processor_seconds() - processor) / 60
        tail = [line.replace(str(clone), ".") for line in run.stdout.splitlines()[-24:]]
        print(*tail, sep="\n", flush=True)
        if run.returncode:
            raise RuntimeError(f"{command} failed: {run.stderr[-2000:]}")
    return [
        from_the_code(),
        f"`{command}`, installation included: {minutes:.1f} minutes on two cores",
        f"({used:.1f} of processor time), exit status {run.returncode}. Its last lines:",
        "",
        "```",
        *tail,
        "```",
        "",
    ]


def _processor_seconds() -> float:
    """Return what all commands so far took of the processors, however busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def steps_table() -> str:
    """Measure the first steps; return the first part of the page."""
    rows = measure()
    return "\n".join(
        [
            "# The first five minutes",
            "",
            "A clean clone, an environment with nothing in it, no cache of pip or of compiled kernels;",
            "every step in a new interpreter. The generated frauds of the README, 5,000 rows to learn",
            "from. The demo trains six models, rivals included, and writes two reports. Seconds on a",
            "clock depend on what else the machine does, and those of the installation on the package",
            "index; the last column counts processor time alone.",
            from_the_code(),
            "",
            markdown_table(["reached", "by", "seconds", "since the start", "of processor"], rows),
        ]
    )


def write(first: str, demo: str, tests: str) -> None:
    """Write the page of these three parts."""
    page = "\n\n".join([first.rstrip(), HEADING, demo.strip(), tests.strip()])
    write_signed(TABLE, page, "benchmarks first_minutes")


def main() -> None:
    kept = TABLE.read_text(encoding="utf-8").rpartition("\n\nWritten by")[0]
    first, _, commands = kept.partition(HEADING)
    place = commands.rindex("From the code at")
    demo, tests = commands[:place], commands[place:]
    # Each part is kept as soon as it is there: the next may be cut off.
    if "--commands" not in sys.argv[1:]:
        first = steps_table()
        write(first, demo, tests)
    demo = "\n".join(last_lines("make demo"))
    write(first, demo, tests)
    if "--steps" not in sys.argv[1:]:
        write(first, demo, "\n".join(last_lines("make test")))


if __name__ == "__main__":
    main()
