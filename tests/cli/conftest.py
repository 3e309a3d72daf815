"""Small data files in every format, and the program as a function."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from aucuba.cli import main
from tests.optional import missing_packages

# No command runs without the extra "cli", so none of the folder's tests could.
collect_ignore_glob = (
    ["test_*.py"] if {"pandas", "pyarrow", "rich", "typer"} & missing_packages() else []
)


@pytest.fixture(scope="session")
def frame():
    """Numbers with gaps, categories with gaps, text labels, weights and queries."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 400
    numbers = rng.normal(size=(n, 3))
    city = rng.choice(["Oslo", "Rome", "Paris"], n)
    bad = numbers[:, 0] + numbers[:, 1] + (city == "Rome") + rng.normal(size=n) > 1.2
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    frame["city"] = city
    frame.loc[::40, "a"] = np.nan
    frame.loc[::50, "city"] = None
    frame["outcome"] = np.where(bad, "bad", "good")
    frame["times"] = rng.integers(1, 4, n)
    frame["query"] = np.repeat(np.arange(n // 20), 20)
    return frame


@pytest.fixture(scope="session")
def files(tmp_path_factory, frame):
    """Training and test files of all formats."""
    folder = tmp_path_factory.mktemp("tables")
    numbers = frame[["a", "b", "c"]].fillna(0.0)
    y = (frame["outcome"] == "bad").to_numpy().astype(int)
    for name, rows in (("train", slice(0, 300)), ("test", slice(300, 400))):
        part, X = frame[rows], numbers[rows].to_numpy()
        part.to_csv(folder / f"{name}.csv", index=False)
        part.to_csv(folder / f"{name}.csv.gz", index=False)
        part.to_csv(folder / f"{name}.tsv", index=False, sep="\t")
        part.to_parquet(folder / f"{name}.parquet")
        query = part["query"].to_numpy(copy=True)
        dump_svmlight_file(X, y[rows], str(folder / f"{name}.svmlight"), query_id=query)
        dump_svmlight_file(X, y[rows], str(folder / f"{name}_plain.svm"))
        np.savez(folder / f"{name}.npz", X=X, y=y[rows])
    return folder


@pytest.fixture
def run(capsys):
    """Run a command; gives its exit code, output, complaints and parsed JSON."""

    def call(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        parsed = json.loads(out) if "--json" in words and code == 0 else None
        return SimpleNamespace(code=code, out=out, err=err, json=parsed)

    return call


@pytest.fixture(scope="session")
def model(tmp_path_factory, files):
    """One model on the csv file, by a single convex fit."""
    path = tmp_path_factory.mktemp("models") / "model.aucuba"
    words = f"--target outcome --pos-label bad --fpr-range 0 0.2 --cv 0 --out {path}"
    dropped = ["--model", "svc", "--loss", "tight", "--drop", "times", "--drop", "query"]
    assert main(["fit", str(files / "train.csv"), *words.split(), *dropped]) == 0
    return path
