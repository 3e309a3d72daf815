"""Small fitted models of every class that model files hold, with rows to score.

    python -m tests.persistence.saved_models

writes those made of scikit-learn alone to ``fixtures/``. Run it with the oldest supported releases
(``.ci/oldest.txt``): the tests read the files with the installed ones.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aucuba import (
    AlertBudgetClassifier,
    AUMClassifier,
    ColumnPreparer,
    FalseDiscoverySelector,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionScorecard,
    RegionStack,
    TriageClassifier,
)
from aucuba._columns._table_columns import Columns, NamedColumns
from aucuba.changepoint import (
    IntervalRegression,
    IntervalRegressionCV,
    Label,
    SupervisedChangepointDetector,
)
from aucuba.persistence import save_model
from aucuba.structured import (
    AUC,
    AUCAtK,
    BinnedAUC,
    RankingGraph,
    StructuredLabelRanker,
    StructuredRanker,
    UnnestedAUC,
)

FOLDER = Path(__file__).parent / "fixtures"
RANGE = (0.0, 0.4)
N_SCORED = 6


def table(n_rows=60):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n_rows, 3)), 2)
    return X, (X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0.3).astype(int)


def frame(n_rows=60):
    import pandas as pd

    X, y = table(n_rows)
    colours = np.array(["red", "green", None], dtype=object)
    names = colours[np.digitize(X[:, 1], [-0.8, 1.2])]
    X[::7, 2] = np.nan
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 2], "colour": names}), y


def frame_rows(X):
    return json.loads(X[:N_SCORED].to_json(orient="records"))


def classifiers():
    boosting = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=5)
    forest = RandomForestClassifier(3, max_depth=2)
    return {
        "AUMClassifier": AUMClassifier(max_iter=3),
        "FixedFPRClassifier": FixedFPRClassifier(LogisticRegression(), max_fpr=0.3, random_state=0),
        "AlertBudgetClassifier": AlertBudgetClassifier(LogisticRegression(), 0.3, random_state=0),
        "FixedPrecisionClassifier": FixedPrecisionClassifier(
            LogisticRegression(), 0.3, 0.5, random_state=0
        ),
        "FixedTPRClassifier": FixedTPRClassifier(LogisticRegression(), 0.7, random_state=0),
        "TriageClassifier": TriageClassifier(LogisticRegression(), 0.3, 0.7, random_state=0),
        "PartialAUCClassifier": PartialAUCClassifier(RANGE),
        "PartialAUCSVC": PartialAUCSVC(RANGE),
        "PartialAUCSVC-rbf": PartialAUCSVC(RANGE, loss="tight", kernel="rbf"),
        "pipeline-nystroem": make_pipeline(
            Nystroem(n_components=5, random_state=0), PartialAUCClassifier(RANGE, tol=1e-3)
        ),
        "PartialAUCClassifierCV": PartialAUCClassifierCV(RANGE, cv=2, random_state=0),
        "RegionReweighted-boosting": RegionReweighted(boosting, RANGE, cv=2, random_state=0),
        "RegionReweighted-forest": RegionReweighted(forest, RANGE, cv=2, random_state=0),
        "pipeline": make_pipeline(StandardScaler(), PartialAUCClassifier(RANGE)),
    }


def on_arrays():
    X, y = table()
    for name, model in classifiers().items():
        yield name, model.fit(X, y), "decision_function", X[:N_SCORED].tolist()
    kernel = X @ X.T
    model = PartialAUCSVC(RANGE, kernel="precomputed")
    model.fit(kernel, y)
    yield "PartialAUCSVC-precomputed", model, "decision_function", kernel[:2].tolist()
    model = FalseDiscoverySelector(LogisticRegression(), 0.4, random_state=0).fit(X, y)
    yield "FalseDiscoverySelector", model, "select", X[:N_SCORED].tolist()
    forest = IsolationForest(n_estimators=3, max_samples=20, max_features=2, random_state=0)
    model = FixedFPRClassifier(forest, max_fpr=0.3, random_state=0).fit(X)
    yield "FixedFPRClassifier-detector", model, "decision_function", X[:N_SCORED].tolist()


def on_tables():
    X, y = frame()
    boosting = HistGradientBoostingClassifier(
        max_iter=2, max_leaf_nodes=3, min_samples_leaf=5, categorical_features=[0]
    )
    rows = frame_rows(X)
    stack = RegionStack(RANGE, estimators=["linear", "splines_logistic"], cv=2, random_state=0)
    yield "RegionStack", stack.fit(X, y), "decision_function", rows
    columns = Columns.from_table(X[["a", "colour"]])
    steps = columns.for_linear(PartialAUCClassifier(RANGE)).steps
    model = Pipeline([("named", NamedColumns(["a", "colour"])), *steps]).fit(X, y)
    yield "named_columns", model, "decision_function", rows
    model = make_pipeline(ColumnPreparer(), PartialAUCClassifier(RANGE)).fit(X, y)
    yield "ColumnPreparer", model, "decision_function", rows
    card = RegionScorecard(RANGE, max_items=2, cv=2, random_state=0).fit(X, y)
    yield "RegionScorecard", card, "decision_function", rows
    codes = table()[0]
    codes[:, 0] = np.digitize(codes[:, 0], [-0.5, 0.5])
    members = [("boosting", RegionReweighted(boosting, RANGE))]
    stack = RegionStack(RANGE, estimators=members, cv=2, random_state=0).fit(codes, y)
    yield "RegionStack-categories", stack, "decision_function", codes[:N_SCORED].tolist()


def with_networks():
    net = MLPClassifier((3, 2), learning_rate_init=0.1, max_iter=5, random_state=0)
    X, y = table()
    yield "MLPClassifier", net.fit(X, y), "predict_proba", X[:N_SCORED].tolist()
    X, y = frame()
    prepared = Columns.from_table(X).for_linear(net)
    stack = RegionStack(RANGE, estimators=["linear", ("net", prepared)], cv=2, random_state=0)
    rows = frame_rows(X)
    yield "RegionStack-network", stack.fit(X, y), "decision_function", rows


def changepoint_models():
    rng = np.random.default_rng(0)
    signals = [
        np.round(np.repeat([0.0, 4.0 * (k % 2)], 12) + rng.normal(size=24), 2) for k in range(10)
    ]
    labels = [[Label(6, 18, "one" if k % 2 else "none")] for k in range(10)]
    detector = SupervisedChangepointDetector(3, cv=2, max_iter=5, random_state=0)
    rows = [signal.tolist() for signal in signals[:2]]
    detector.fit(signals, labels)
    yield "SupervisedChangepointDetector", detector, "predict_log_penalty", rows
    X, _ = table(20)
    limits = np.column_stack([X[:, 0] - 1, X[:, 0] + 1])
    for model in (IntervalRegression(), IntervalRegressionCV(cv=2)):
        yield type(model).__name__, model.fit(X, limits), "predict", X[:N_SCORED].tolist()


def rankers():
    rng = np.random.default_rng(0)
    labels = [np.arange(6) < 2] * 5
    edges = [[k, k + 1] for k in range(5)]
    values = [np.round(y + rng.normal(size=6), 2) for y in labels]
    graphs = [RankingGraph(one, edges) for one in values]
    rows = [one.tolist() for one in values[:2]]
    measures = {"named": "auc", "AUC": AUC(), "AUCAtK": AUCAtK(2), "BinnedAUC": BinnedAUC([2, 3])}
    measures["UnnestedAUC"] = UnnestedAUC(2)
    for name, measure in measures.items():
        ranker = StructuredRanker(measure, C=10.0, max_iter=5).fit(graphs, labels)
        yield f"StructuredRanker-{name}", ranker, "decision_function", rows
    X, first = table(20)
    Y = np.column_stack([first, first, X[:, 1] > 0, X[:, 2] > 0.5]).astype(int)
    ranker = StructuredLabelRanker(C=5.0, max_iter=5).fit(X, Y)
    yield "StructuredLabelRanker", ranker, "decision_function", X[:N_SCORED].tolist()


def of_scikit_learn():
    """Models whose parts older releases of scikit-learn store in another way."""
    X, y = table()
    rows = X[:N_SCORED].tolist()
    net = MLPClassifier((3, 2), learning_rate_init=0.1, max_iter=5, random_state=0)
    yield "MLPClassifier", net.fit(X, y), "predict_proba", rows
    forest = RandomForestClassifier(3, max_depth=2, random_state=0)
    yield "RandomForestClassifier", forest.fit(X, y), "predict_proba", rows
    X[:, 0] = np.digitize(X[:, 0], [-0.5, 0.5])
    boosting = HistGradientBoostingClassifier(
        max_iter=2, max_leaf_nodes=3, min_samples_leaf=5, categorical_features=[0]
    )
    rows = X[:N_SCORED].tolist()
    yield "HistGradientBoostingClassifier", boosting.fit(X, y), "predict_proba", rows
    X, y = frame()
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    coded = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist")
    columns = ColumnTransformer([("numbers", numbers, ["a", "b"]), ("coded", coded, ["colour"])])
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    yield "columns", model, "decision_function", frame_rows(X)


def all_models():
    """Yield name, fitted model, method and rows."""
    families = (on_arrays, on_tables, with_networks, changepoint_models, rankers, of_scikit_learn)
    for family in families:
        yield from family()


def write(folder, name, model, method, rows):
    """Write a model file, and beside it what it must answer."""
    path = folder / f"{name}.aucuba"
    save_model(model, path, metadata={"fixture": name})
    answers = {"method": method, "rows": rows}
    answers["scores"] = np.asarray(scores_of(model, answers)).tolist()
    path.with_suffix(".json").write_text(json.dumps(answers) + "\n")
    return path


def scores_of(model, answers):
    """What a model answers to the rows that are stored beside it."""
    rows = answers["rows"]
    if isinstance(rows[0], dict):
        import pandas as pd

        rows = pd.DataFrame(rows)
    elif isinstance(model, StructuredRanker):
        size = len(rows[0])
        rows = [RankingGraph(row, [[k, k + 1] for k in range(size - 1)]) for row in rows]
    found = getattr(model, answers["method"])(rows)
    return found.p_values if answers["method"] == "select" else found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in of_scikit_learn():
        path = write(FOLDER, *case)
        sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")
