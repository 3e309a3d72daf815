"""Our measures beside those of other packages on the same rows, cell by cell.

Run with ``python -m benchmarks parity``. pROC, ROCR and base R run where ``Rscript`` is found (Debian's
r-base-core, r-cran-proc, r-cran-rocr), fairlearn, dcurves and scikit-plot in the environment that
``--rivals`` names (scikit-plot 0.3.7 needs numpy<2, scipy<1.12 and six); what is not found is left out
and named. scikit-learn and SciPy are here in any case. precrec's measures, NIST's detection cost and
R's net benefit are counted from their published formulas.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn import metrics as sk

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import (
    average_precision_score,
    compare_scores,
    decision_curve,
    detection_cost_score,
    enrichment_factor_score,
    expected_cost_score,
    f_measure_score,
    gains_table,
    kolmogorov_smirnov_score,
    largest_gap,
    net_benefit_score,
    partial_auc_score,
    rates_at_threshold,
    score_interval,
    youden_score,
)
from reproductions.tables import markdown_table, write_signed

NAME = "parity"
HERE = Path(__file__).parent
RESULTS = HERE / "results"
KINDS = ("plain", "ties")
# Deterministic values agree to the first, p-values and limits to the second.
EXACT, TESTED = 1e-9, 1e-6
PACKAGES = ("scikit-learn", "SciPy", "pROC", "ROCR", "R", "fairlearn", "dcurves", "scikit-plot")


def rows(kind: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [80, 520])
    a, b = (rng.normal(size=y.size) + shift * y for shift in (1.5, 1.0))
    if kind == "ties":
        a, b = np.round(a, 1), np.round(b, 1)
    region = np.where(rng.random(y.size) < 0.4, "north", "south")
    weight = rng.integers(1, 5, y.size)
    return {"y": y, "a": a, "b": b, "risk": expit(1.5 * a - 3), "region": region, "weight": weight}


def ours(of: dict[str, np.ndarray]) -> dict[str, tuple[str, float]]:
    """Our call and its value, by the name of the reference without the kind."""
    y, a, b, risk = (of[name] for name in ("y", "a", "b", "risk"))
    weighted = {"sample_weight": of["weight"]}
    rates = rates_at_threshold(y, a, threshold=1.0)
    interval = score_interval("auc", y, a, method="delong")
    region = {"fpr_range": (0, 0.1)}
    f1, cost = f_measure_score(y, a, threshold=1), {"threshold": 1.0, "cost_false_negative": 5.0}
    dcf = {"target_prior": 0.1, "cost_miss": 2.0}
    youden, ks = youden_score(y, a), kolmogorov_smirnov_score(y, a)
    found = {
        "scikit-learn average precision": (
            "average_precision_score",
            average_precision_score(y, a),
        ),
        "scikit-learn average precision weighted": (
            "average_precision_score(sample_weight=)",
            average_precision_score(y, a, **weighted),
        ),
        "scikit-learn f1": ("f_measure_score(threshold=1)", f1),
        "scikit-learn f2 weighted": (
            "f_measure_score(beta=2)",
            f_measure_score(y, a, threshold=1, beta=2, **weighted),
        ),
        "scikit-learn best f1": ("f_measure_score()", f_measure_score(y, a)),
        "scikit-learn auc": ("partial_auc_score", partial_auc_score(y, a)),
        "scikit-learn max_fpr": (
            "partial_auc_score(standardized=True)",
            partial_auc_score(y, a, standardized=True, **region),
        ),
        "scikit-learn error rate": (
            "expected_cost_score(threshold=1)",
            expected_cost_score(y, a, threshold=1),
        ),
        "SciPy ks": ("kolmogorov_smirnov_score", ks),
        "NIST actual DCF": ("detection_cost_score", detection_cost_score(y, a, **dcf)),
        "NIST minimum DCF": (
            'detection_cost_score(threshold="best")',
            detection_cost_score(y, a, threshold="best", **dcf),
        ),
        "precrec's formula, spauc 0-0.1": (
            "partial_auc_score(fpr_range=(0, 0.1))",
            partial_auc_score(y, a, **region),
        ),
        "precrec's formula, best fscore": ("f_measure_score()", f_measure_score(y, a)),
        "pROC auc": ("partial_auc_score", partial_auc_score(y, a)),
        "pROC partial auc 0.9-1": (
            "partial_auc_score(fpr_range=(0, 0.1)) * 0.1",
            partial_auc_score(y, a, **region) * 0.1,
        ),
        "pROC partial auc corrected": (
            "partial_auc_score(standardized=True)",
            partial_auc_score(y, a, standardized=True, **region),
        ),
        "pROC ci low": ('score_interval(method="delong")', interval.low),
        "pROC ci high": ('score_interval(method="delong")', interval.high),
        "pROC delong p": (
            'compare_scores(method="delong")',
            compare_scores("auc", y, a, b, method="delong").p_value,
        ),
        "pROC youden": ("youden_score", youden),
        "ROCR f at 1": ("f_measure_score(threshold=1)", f1),
        "ROCR best f": ("f_measure_score()", f_measure_score(y, a)),
        "ROCR cost at 1": ("expected_cost_score", expected_cost_score(y, a, **cost)),
        "ROCR lift at 1": (
            "enrichment_factor_score",
            enrichment_factor_score(y, a, fraction=rates.alert_rate),
        ),
        "ROCR rec at 1": ("rates_at_threshold", rates.tpr),
        "ROCR prec at 1": ("rates_at_threshold", rates.precision),
        "ROCR rpp at 1": ("rates_at_threshold", rates.alert_rate),
        "R ks.test": ("kolmogorov_smirnov_score", ks),
        "scikit-plot ks": ("kolmogorov_smirnov_score", ks),
    }
    named = {"sensitivity": "sensitivity", "specificity": "specificity", "ppv": "precision"}
    for theirs, name in {**named, "npv": "npv"}.items():
        found[f"pROC coords {theirs}"] = ("rates_at_threshold", getattr(rates, name))
    for at in (0.1, 0.2, 0.4):
        call = f"net_benefit_score(threshold={at}"
        for theirs, extra in (
            ("net benefit", {}),
            ("net benefit 0.05", {"target_prevalence": 0.05}),
            ("standardised net benefit", {"standardized": True}),
        ):
            shown = "".join(f", {key}={value}" for key, value in extra.items())
            value = net_benefit_score(y, risk, threshold=at, **extra)
            for package in ("R", "dcurves"):
                found[f"{package} {theirs} {at:g}"] = (f"{call}{shown})", value)
        (point,) = decision_curve(y, risk, thresholds=[at])
        found[f"dcurves treat all {at:g}"] = ("decision_curve", point.treat_all)
    table = {one.fraction: one.gain for one in gains_table(y, a)}
    for part in (0.1, 0.2, 0.5):
        found[f"scikit-plot gain {part:g}"] = ("gains_table", table[part])
    return found | _by_segment(of)


def _by_segment(of: dict[str, np.ndarray]) -> dict[str, tuple[str, float]]:
    y, a, region, found = of["y"], of["a"], of["region"], {}
    measures = {
        name: ("rate_at_threshold", {"rate": name, "threshold": 1.0})
        for name in ("tpr", "fpr", "alert_rate")
    }
    measures |= {"auc": ("auc", {}), "ap": ("average_precision", {})}
    for name, (metric, params) in measures.items():
        for one in score_interval(
            metric, y, a, by=region, n_resamples=20, random_state=0, **params
        ):
            found[f"fairlearn {name} {one.name}"] = ("score_interval(by=)", one.value)
        if name not in ("auc", "ap"):
            gap = largest_gap(metric, y, a, by=region, n_permutations=1, random_state=0, **params)
            found[f"fairlearn {name} difference"] = ("largest_gap", gap.difference)
    return found


def of_python(of: dict[str, np.ndarray]) -> dict[str, float]:
    """Values of scikit-learn and SciPy, and of formulas counted here."""
    y, a, weight = of["y"], of["a"], of["weight"]
    flagged = a >= 1
    prior, miss = 0.1, 2.0
    fpr, tpr, _ = sk.roc_curve(y, a, drop_intermediate=False)
    inside = np.append(fpr[fpr < 0.1], 0.1)
    heights = np.append(tpr[fpr < 0.1], np.interp(0.1, fpr, tpr))
    ranked = [a >= one for one in np.unique(a)]

    def cost(threshold: float) -> float:
        missed = np.mean(a[y == 1] < threshold)
        alarms = np.mean(a[y == 0] >= threshold)
        weighed = miss * prior * missed + (1 - prior) * alarms
        return float(weighed / min(miss * prior, 1 - prior))

    return {
        "scikit-learn average precision": sk.average_precision_score(y, a),
        "scikit-learn average precision weighted": sk.average_precision_score(
            y, a, sample_weight=weight
        ),
        "scikit-learn f1": sk.f1_score(y, flagged),
        "scikit-learn f2 weighted": sk.fbeta_score(y, flagged, beta=2, sample_weight=weight),
        "scikit-learn best f1": max(sk.f1_score(y, a >= one) for one in np.unique(a)),
        "scikit-learn auc": sk.roc_auc_score(y, a),
        "scikit-learn max_fpr": sk.roc_auc_score(y, a, max_fpr=0.1),
        "scikit-learn error rate": sk.zero_one_loss(y, flagged),
        "precrec's formula, spauc 0-0.1": sk.auc(inside, heights) / 0.1,
        "precrec's formula, best fscore": max(
            2 * np.sum(y[one]) / (np.sum(one) + np.sum(y)) for one in ranked
        ),
        "SciPy ks": ks_2samp(a[y == 1], a[y == 0]).statistic,
        "NIST actual DCF": cost(np.log((1 - prior) / (prior * miss))),
        "NIST minimum DCF": min(cost(one) for one in [*np.unique(a), np.inf]),
    }


def others(command: list[str]) -> dict[str, float]:
    """Values that a program prints, by name with the kind."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-2000:])
    parts = (line.rpartition(",") for line in done.stdout.splitlines() if "," in line)
    return {name: float(value) for name, _, value in parts}


def references(rivals: Path | None) -> dict[str, float]:
    found = {f"{name} {kind}": v for kind in KINDS for name, v in of_python(rows(kind)).items()}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            columns = rows(kind)
            with (Path(folder) / f"{kind}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*(one.tolist() for one in columns.values()), strict=True))
        if shutil.which("Rscript"):
            found |= others(["Rscript", str(HERE / "parity_reference.R"), folder])
        if rivals is not None:
            found |= others([str(rivals), str(HERE / "_parity_rivals.py"), folder])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rivals", type=Path, help="python of an environment with the rivals")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewRowsWarning)
    known, lines, worst = references(options.rivals), [], 0
    called = {kind: ours(rows(kind)) for kind in KINDS}
    for name, value in known.items():
        plain, _, kind = name.rpartition(" ")
        call, own = called[kind][plain]
        limit = TESTED if plain.startswith(("pROC ci", "pROC delong")) else EXACT
        gap = abs(own - value)
        worst += gap > limit
        shown = f"{gap:.1e}" if gap <= limit else f"**{gap:.1e}**"
        lines.append([plain, kind, f"`{call}`", f"{own:.10f}", f"{value:.10f}", shown])
    absent = [one for one in PACKAGES if not any(name.startswith(f"{one} ") for name in known)]
    missing = f" Not installed here: {', '.join(absent)}." if absent else ""
    text = [
        "# The same numbers as other packages",
        f"{len(lines)} cells on 80 + 520 rows, with and without ties; {worst} differ by more than "
        f"{EXACT:g} (deterministic values) or {TESTED:g} (limits and p-values).{missing} "
        "scikit-plot counts rows of equal score one by one in the order in which they stand, positives "
        "first here; ours are spread evenly. precrec and yardstick are not among Debian's packages: "
        "precrec's measures, NIST's detection cost and R's net benefit are computed from the published "
        "formulas.",
        markdown_table(["reference", "rows", "aucuba", "ours", "theirs", "difference"], lines),
    ]
    write_signed(RESULTS / f"{NAME}.md", "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
