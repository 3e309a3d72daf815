"""Fit one rival of `scorecards` in an environment of its own and write its scores of the test rows.

    RIVAL_PYTHON benchmarks/_scorecard_rivals_driver.py METHOD ITEMS IN.npz OUT.npz

IN holds the training and test rows twice: ``train``, ``test`` are the conditions that our card chooses
from, one column of 0 and 1 per condition, and ``X_train``, ``X_test`` the columns themselves (numbers;
categories as codes, listed in ``categorical``), called ``columns``. OUT gets the scores, the processor
seconds of the fit and the text of the card, if the method has one.
"""

import contextlib
import io
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def fasterrisk(data, n_items):
    """FasterRisk's card of least log-loss, points -5 to 5."""
    from fasterrisk.fasterrisk import RiskScoreOptimizer

    y = np.where(data["y"], 1.0, -1.0)
    optimizer = RiskScoreOptimizer(data["train"].astype(float), y, k=n_items, lb=-5, ub=5)
    optimizer.optimize()
    _, _, points = optimizer.get_models(model_index=0)
    text = "\n".join(f"{points[j]:+.0f}  {data['names'][j]}" for j in np.flatnonzero(points))
    return lambda rows, X: rows @ points, text


def optbinning_card(data, n_items):
    """optbinning's scorecard of the columns that L1 logistic regression keeps first."""
    import pandas as pd
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    n_columns = data["X_train"].shape[1]
    names = [str(one) for one in data["columns"]]
    categorical = [names[k] for k in data["categorical"]]
    frame = pd.DataFrame(data["X_train"], columns=names)
    y = data["y"].astype(int)
    binning = BinningProcess(names, categorical_variables=categorical)
    woe = binning.fit(frame, y).transform(frame, metric="woe").to_numpy()
    used = np.arange(n_columns)
    for C in np.logspace(-5, 1, 31)[::-1]:
        model = LogisticRegression(penalty="l1", solver="liblinear", C=C).fit(woe, y)
        used = np.flatnonzero(model.coef_[0])
        if used.size <= n_items:
            break
    kept = [names[k] for k in used]
    card = Scorecard(
        BinningProcess(kept, categorical_variables=[one for one in categorical if one in kept]),
        LogisticRegression(),
        scaling_method="min_max",
        scaling_method_params={"min": 0, "max": 100},
        rounding=True,
    ).fit(frame[kept], y)

    def score(rows, X):
        # Its points fall with the risk.
        return -card.score(pd.DataFrame(X, columns=names)[kept])

    lines = card.table(style="summary")[["Points", "Variable", "Bin"]].to_numpy()
    return score, "\n".join(f"{points:+.0f}  {name}: {part}" for points, name, part in lines)


def ebm(data, n_items):
    """Explainable boosting at its defaults, on all columns."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = [
        "nominal" if k in data["categorical"] else "continuous"
        for k in range(data["X_train"].shape[1])
    ]
    model = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1, random_state=0)
    model.fit(data["X_train"], data["y"].astype(int))
    return lambda rows, X: model.decision_function(X), ""


METHODS = {"FasterRisk": fasterrisk, "optbinning": optbinning_card, "EBM": ebm}


def main(method, n_items, source, target):
    """Fit, score and write."""
    with np.load(source, allow_pickle=False) as file:
        data = dict(file)
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        score, text = METHODS[method](data, int(n_items))
        seconds = time.process_time() - start
        scores = score(data["test"], data["X_test"])
    np.savez(target, scores=np.asarray(scores, dtype=float), seconds=seconds, text=text)


if __name__ == "__main__":
    main(*sys.argv[1:])
