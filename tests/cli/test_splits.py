"""``aucuba fit --time COLUMN --groups COLUMN``: the splits of the library, from the shell."""

import numpy as np
import pandas as pd
import pytest

from aucuba._rows._splits import held_out_split, time_folds
from aucuba.linear import PartialAUCClassifierCV, PartialAUCSVC
from aucuba.metrics import partial_auc_score
from aucuba.persistence import load_model
from aucuba.threshold import FixedFPRClassifier

N = 400


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Rows in random order of time, three to a patient."""
    rng = np.random.default_rng(0)
    y = (rng.random(N) < 0.4).astype(int)
    frame = pd.DataFrame(rng.normal(size=(N, 3)) + y[:, None], columns=list("abc"))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(N), unit="h")
    frame["seen"] = days.strftime("%Y-%m-%d %H:%M:%S")
    frame["patient"] = [f"p{k}" for k in rng.integers(N // 3, size=N)]
    frame["y"] = y
    path = tmp_path_factory.mktemp("splits") / "data.csv"
    frame.to_csv(path, index=False)
    return path


def prepared(model, data):
    frame = pd.read_csv(data)
    return model[:-1].transform(frame), frame["y"].to_numpy(), frame


@pytest.mark.parametrize(
    "options",
    [["--time", "seen", "--drop", "patient"], ["--groups", "patient", "--drop", "seen"]],
)
def test_folds_of_the_linear_model(run, data, tmp_path, options):
    done = run("fit", data, *options, "--no-probe", "--out", tmp_path / "m.aucuba", "--json")
    assert done.code == 0, done.err
    assert [name for name, _ in done.json["schema"]["columns"]] == ["a", "b", "c"]
    model = load_model(tmp_path / "m.aucuba").model
    X, y, frame = prepared(model, data)
    given = {options[0].strip("-"): frame[options[1]]}
    want = PartialAUCClassifierCV((0.0, 0.05), random_state=0).fit(X, y, **given)
    assert model[-1].partial_auc_ == want.partial_auc_
    np.testing.assert_array_equal(model[-1].coef_, want.coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# The folds have fewer than ten negatives in the range.
@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
def test_the_search_for_c_goes_forward_in_time(run, data, tmp_path):
    words = ["fit", data, "--model", "svc", "--cv", 3, "--time", "seen", "--groups", "patient"]
    done = run(*words, "--no-probe", "--max-fpr", 0.3, "--out", tmp_path / "m.aucuba", "--json")
    assert done.code == 0, done.err
    X, y, frame = prepared(load_model(tmp_path / "m.aucuba").model, data)
    time = np.argsort(np.argsort(frame["seen"].to_numpy()))
    group = np.unique(frame["patient"], return_inverse=True)[1]
    values = {}
    for C in np.logspace(-3, 3, 7):
        model = PartialAUCSVC((0.0, 0.3), C=C, random_state=0)
        values[C] = np.mean(
            [
                partial_auc_score(
                    y[test],
                    model.fit(X[train], y[train]).decision_function(X[test]),
                    fpr_range=(0.0, 0.3),
                )
                for train, test in time_folds(3, time, group)
            ]
        )
    assert done.json["fit"]["C"] == max(values, key=values.get)


def test_a_promise_holds_out_the_latest_rows_and_counts_groups(run, data, tmp_path):
    words = ["fit", data, "--cv", 0, "--promise", "fpr=0.2", "--time", "seen"]
    words += ["--groups", "patient", "--no-probe"]
    done = run(*words, "--out", tmp_path / "m.aucuba", "--json")
    assert done.code == 0, done.err
    promised = load_model(tmp_path / "m.aucuba").model[-1]
    X, y, frame = prepared(load_model(tmp_path / "m.aucuba").model, data)
    time = np.argsort(np.argsort(frame["seen"].to_numpy()))
    group = np.unique(frame["patient"], return_inverse=True)[1]
    _, late = held_out_split(0.5, y, 0, groups=group, time=time)
    assert set(frame["seen"][late]) == set(np.sort(frame["seen"])[N // 2 :])
    want = FixedFPRClassifier(promised.estimator_, 0.2, cv="prefit", random_state=0)
    want.fit(X[late], y[late], groups=group[late])
    assert promised.threshold_ == pytest.approx(want.threshold_)
    assert promised.promise_ == want.promise_


def test_errors(run, data, tmp_path):
    out = ["--out", tmp_path / "m.aucuba"]
    done = run("fit", data, "--cv", 0, "--groups", "patient", *out)
    assert done.code == 2
    assert "--groups and --time say how to split the rows" in done.err
    done = run("fit", data, "--groups", "patiant", *out)
    assert "There is no column 'patiant' for --groups; did you mean 'patient'?" in done.err
    gaps = pd.read_csv(data)
    gaps.loc[4, ["patient", "seen"]] = None
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    done = run("fit", tmp_path / "gaps.csv", "--groups", "patient", "--time", "seen", *out)
    for name, option, unit in [("patient", "--groups", "group"), ("seen", "--time", "time")]:
        assert (
            f"The column '{name}' for {option} has missing values, the first in row 5; give every "
            f"row a {unit}."
        ) in done.err
    words = gaps.fillna("soon")
    words.to_csv(tmp_path / "gaps.csv", index=False)
    done = run("fit", tmp_path / "gaps.csv", "--time", "seen", *out)
    assert done.code == 2
    assert "'soon' is not a date" in done.err
