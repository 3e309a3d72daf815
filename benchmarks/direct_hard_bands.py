"""Single direct fits in easy and hard bands: training and test partial AUC beside the anchor's.

The sets of ``partial_auc_quality`` (halves of at most 10,000 rows) and celeba (30,000 training rows,
60,000 test rows), five splits, features standardised on the training part, C = 1. A band of .001 is
tried where it holds at least ten training negatives. ``centred`` is the plain ramp, in which a tie
costs 1/2, and its model of lowest objective; ``present`` is the fit of `PartialAUCClassifier`. One
cell is a set, a split and a band; finished cells are kept in ``results/direct_hard_bands.csv``.

    python -m benchmarks.direct_hard_bands [set ...]
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from aucuba import PartialAUCClassifier
from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._anchored_fit import ANCHOR_STRENGTH, Anchored, training_region
from aucuba.metrics import partial_auc_score
from aucuba.risks import Sample, make_risk
from aucuba.solvers import LBFGSSolver
from benchmarks.partial_auc_quality import SETS, halves
from reproductions.data import data_file
from reproductions.tables import markdown_table, write_signed

BANDS = [(0.0, 0.001), (0.0, 0.01), (0.0, 0.05), (0.0, 0.1), (0.02, 0.05)]
N_SPLITS, FEWEST = 5, 10
METHODS = ("anchor", "centred", "present")
RESULTS = Path(__file__).parent / "results"
CELLS, TABLE = RESULTS / "direct_hard_bands.csv", RESULTS / "direct_hard_bands.md"
COLUMNS = ["set", "split", "band", "at limit"]
COLUMNS += [f"{method} {part}" for part in ("training", "test") for method in METHODS]


def celeba(split):
    with np.load(data_file("adbench", "celeba.npz")) as file:
        X, y = file["X"].astype(np.float64), file["y"] == 1
    train, test = train_test_split(
        np.arange(y.size), train_size=30_000, test_size=60_000, stratify=y, random_state=split
    )
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]


def parts(name, split):
    return celeba(split) if name == "celeba" else halves(*SETS[name](), split)


def centred_fit(X, sample, region, anchor):
    """The plain ramp from the anchor, as it was before ties could cost more."""
    design = TableDesign(X)
    risk = make_risk("direct", sample, region)
    pulled = Anchored(risk, design.scores(anchor), ANCHOR_STRENGTH)
    return LBFGSSolver(max_iter=100).solve(design, pulled, start=anchor).coef


def one_cell(data, band):
    X_train, X_test, y_train, y_test = data
    sample = Sample(np.asarray(y_train, dtype=bool))
    region, _ = training_region(sample, Region.from_params(band))
    in_band = (~sample.positive).sum() * band[1]
    if region is None or (band[1] <= 0.001 and in_band < FEWEST):
        return None
    fit = PartialAUCClassifier(band).fit(X_train, y_train)
    anchor = fit.anchor_coef_[0]
    models = {
        "anchor": anchor,
        "centred": centred_fit(X_train, sample, region, anchor),
        "present": fit.coef_[0],
    }
    row = {"at limit": int(fit.n_iter_ >= 100)}
    for method, coef in models.items():
        training = partial_auc_score(y_train, X_train @ coef, fpr_range=region.fpr_range)
        test = partial_auc_score(y_test, X_test @ coef, fpr_range=band)
        row |= {f"{method} training": f"{training:.6f}", f"{method} test": f"{test:.6f}"}
    return row


def run(names):
    done = {(row["set"], int(row["split"]), row["band"]) for row in read_cells()}
    with CELLS.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for name in names:
            for split in range(N_SPLITS):
                bands = [band for band in BANDS if (name, split, str(band)) not in done]
                data = parts(name, split) if bands else None
                for band in bands:
                    row = one_cell(data, band)
                    if row is not None:
                        writer.writerow({"set": name, "split": split, "band": str(band)} | row)
                file.flush()
            print(name, flush=True)


def read_cells():
    if not CELLS.exists():
        return []
    with CELLS.open() as file:
        return list(csv.DictReader(file))


def summary(rows, band):
    cells = [row for row in rows if row["band"] == str(band)]
    sets = sorted({row["set"] for row in cells})

    def mean(column):
        of_sets = [[float(r[column]) for r in cells if r["set"] == name] for name in sets]
        return f"{100 * np.mean([np.mean(values) for values in of_sets]):.2f}"

    def training(row, method):
        return float(row[f"{method} training"])

    perfect = [row for row in cells if training(row, "anchor") > 1 - 1e-4]
    others = [row for row in cells if row not in perfect]
    kept = sum(training(row, "present") <= training(row, "anchor") for row in others)
    return [
        str(band),
        len(sets),
        *(mean(f"{method} test") for method in METHODS),
        sum(training(row, "centred") < training(row, "anchor") - 2e-6 for row in cells),
        sum(training(row, "present") < training(row, "anchor") - 2e-6 for row in cells),
        f"{kept} of {len(others)}",
        len(perfect),
        f"{np.mean([int(row['at limit']) for row in cells]):.2f}",
    ]


def write_table():
    rows = read_cells()
    header = ["band", "sets", *(f"{method}, test" for method in METHODS)]
    header += ["centred below the anchor", "present below the anchor", "anchor returned"]
    header += ["anchor perfect", "at the limit"]
    by_band = [summary(rows, band) for band in BANDS if any(r["band"] == str(band) for r in rows)]
    hard = [
        [r["set"], r["band"], *(f"{100 * float(r[c]):.1f}" for c in COLUMNS[4:])]
        for r in rows
        if r["split"] == "0" and float(r["centred training"]) < float(r["anchor training"]) - 2e-6
    ]
    text = "\n\n".join(
        [
            "# Direct fits in easy and hard bands",
            __doc__.split("\n\n")[1].replace("\n", " "),
            "Test partial AUC x 100, mean over the sets of the mean over their splits; cells whose "
            "training partial AUC is below the anchor's; cells that return the anchor where it is "
            "not already perfect in training; fits of 100 iterations or more.",
            markdown_table(header, by_band),
            "## Cells of split 0 that the centred ramp made worse",
            markdown_table(["set", "band", *COLUMNS[4:]], hard),
        ]
    )
    write_signed(TABLE, text, "benchmarks direct_hard_bands")
    print(text)


def main(names=()):
    RESULTS.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(names or [*SETS, "celeba"])
    write_table()


if __name__ == "__main__":
    main(sys.argv[1:])
