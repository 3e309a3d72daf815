"""Every block of Python in the guides and on the front pages runs, on small data of its own.

Examples with a prompt are doctests; pytest collects them by itself. The other blocks show files,
clusters and cards. Here each runs by itself with the names that its page has defined before, and with
sizes that suit a test.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from aucuba._base._callbacks import HAS_CALLBACKS

ROOT = Path(__file__).parents[1]
# Tests of its own run the blocks of this page, whose packages need settings of their own.
ELSEWHERE = {"integrations.rst": ROOT / "tests" / "integrations" / "test_guide.py"}
# Programs that need a stack or its graph: tests/cli/test_service.py runs them.
ELSEWHERE_OF_SERVICE = (":caption: student.py", ":caption: graph_app.py")
PAGES = [*(ROOT / "docs").glob("*.rst"), *(ROOT / "docs" / "guides").glob("*.rst")]
PAGES = [page for page in PAGES if page.name not in ELSEWHERE]
# What is installed with the library, or part of Python.
ALWAYS = {*sys.stdlib_module_names, "aucuba", "numpy", "scipy", "sklearn"}
SMALLER = {
    "quickstart.rst": {"seconds=600": "seconds=0"},
    "gpu.rst": {'"cuda"': '"cpu"', "1_000_000": "3000", "(0.0, 0.01)": "(0.0, 0.2)"},
    "scale.rst": {
        "200_000": "200",
        "10_000_000": "1000",
        "80_000": "80",
        "(200, 200)": "(200, 4)",
        "n_workers=8": "n_workers=1, threads_per_worker=1, dashboard_address=None",
        "n_estimators=300": "n_estimators=5",
        "1e-3": "0.2",
        "1e-4": "0.2",
    },
}


def blocks():
    """Yield (page, line, code) of every block of Python that is not a doctest."""
    for page in sorted(PAGES):
        lines = page.read_text(encoding="utf-8").splitlines()
        for start, line in enumerate(lines):
            if line.strip() == ".. code-block:: python":
                end = start + 1
                while end < len(lines) and (not lines[end].strip() or lines[end][:1] == " "):
                    end += 1
                if lines[start + 1].strip() in ELSEWHERE_OF_SERVICE:
                    continue
                body = [one for one in lines[start + 1 : end] if not re.match(r"\s+:\w+:", one)]
                yield page, start + 1, textwrap.dedent("\n".join(body)).strip()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for found in re.finditer(r"```python\n(.*?)```", text, re.S):
        if ">>>" not in found[1]:
            yield ROOT / "README.md", text[: found.start()].count("\n") + 1, found[1]


BLOCKS = list(blocks())


def rows_of_two_classes(n_rows=400, n_columns=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 1).astype(int)


def names_of_quickstart():
    from sklearn.linear_model import LogisticRegression

    from aucuba import RegionStack

    X, y = rows_of_two_classes()
    stack = RegionStack((0, 0.2), estimators=["forest", "nystroem_logistic"], cv=2, random_state=0)
    score = LogisticRegression().fit(X[:200], y[:200]).decision_function(X[200:])
    stack.fit(X[:200], y[:200])
    known = {"stack": stack, "X_train": X[:200], "y_train": y[:200], "y_test": y[200:]}
    return {**known, "score": score, "base": score}


def names_of_scale():
    """A folder of small Parquet files, which Dask reads together where few columns are asked for."""
    import dask
    import dask.dataframe as dd
    import pandas as pd
    import pyarrow as pa

    from aucuba import PartialAUCClassifier

    X, y = rows_of_two_classes(1000, 4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(fraud=y)
    Path("rows").mkdir()
    for k in range(10):
        frame[100 * k : 100 * (k + 1)].to_parquet(f"rows/{k}.parquet")
    np.save("X.npy", X.astype(np.float32))
    rows = dd.read_parquet("rows/*.parquet")
    model = PartialAUCClassifier((0.0, 0.2)).fit(frame[list("abcd")], y)
    known = {"dask": dask, "rows": rows, "X": rows.drop(columns="fraud"), "y": rows["fraud"]}
    return {**known, "model": model, "table": pa.Table.from_pandas(frame), "frame": frame}


def names_of_service():
    import pandas as pd

    from aucuba.cli import main

    X, y = rows_of_two_classes(200, 2)
    frame = pd.DataFrame(X, columns=["amount", "age"])
    frame.assign(y=y).to_csv("t.csv", index=False)
    # The cross-validated model has probabilities.
    assert main(["fit", "t.csv", "--no-probe", "--out", "model.aucuba"]) == 0
    return {"frame": frame}


def names_of_any_model():
    return dict(zip(("X", "y"), rows_of_two_classes(), strict=True))


# Names that the blocks of a page take from earlier on it.
NAMES = {
    "quickstart.rst": names_of_quickstart,
    "any_model.rst": names_of_any_model,
    "scale.rst": names_of_scale,
    "service.rst": names_of_service,
}


def packages(code):
    """Names of the packages that a block imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]


def run_block(page, code):
    """Run a block with the names and sizes of its page; return its names."""
    for name in [*packages(code), *(["dask", "pyarrow"] if page.name == "scale.rst" else [])]:
        if name not in ALWAYS:
            pytest.importorskip(name)
    if page.name == "service.rst":
        for name in ("pandas", "typer", "skops"):
            pytest.importorskip(name)
    for shown, small in SMALLER.get(page.name, {}).items():
        code = code.replace(shown, small)
    names = NAMES.get(page.name, dict)()
    exec(compile(code, str(page), "exec"), names)
    return names


@pytest.mark.filterwarnings("ignore::aucuba._base._warnings.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The training was ended:UserWarning")
@pytest.mark.parametrize(
    ("page", "code"),
    [(page, code) for page, _, code in BLOCKS],
    ids=[f"{page.name}:{line}" for page, line, _ in BLOCKS],
)
def test_a_block_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODEL", "model.aucuba")
    if "set_callbacks" in code and not HAS_CALLBACKS:
        pytest.skip("this release of scikit-learn has no callbacks")
    if "matplotlib" in sys.modules or "RocRegionDisplay" in code:
        pytest.importorskip("matplotlib").use("Agg")
    names = run_block(page, code)
    step = np.repeat([0.0, 9.0], 30) + np.random.default_rng(0).normal(size=60)
    for name, last in (("from_ruptures", 2), ("from_skchange", [5.0, 1e6])):
        if name in names:
            found = names[name](step, last)
            assert sorted(one.tolist() for one in found.changepoints) == [[], [30]]


def test_blocks_are_found():
    pages = {page.name for page, _, _ in BLOCKS}
    assert {"index.rst", "quickstart.rst", "scale.rst", "service.rst", "gpu.rst"} <= pages
    assert len(BLOCKS) >= 15
    for name, test in ELSEWHERE.items():
        assert name in test.read_text(encoding="utf-8")


def test_a_sketch_per_partition_is_that_of_all_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page, code = next((page, code) for page, _, code in BLOCKS if "def sketch_of" in code)
    names = run_block(page, code)
    from aucuba.metrics import partial_auc_score

    frame = names["frame"]
    score = names["model"].decision_function(frame[list("abcd")])
    want = partial_auc_score(frame["fraud"], score, fpr_range=(0.0, 0.2))
    assert names["sketch"].partial_auc() == pytest.approx(want)
    assert names["sketch"].n_rows == len(frame)
