"""Write RDKit's answers to the rows of ``tests/metrics/proc/rows.csv`` without ties (needs rdkit).

python tests/metrics/rdkit/make_answers.py
"""

import csv
import json
from pathlib import Path

HERE = Path(__file__).parent
ROWS = HERE.parent / "proc" / "rows.csv"


def main():
    # Here, since tests are collected where RDKit is missing.
    from rdkit.ML.Scoring import Scoring

    with ROWS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    answers = {}
    for case in ("case0", "case2"):
        ranked = sorted(
            ([float(row["a"]), int(row["y"])] for row in rows if row["case"] == case),
            key=lambda pair: -pair[0],
        )
        answers[case] = {
            "bedroc": Scoring.CalcBEDROC(ranked, 1, 20.0),
            "rie": Scoring.CalcRIE(ranked, 1, 20.0),
            "enrichment": Scoring.CalcEnrichment(ranked, 1, [0.1])[0],
        }
    text = json.dumps(answers, indent=1)
    (HERE / "answers.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
