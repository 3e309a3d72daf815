"""Requests per second of a service around one model.

    python -m benchmarks service
    python -m benchmarks.service --models FOLDER

The second form keeps the fitted models in a folder, or takes those that are there.

Every form of the model answers ``POST /scores`` with one row of {columns} numbers in its own uvicorn
process. "Bare" forms take a list of numbers and return the score alone, to compare what scoring costs;
the guide's apps are its two programs, which take named columns, check them, and return score and label
(that of a model file also what is unusual in a row). Two connections send {calls} requests per turn,
one after the other on each; the forms take turns, {turns} times, and the table has medians over turns.
"Processor ms" is the processor time of the server per request, which other processes disturb least.
Memory is the resident size of the server at the end, Python and its packages included. All on the
loopback address of one machine, client and server sharing its cores. Writes
``benchmarks/results/service.md``.
"""

from __future__ import annotations

import http.client
import json
import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline

from aucuba._columns._table_columns import NamedColumns
from reproductions.tables import markdown_table, write_signed
from tests.cli.test_service import code_of_the_guide

RESULT = Path(__file__).parent / "results" / "service.md"
N_ROWS, N_CALLS, N_CONNECTIONS, N_TURNS = 5_000, 200, 2, 5
# What is called, by which program, and the file of the model.
FORMS = {
    "LightGBM": ("bare", "lightgbm"),
    "RegionStack, default": ("bare", "stack"),
    "its distilled student": ("bare", "student"),
    "PartialAUCClassifierCV": ("bare", "linear"),
    "RegionStack as ONNX": ("bare", "stack.onnx"),
    "student as ONNX": ("bare", "student.onnx"),
    "PartialAUCClassifierCV as ONNX": ("bare", "linear.onnx"),
    "RegionStack, default; the guide's app": ("service_app", "stack.named"),
    "its distilled student; the guide's app": ("service_app", "student.named"),
    "PartialAUCClassifierCV; the guide's app": ("service_app", "linear.named"),
    "RegionStack as ONNX; the guide's app": ("graph_app", "stack.onnx"),
    "student as ONNX; the guide's app": ("graph_app", "student.onnx"),
}
COLUMNS = [f"column{k}" for k in range(20)]


def write_models(folder: Path) -> list[float]:
    """Fit and write every form; return one row to score."""
    import lightgbm

    from aucuba import ColumnPreparer, PartialAUCClassifierCV, RegionStack
    from aucuba.export import to_onnx
    from aucuba.persistence import save_model

    made = make_classification(N_ROWS, len(COLUMNS), n_informative=8, weights=[0.8], random_state=0)
    y = made[1]
    X = pd.DataFrame(made[0].astype(np.float32).astype(np.float64), columns=COLUMNS)
    for rows, ending in ((X.to_numpy(), ""), (X, ".named")):
        stack = RegionStack((0.0, 0.05), random_state=0).fit(rows, y)
        linear = PartialAUCClassifierCV((0.0, 0.05), random_state=0)
        models = {
            "stack": stack,
            "student": stack.distill(rows, y, random_state=0),
            "linear": linear.fit(rows, y),
        }
        if ending:
            models["linear"] = make_pipeline(ColumnPreparer(), linear).fit(rows, y)
        for name, model in models.items():
            if ending:
                model = make_pipeline(NamedColumns(COLUMNS).fit(X), model)
                (folder / f"{name}.onnx").write_bytes(to_onnx(model).SerializeToString())
            save_model(model, folder / f"{name}{ending}")
    booster = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(X.to_numpy(), y)
    (folder / "lightgbm").write_bytes(pickle.dumps(booster))
    return X.iloc[0].tolist()


def scorer(path: Path) -> Any:
    """Return a function from one row to its score."""
    if path.suffix == ".onnx":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda row: session.run(["score"], {"X": np.array([row], np.float32)})[0].item()
    if path.name == "lightgbm":
        booster = pickle.loads(path.read_bytes())
        return lambda row: booster.predict_proba(np.array([row]))[0, 1]
    from aucuba.persistence import load_model

    saved = load_model(path)
    return lambda row: saved.decision_function(np.array([row]))[0]


def make_app() -> Any:
    """Make the service; the environment names its program and the model. Called by uvicorn."""
    program = os.environ["PROGRAM"]
    if program != "bare":
        # FastAPI looks the types of a request up by name in the module.
        module = sys.modules[program] = types.ModuleType(program)
        exec(compile(code_of_the_guide(program), f"{program}.py", "exec"), vars(module))
        return module.app
    from fastapi import FastAPI

    app, score = FastAPI(), scorer(Path(os.environ["MODEL"]))

    # FastAPI reads the annotations themselves, which must not be text.
    def scores(row: list) -> dict:
        return {"score": float(score(row))}

    scores.__annotations__ = {"row": list[float], "return": dict[str, float]}
    app.post("/scores")(scores)
    return app


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """One uvicorn process around one form of the model."""

    def __init__(self, program: str, path: Path) -> None:
        self.port, self.is_bare = free_port(), program == "bare"
        app = ["benchmarks.service:make_app", "--factory", "--log-level", "error"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", *app, "--port", str(self.port)],
            env=os.environ | {"PROGRAM": program, "MODEL": str(path), "OMP_NUM_THREADS": "1"},
        )
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"{path} did not start within a minute")

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def processor_ms(self) -> float:
        """Return the processor time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def seconds(self, row: list[float], n_calls: int) -> list[float]:
        """Send requests on one connection and time each."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent: Any = row if self.is_bare else [dict(zip(COLUMNS, row, strict=True))]
        body, taken = json.dumps(sent), []
        for _ in range(n_calls):
            start = time.perf_counter()
            connection.request("POST", "/scores", body, {"content-type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            taken.append(time.perf_counter() - start)
            if answer.status != 200:
                raise RuntimeError(f"status {answer.status}: {text[:200]!r}")
        connection.close()
        return taken


def turn(server: Server, row: list[float]) -> tuple[float, float, float, float]:
    """Requests per second, median, 99th percentile and processor time in milliseconds."""
    taken: list[float] = []
    share = N_CALLS // N_CONNECTIONS
    threads = [
        threading.Thread(target=lambda: taken.extend(server.seconds(row, share)))
        for _ in range(N_CONNECTIONS)
    ]
    start, used = time.perf_counter(), server.processor_ms()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    total = time.perf_counter() - start
    if len(taken) != N_CALLS:
        raise RuntimeError(f"{N_CALLS - len(taken)} requests failed")
    slow = 1000 * np.quantile(taken, 0.99).item()
    used = (server.processor_ms() - used) / N_CALLS
    return N_CALLS / total, 1000 * statistics.median(taken), slow, used


def measured(folder: Path, row: list[float]) -> tuple[dict[str, list[Any]], dict[str, float]]:
    """Run all servers and let them take turns; return the turns and the memory of each."""
    servers = {form: Server(how, folder / file) for form, (how, file) in FORMS.items()}
    try:
        for server in servers.values():
            server.seconds(row, 50)
        turns: dict[str, list[Any]] = {form: [] for form in FORMS}
        for _ in range(N_TURNS):
            for form, server in servers.items():
                turns[form].append(turn(server, row))
        return turns, {form: server.megabytes() for form, server in servers.items()}
    finally:
        for server in servers.values():
            server.process.terminate()
            server.process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[2] if "--models" in sys.argv[1:2] else name)
        kept = folder / "row.json"
        if not kept.exists():
            folder.mkdir(exist_ok=True)
            kept.write_text(json.dumps(write_models(folder)), encoding="utf-8")
        turns, memory = measured(folder, json.loads(kept.read_text(encoding="utf-8")))
    rows = []
    for form, found in turns.items():
        per_second, *times = np.median(found, axis=0)
        shown = [f"{one:.1f}" for one in times]
        rows.append([form, f"{per_second:.0f}", *shown, f"{memory[form]:.0f}"])
    header = ["model", "requests per second", "median ms", "99 % ms", "processor ms", "memory, MB"]
    values = {"columns": len(COLUMNS), "calls": N_CALLS, "turns": N_TURNS}
    about = (__doc__ or "").split("\n\n")[3].partition(" Writes\n``")[0].format(**values)
    text = f"# A service around one model\n\n{about}\n\n{markdown_table(header, rows)}"
    write_signed(
        RESULT, text, "benchmarks service", ["fastapi", "uvicorn", "lightgbm", "onnxruntime"]
    )


if __name__ == "__main__":
    main()
