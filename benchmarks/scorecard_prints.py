"""Cards in print: ours, FasterRisk's and optbinning's of the same table, one below the other.

    AUCUBA_RIVALS=FOLDER python -m benchmarks scorecard_prints

Each is trained on one half of the rows for the range (0, .05) and judged on the other. The environments
of the rivals are those of ``scorecards``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aucuba import RegionScorecard
from aucuba._rows._sample import Sample
from aucuba.scorecard import Scorecard
from benchmarks._scorecard_cells import restrictions, rival
from benchmarks._scorecard_sets import Halves
from reproductions.tables import markdown_table, write_signed

TABLE = Path(__file__).parent / "results" / "scorecard_prints.md"
N_ITEMS, LIMITS = 5, "0.05"
INTRODUCTION = """
Cards of five items, trained on one half of the rows, with their partial AUC x 100 in (0, .05) on the
other half. Our card and FasterRisk's choose from the same conditions; optbinning bins five columns or
fewer by itself, and gives every bin points from 0 to 100, which fall with the risk. One split of one
table is no comparison (`scorecards.md` is one). Breast cancer: the points speak for malignant.
a9a: columns of 0 and 1, numbered.
`clinic` is drawn by this script: the risk grows with age above 65, is higher for the divorced and the
widowed, for a marker above 2, and most where the marker was not measured. KDD: rare attacks, with
three text columns.
"""


def breast_cancer():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.to_numpy() == 0


def clinic(n_rows=10_000):
    """A number, categories, and a marker that is missing where it matters."""
    import pandas as pd

    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, n_rows)
    status = rng.choice(
        ["single", "married", "divorced", "widowed"], n_rows, p=[0.3, 0.5, 0.1, 0.1]
    )
    ward = rng.choice(["A", "B", "C"], n_rows)
    marker = np.round(rng.lognormal(size=n_rows), 2)
    risk = 0.05 * np.maximum(age - 65, 0) + 1.0 * np.isin(status, ["divorced", "widowed"])
    absent = rng.random(n_rows) < 0.1
    risk = risk + 2.0 * absent + 1.5 * (~absent & (marker > 2)) + rng.logistic(size=n_rows)
    table = {"age": age, "status": status, "ward": ward, "marker": np.where(absent, np.nan, marker)}
    return pd.DataFrame(table), risk > 4.5


OWN = {"breast cancer": breast_cancer, "clinic": clinic}
# The rivals that are printed beside our card, by table.
PRINTED = {
    "breast cancer": ("FasterRisk", "optbinning"),
    "a9a": ("FasterRisk", "optbinning"),
    "KDD rare attacks": ("FasterRisk",),
    "clinic": ("FasterRisk",),
}


def our_card(halves):
    """Text and scores of the test rows of `RegionScorecard` at its defaults."""
    model = RegionScorecard((0.0, 0.05), max_items=N_ITEMS, random_state=0).fit(halves.X, halves.y)
    card = Scorecard.from_model(model)
    text = "\n".join(f"{points:+d}  {condition}" for condition, points in card.rows)
    return f"{text}\n\n{card.decision}", model.total(halves.X_test)


def rival_card(method, halves):
    """Text and scores of the test rows of a rival."""
    rules = restrictions(halves.columns.names, N_ITEMS)
    conditions, table = halves.columns.conditions(Sample(halves.y), rules)
    values = halves.columns_test.values
    met = np.array([one.met(values[one.place]) for one in conditions])
    scores, _, text = rival(method, N_ITEMS, halves, conditions, table, met)
    return text, scores


def section(name):
    """The cards of one table."""
    halves = Halves.cut(*OWN[name](), 0) if name in OWN else Halves.of(name, 0)
    shown, totals = our_card(halves)
    cards = [("RegionScorecard", shown, totals)]
    for method in PRINTED[name]:
        text, scores = rival_card(method, halves)
        cards.append((method, text, scores))
    values = [[method, f"{100 * halves.pauc(scores)[LIMITS]:.1f}"] for method, _, scores in cards]
    printed = [f"{method}:\n\n```\n{text}\n```" for method, text, _ in cards]
    return "\n\n".join([f"## {name}", markdown_table(["card", "pAUC x 100"], values), *printed])


def main():
    sections = [section(name) for name in PRINTED]
    write_signed(
        TABLE,
        "\n\n".join(["# Cards in print", INTRODUCTION, *sections]),
        "benchmarks scorecard_prints",
    )


if __name__ == "__main__":
    main()
