"""Thresholds of MAPIE and nproc; run by their own interpreter, which has no aucuba."""

import sys
import time

import numpy as np
from mapie.risk_control import BinaryClassificationController
from nproc import npc

CONFIDENCE, PREVALENCE = 0.95, 0.3
NAMES = {
    "fpr": "fpr",
    "tpr": "recall",
    "precision": "precision",
    "alerts": "predicted_positive_fraction",
}
# nproc takes seconds per world; more worlds than this are left out.
MOST_NPROC, MOST_SECONDS = 40, 60.0


def mapie_threshold(promise, rate, shift, score, y, setting):
    """The threshold on the score, or nan where MAPIE finds none."""
    odds = np.log(PREVALENCE / (1 - PREVALENCE)) - shift**2 / 2

    def proba(X):
        p = 1 / (1 + np.exp(-(shift * X[:, 0] + odds)))
        return np.column_stack([1 - p, p])

    options = {"best_predict_param_choice": "recall"} if promise == "alerts" else {}
    if setting == "fixed":
        safe_first = np.linspace(0.001, 0.999, 999)
        options["list_predict_params"] = safe_first if promise == "tpr" else safe_first[::-1]
        options["fwer_method"] = "fixed_sequence"
    if setting == "split":
        options["fwer_method"] = "split_fixed_sequence"
    limit = rate if promise in ("fpr", "alerts") else 1 - rate
    controller = BinaryClassificationController(
        proba, NAMES[promise], limit, confidence_level=CONFIDENCE, **options
    )
    X = score[:, None]
    if setting == "split":
        controller.learn_fixed_sequence_order(X[::2], y[::2])
        X, y = X[1::2], y[1::2]
    controller.calibrate(X, y)
    p = controller.best_predict_param
    if p is None:
        return np.nan
    if p <= 0:
        return -np.inf
    return (np.log(p / (1 - p)) - odds) / shift


def nproc_threshold(rate, score, y, split_ratio):
    model = npc()
    options = {} if split_ratio is None else {"split_ratio": split_ratio}
    fit = model.npc(
        score[:, None], y, "logistic", alpha=rate, delta=1 - CONFIDENCE, n_cores=1, **options
    )
    grid = np.linspace(-2, 9, 11_001)
    flagged = np.asarray(model.predict(fit, grid[:, None])[0]) == 1
    return grid[np.argmax(flagged)] if flagged.any() else np.nan


def run(asked, answered):
    with np.load(asked) as content:
        scores, labels = content["scores"], content["labels"]
        rate, shift = float(content["rate"]), float(content["shift"])
    found = {}
    for promise in NAMES:
        for setting in ("default", "fixed", "split"):
            found[f"{promise}|MAPIE, {setting}"] = [
                _or_nan(mapie_threshold, promise, rate, shift, s, y, setting)
                for s, y in zip(scores, labels, strict=True)
            ]
    for name, ratio in (("default", None), ("0.9 for the threshold", 0.1)):
        start, thresholds = time.monotonic(), []
        for s, y in zip(scores[:MOST_NPROC], labels[:MOST_NPROC], strict=True):
            if time.monotonic() - start < MOST_SECONDS:
                thresholds.append(_or_nan(nproc_threshold, rate, s, y, ratio))
        found[f"fpr|nproc, {name}"] = thresholds
    np.savez(answered, **{name: np.array(values) for name, values in found.items()})


def _or_nan(rule, *arguments):
    """A rule that refuses counts as one that finds no threshold."""
    try:
        return rule(*arguments)
    except ValueError:
        return np.nan


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
