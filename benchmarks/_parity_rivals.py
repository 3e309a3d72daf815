"""Values of fairlearn, scikit-plot and dcurves on the rows of `benchmarks.parity`.

Run as ``python _parity_rivals.py FOLDER`` by `benchmarks.parity`, in the environment of these packages;
prints name,value lines.
"""

import csv
import sys
from pathlib import Path

import numpy as np


def print_values() -> None:
    for kind in ("plain", "ties"):
        with (Path(sys.argv[1]) / f"{kind}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        y = np.array([int(one["y"]) for one in rows])
        score = np.array([float(one["a"]) for one in rows])
        region = np.array([one["region"] for one in rows])
        risk = np.array([float(one["risk"]) for one in rows])
        found = *_fairlearn(y, score, region), *_scikit_plot(y, score), *_dcurves(y, risk)
        for name, value in found:
            print(f"{name} {kind},{value:.17g}")


def _fairlearn(y, score, region):
    try:
        from fairlearn.metrics import (
            MetricFrame,
            false_positive_rate,
            selection_rate,
            true_positive_rate,
        )
    except ImportError:
        return
    from sklearn.metrics import average_precision_score, roc_auc_score

    rates = {"tpr": true_positive_rate, "fpr": false_positive_rate, "alert_rate": selection_rate}
    flagged = (score >= 1).astype(int)
    frame = MetricFrame(metrics=rates, y_true=y, y_pred=flagged, sensitive_features=region)
    for name in rates:
        for place, value in frame.by_group[name].items():
            yield f"fairlearn {name} {place}", value
        yield f"fairlearn {name} difference", frame.difference()[name]
    for name, metric in (("auc", roc_auc_score), ("ap", average_precision_score)):
        frame = MetricFrame(metrics=metric, y_true=y, y_pred=score, sensitive_features=region)
        for place, value in frame.by_group.items():
            yield f"fairlearn {name} {place}", value


def _scikit_plot(y, score):
    try:
        from scikitplot.helpers import binary_ks_curve, cumulative_gain_curve
    except ImportError:
        return
    share, gains = cumulative_gain_curve(y, score, pos_label=1)
    for part in (0.1, 0.2, 0.5):
        yield f"scikit-plot gain {part}", float(np.interp(part, share, gains))
    low, span = score.min(), np.ptp(score)
    yield "scikit-plot ks", binary_ks_curve(y, (score - low) / span)[3]


def _dcurves(y, risk):
    try:
        import pandas as pd
        from dcurves import dca
    except ImportError:
        return
    frame, at = pd.DataFrame({"y": y, "risk": risk}), [0.1, 0.2, 0.4]
    for name, options in (("net benefit", {}), ("net benefit 0.05", {"prevalence": 0.05})):
        found = dca(data=frame, outcome="y", modelnames=["risk"], thresholds=at, **options)
        for threshold in at:
            row = found[np.isclose(found["threshold"], threshold)].set_index("model")
            yield f"dcurves {name} {threshold}", row.loc["risk", "net_benefit"]
            if not options:
                yield f"dcurves treat all {threshold}", row.loc["all", "net_benefit"]


if __name__ == "__main__":
    print_values()
