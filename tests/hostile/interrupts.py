"""Signals at random moments of every command that writes, and two of it at once.

A case is one command in a forked child of a warmed process. The child counts the calls of functions and
gets SIGTERM or SIGINT at one of them; half of the moments lie after the first file has been opened. A
case is wrong where the exit code is another than that of the signal (or 0, where the command was
done), where a draft stays behind, where a file is neither the old one nor a whole new one, or where the
message says that nothing was written although something was, or the other way round.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from aucuba.cli import main
from aucuba.persistence import load_model
from aucuba.threshold import RateMonitor

pd = pytest.importorskip("pandas")

SIGNALS = {signal.SIGTERM: 143, signal.SIGINT: 130}
OLD = "what was there before"
ROWS = 120


@dataclass(frozen=True)
class Command:
    """Words after the program's name, and a check per file that they write."""

    words: tuple[str, ...]
    writes: dict[str, Callable[[Path], object]]
    # Files that the command changes, with what they hold before; other outputs hold OLD.
    before: Callable[[], dict[str, str]] = dict


def _loads(path):
    return load_model(path).model


def _scores(path):
    frame = pd.read_csv(path)
    assert (len(frame), frame.columns[0], frame.columns[-1]) == (ROWS, "score", "predicted")
    assert path.read_bytes().endswith(b"\n")


def _page(path):
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _state(path):
    return RateMonitor.from_json(path.read_text(encoding="utf-8"))


def _sql(path):
    assert path.read_text(encoding="utf-8").endswith(";\n")


def _onnx(path):
    import onnx

    onnx.checker.check_model(onnx.load(path))


def _begun_state() -> dict[str, str]:
    watched = RateMonitor(0.2, labels=("good", "bad"))
    watched.update(["good", "bad"] * 20, ["good", "bad"] * 20)
    return {"state.json": watched.to_json() + "\n"}


_FIT = ("fit", "t.csv", "--target", "y", "--pos-label", "bad", "--cv", "0", "--max-iter", "10")
COMMANDS = {
    "fit": Command((*_FIT, "--out", "new.aucuba"), {"new.aucuba": _loads}),
    "predict": Command(("predict", "m.aucuba", "t.csv", "--out", "s.csv"), {"s.csv": _scores}),
    "report": Command(("report", "m.aucuba", "t.csv", "--out", "r.html"), {"r.html": _page}),
    "monitor": Command(
        ("monitor", "flags.csv", "--state", "state.json"), {"state.json": _state}, _begun_state
    ),
    "export": Command(
        ("export", "m.aucuba", "--onnx", "m.onnx", "--sql", "m.sql"),
        {"m.onnx": _onnx, "m.sql": _sql},
    ),
}


def prepare(folder: Path) -> None:
    """Write the inputs of all commands."""
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 2
    frame = pd.DataFrame({"a": rng.normal(size=ROWS) + y, "b": rng.normal(size=ROWS)})
    frame["y"] = np.where(y == 1, "bad", "good")
    frame.to_csv(folder / "t.csv", index=False)
    flags = pd.DataFrame({"y": frame["y"], "predicted": np.where(frame["a"] > 1, "bad", "good")})
    flags.to_csv(folder / "flags.csv", index=False)
    code = _in_child(folder, (*_FIT, "--out", "m.aucuba"), folder / "log")
    assert code == 0, (folder / "log").read_text()


def warm(folder: Path, command: Command) -> tuple[int, int]:
    """Run a command in this process once, and count its calls in a child: up to the first draft, and
    in all."""
    _reset(folder, command)
    here, out, err = os.getcwd(), sys.stdout, sys.stderr
    os.chdir(folder)
    try:
        with (folder / "log").open("w") as sys.stdout:
            sys.stderr = sys.stdout
            assert main(command.words) == 0
    finally:
        os.chdir(here)
        sys.stdout, sys.stderr = out, err
    _reset(folder, command)
    assert _in_child(folder, command.words, folder / "log", counts=folder / "calls.json") == 0
    found = json.loads((folder / "calls.json").read_text())
    return found["draft"], found["all"]


def interrupted(folder: Path, command: Command, calls: tuple[int, int], seed: int) -> str:
    """Run one case; return what is wrong, or nothing."""
    rng = np.random.default_rng(seed)
    number = list(SIGNALS)[seed % 2]
    first = 1 if rng.random() < 0.5 else calls[0]
    before = _reset(folder, command)
    moment = int(rng.integers(first, calls[1] + 1))
    code = _in_child(folder, command.words, folder / "log", strike=(moment, number))
    said = (folder / "log").read_text(encoding="utf-8", errors="replace")
    told = f"{number.name} at call {moment}: exit {code}, {said.strip()[-300:]!r}"
    # Before the command sets its handler, SIGTERM itself ends the process; a shell sees the same code.
    was_killed = code == -number
    if code not in (0, SIGNALS[number]) and not was_killed:
        return f"exit code; {told}"
    left = [one.name for one in folder.iterdir() if one.name.endswith(".part")]
    if left:
        return f"{left} left behind; {told}"
    new = []
    for name, check in command.writes.items():
        path = folder / name
        if path.read_bytes() == before[name]:
            continue
        new.append(name)
        try:
            check(path)
        except Exception as error:
            return f"{name} is broken ({type(error).__name__}: {error}); {told}"
    if code == 0:
        return "" if set(new) == set(command.writes) else f"only {new} is new; {told}"
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    if was_killed and not new:
        return ""
    if len(lines) != 1 or "Traceback" in said:
        return f"no one-line error; {told}"
    missing = [name for name in new if name not in lines[0]]
    if missing or ("nothing was written" in lines[0]) != (not new):
        return f"{new} is new; {told}"
    return ""


def at_once(folder: Path, command: Command, seed: int) -> str:
    """Run a command twice at once on the same files; return what is wrong, or nothing."""
    rng = np.random.default_rng(seed)
    _reset(folder, command)
    children = []
    for place in range(2):
        # Both may start together, or one when the other is about to write.
        delay = 0.0 if place == 0 else float(rng.choice([0.0, 0.01, 0.05, 0.2]))
        children.append(_fork(folder, command.words, folder / f"log{place}", delay=delay))
    codes = [_code_of(child) for child in children]
    said = [(folder / f"log{place}").read_text() for place in range(2)]
    told = f"exits {codes}, {[one.strip()[-200:] for one in said]}"
    if any(one.name.endswith(".part") for one in folder.iterdir()):
        return f"a draft is left behind; {told}"
    if any(code not in (0, 2) for code in codes) or 0 not in codes:
        return f"exit codes; {told}"
    for name, check in command.writes.items():
        try:
            found = check(folder / name)
        except Exception as error:
            return f"{name} is broken ({type(error).__name__}: {error}); {told}"
        if isinstance(found, RateMonitor):
            start = RateMonitor.from_json(_begun_state()[name])
            batches = len(found.history) - len(start.history)
            if batches != codes.count(0):
                return f"{batches} of {codes.count(0)} batches are in {name}; {told}"
    return ""


def _reset(folder: Path, command: Command) -> dict[str, bytes]:
    """Remove drafts of earlier cases, and put what was there before in every output's place."""
    for one in folder.iterdir():
        if one.name.endswith(".part"):
            one.unlink()
    given = command.before()
    before = {name: given.get(name, OLD).encode() for name in command.writes}
    for name, content in before.items():
        (folder / name).write_bytes(content)
    return before


def _in_child(folder, words, log, *, strike=None, counts=None) -> int:
    return _code_of(_fork(folder, words, log, strike=strike, counts=counts))


def _code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fork(folder, words, log, *, strike=None, counts=None, delay=0.0) -> int:
    """Run the command in a child, which writes to the log; return its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.chdir(folder)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        # The handlers of a process that was started by a shell.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if delay:
            import time

            time.sleep(delay)
        code = _counted(words, strike, counts)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _counted(words, strike, counts) -> int:
    if strike is None and counts is None:
        return main(words)
    n_calls, draft = 0, 0
    moment, number = strike or (0, 0)

    def count(frame, event, argument):
        nonlocal n_calls, draft
        n_calls += 1
        if n_calls == moment:
            sys.setprofile(None)
            os.kill(os.getpid(), number)
        if not draft and frame.f_code.co_name == "written_atomically":
            draft = n_calls

    sys.setprofile(count)
    try:
        code = main(words)
    finally:
        sys.setprofile(None)
    if counts is not None:
        counts.write_text(json.dumps({"draft": draft or 1, "all": n_calls}))
    return code
