"""Time to load model files: ``python -m benchmarks model_files``.

Processor seconds of `load_model` in a new interpreter that has imported scikit-learn's packages but
nothing of this library: the import of `aucuba.persistence`, of the classes in the file, and the file
itself. "Again" is a second call in the same interpreter. "Before" is commit {commit}, whose files were
archives of skops; its code is taken from the repository, saves its own files, and takes turns with the
present code. "Pickle" loads the same model from a pickle, which checks nothing and runs what the file
says. Least of {runs} runs. Writes ``benchmarks/results/model_files.md``.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from reproductions.tables import markdown_table, write_signed

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "model_files.md"
BEFORE = "21c41ed"
N_RUNS = 5
SAVE = """
import pickle, sys, warnings
from sklearn.datasets import make_classification
from aucuba import PartialAUCClassifier, RegionStack
from aucuba.persistence import save_model
warnings.simplefilter("ignore")
X, y = make_classification(2000, 20, random_state=0)
models = {
    "linear": PartialAUCClassifier((0.0, 0.2)),
    "stack": RegionStack((0.0, 0.2), random_state=0),
}
for name, model in models.items():
    save_model(model.fit(X, y), f"{sys.argv[1]}/{name}.aucuba")
    with open(f"{sys.argv[1]}/{name}.pickle", "wb") as stream:
        pickle.dump(model, stream)
"""
LOAD = """
import json, pickle, sys, time
import sklearn.compose, sklearn.ensemble, sklearn.impute, sklearn.linear_model, sklearn.pipeline
import sklearn.preprocessing
def load(path):
    if path.endswith(".pickle"):
        with open(path, "rb") as stream:
            return pickle.load(stream)
    from aucuba.persistence import load_model
    return load_model(path)
seconds = []
for _ in range(2):
    start = time.process_time()
    load(sys.argv[1])
    seconds.append(time.process_time() - start)
print(json.dumps(seconds))
"""
MODELS = {"linear": "linear model of 20 columns", "stack": "default stack, 20 columns"}
KINDS = {"before": "before", "now": "now", "pickle": "pickle"}


def run(source: Path, code: str, *arguments: str) -> str:
    """Run code on another copy of the library, with one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | threads | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def extracted(folder: Path) -> Path:
    """Take the source before from the repository."""
    content = subprocess.run(
        ["git", "archive", BEFORE, "src"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = {"before": extracted(folder / "code"), "now": ROOT / "src"}
        for kind, source in sources.items():
            (folder / kind).mkdir()
            run(source, SAVE, str(folder / kind))
        files = {
            (model, kind): folder
            / ("before" if kind == "before" else "now")
            / f"{model}.{'pickle' if kind == 'pickle' else 'aucuba'}"
            for model in MODELS
            for kind in KINDS
        }
        times: dict[tuple[str, str], list[list[float]]] = {case: [] for case in files}
        for _ in range(N_RUNS):
            for (model, kind), path in files.items():
                source = sources["before" if kind == "before" else "now"]
                times[model, kind].append(json.loads(run(source, LOAD, str(path))))
                print(model, kind, times[model, kind][-1], flush=True)
        rows = [
            [
                f"{MODELS[model]}, {KINDS[kind]}",
                f"{path.stat().st_size / 1e3:,.1f}",
                *(f"{min(one):.4f}" for one in zip(*times[model, kind], strict=True)),
            ]
            for (model, kind), path in files.items()
        ]
    words = __doc__.split("\n\n")[1].format(commit=BEFORE, runs=N_RUNS).rpartition(" Writes")[0]
    table = markdown_table(["model file", "kB", "first", "again"], rows)
    text = f"# Loading model files\n\n{words}\n\n{table}"
    write_signed(RESULT, text, "benchmarks model_files", ["skops"])


if __name__ == "__main__":
    main()
