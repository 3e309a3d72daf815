"""Every command of the pages runs, in the order of its page, on small files of the names it gives."""

import re
import shlex
import textwrap
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aucuba.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^( *)\.\. code-block:: (?:console|shell)\n\n((?:\1   .*\n|\n)+)", re.M)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.rst"), *(ROOT / "docs/guides").glob("*.rst")]
# The web server of the service guide and a request to it; test_service.py runs both in memory.
SERVERS = ("MODEL=model.aucuba uvicorn", "curl localhost")


def commands(page):
    """List the commands of a page, continued lines joined and comments left out."""
    text = page.read_text(encoding="utf-8")
    blocks = [textwrap.dedent(found[2]) for found in BLOCK.finditer(text)]
    blocks += [found[2] for found in FENCE.finditer(text) if found[1] == ""]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.removeprefix("$ ").strip() for line in lines if line.strip()]


COMMANDS = {page.name: found for page in PAGES if (found := commands(page))}


def rows(n_rows, seed, labels=("good", "bad")):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["amount", "age"])
    bad = frame["amount"] + rng.normal(size=n_rows) > 1
    return frame.assign(outcome=np.where(bad, labels[1], labels[0]))


def write_tables(labels):
    for seed, name in enumerate(("train", "test", "new", "other")):
        rows(1200 if name == "train" else 200, seed, labels).to_csv(f"{name}.csv", index=False)


def write_signals():
    rng = np.random.default_rng(0)
    signals, labels = [], []
    for name in range(12):
        value = np.repeat([0, 8 * (name % 2)], 20) + rng.normal(size=40)
        signals.append(pd.DataFrame({"sequence": f"s{name}", "value": value}))
        kind = "one" if name % 2 else "none"
        labels.append({"sequence": f"s{name}", "start": 10, "end": 30, "kind": kind})
    pd.concat(signals).to_csv("signals.csv", index=False)
    pd.concat(signals[:4]).to_csv("new_signals.csv", index=False)
    pd.DataFrame(labels).to_csv("labels.csv", index=False)


def write_graph():
    from aucuba.persistence import save_model
    from aucuba.structured import RankingGraph, StructuredRanker

    rng = np.random.default_rng(0)
    X, edges = rng.normal(size=(8, 2)), [[0, 1], [1, 2], [4, 5]]
    y = (X[:, 0] > 0).astype(int)
    save_model(StructuredRanker(C=10).fit([RankingGraph(X, edges)], [y]), "ranker.aucuba")
    nodes = pd.DataFrame(X, columns=["a", "b"]).assign(node=range(8), relevant=y)
    nodes.to_csv("nodes.csv", index=False)
    pd.DataFrame(edges, columns=["source", "target"]).to_csv("edges.csv", index=False)


def write_monitored_rows():
    """The rows of one day without the labels of the misses, one of which is reported, and a ledger."""
    from sklearn.linear_model import LogisticRegression

    from aucuba.threshold import FixedTPRClassifier, PromiseLedger

    frame = pd.DataFrame({"y": [1, 1, 0, None], "predicted": [1, 1, 1, 0], "scored": "2026-03-01"})
    frame.to_csv("today.csv", index=False)
    late = pd.DataFrame({"y": [1], "predicted": [0], "scored": ["2026-03-01"]})
    late.assign(reported="2026-03-01").to_csv("reports.csv", index=False)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 2
    base, ledger = LogisticRegression().fit(X + y[:, None], y), PromiseLedger()
    ledger.calibrate(FixedTPRClassifier(base, 0.5, cv="prefit"), X + y[:, None], y, time=range(300))
    Path("ledger.json").write_text(ledger.to_json(), encoding="utf-8")


def write_command_line():
    write_tables(("good", "bad"))
    write_signals()
    write_graph()
    words = ["fit", "signals.csv", "--labels", "labels.csv", "--model", "changepoint"]
    assert main([*words, "--out", "detector.aucuba"]) == 0


FILES = {
    "quickstart.rst": lambda: write_tables((0, 1)),
    "changepoint.rst": write_signals,
    "command_line.rst": write_command_line,
    "service.rst": lambda: write_tables(("good", "bad")),
    "after_deployment.rst": write_monitored_rows,
}


@pytest.mark.parametrize(
    "page", [name for name in COMMANDS if any(line.startswith("aucuba") for line in COMMANDS[name])]
)
def test_commands_of_a_page(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if any("--onnx" in line for line in COMMANDS[page]):
        pytest.importorskip("skl2onnx")
        pytest.importorskip("onnxruntime")
    FILES[page]()
    before = set(tmp_path.iterdir())
    for line in COMMANDS[page]:
        words = shlex.split(line, comments=True)
        if words[0] != "aucuba":
            continue
        assert main(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
        out = [words[k + 1] for k, word in enumerate(words) if word in ("--out", "--onnx", "--sql")]
        assert all(Path(one).stat().st_size for one in out), line
    assert set(tmp_path.iterdir()) > before


def test_other_commands_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for line in [line for lines in COMMANDS.values() for line in lines]:
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert words[1] in targets, line
        elif words[:2] == ["pip", "install"]:
            named = re.fullmatch(r"\.(?:\[(.*)\])?", words[2])
            assert named is None or {*(named[1] or "plot").split(",")} <= {*extras}, line
            assert named or words[2:] == ["fastapi", "uvicorn"], line
        else:
            assert words[0] == "aucuba" or line.startswith(SERVERS), line


def test_every_block_of_commands_is_known():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert text.count("code-block:: console") + text.count("code-block:: shell") == sum(
        len(BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES
    )
    assert sum(map(len, COMMANDS.values())) > 20
    # Blocks of another kind would run nowhere.
    assert {*re.findall(r"code-block:: (\S+)", text)} <= {"console", "shell", "python"}
