"""How often is a promised rate exceeded? Simulated worlds whose true rates are known.

A world draws calibration rows from a known law of scores, sets the threshold, and compares the true
rate of that threshold with the promise. Counts are kept in ``results/promised_thresholds.json``: a
run goes on where the last one stopped, until every cell has its worlds or the minutes are spent.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)
from benchmarks._promise_rivals_driver import rival_rows
from benchmarks._promise_worlds import HEAVY, SHIFTS, STEPS, FirstColumn, Law
from reproductions.tables import markdown_table, write_signed

NAME = "promised_thresholds"
RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / f"{NAME}.json"
CONFIDENCE = 0.95
KINDS = {
    "fpr": FixedFPRClassifier,
    "tpr": FixedTPRClassifier,
    "precision": FixedPrecisionClassifier,
    "alerts": AlertBudgetClassifier,
}
LIMIT_IS_UPPER = {"fpr": True, "tpr": False, "precision": False, "alerts": True}
COUNTED_CLASS = {"fpr": False, "tpr": True, "precision": None, "alerts": None}
PRECISION_ROWS = {1e-1: 2_000, 1e-2: 10_000, 1e-3: 100_000, 1e-4: 600_000}
BLOCK = 50
RIVAL_HEADER = ["promise", "allowed rate", "rule", "worlds", "broken", "none found"]
RIVAL_HEADER += ["mean TPR", "mean FPR"]


@dataclass(frozen=True)
class Cell:
    """A promise, the rate it allows, the scores, and what the independent units are."""

    promise: str
    rate: float
    scores: str = "continuous"
    units: str = "rows"

    @property
    def key(self):
        return f"{self.promise} {self.rate:g} {self.scores} {self.units}"

    @property
    def limit(self):
        return self.rate if LIMIT_IS_UPPER[self.promise] else 1 - self.rate

    @property
    def n_units(self):
        if self.promise == "precision":
            return PRECISION_ROWS[self.rate] * (1 if self.units == "rows" else 2)
        return round((30 if self.units == "rows" else 60) / self.rate)

    @property
    def law(self):
        return Law(SHIFTS[self.rate], STEPS[self.scores], self.units == "weights")

    def worlds(self, wanted):
        """Fewer at the smallest rate, where a world has hundreds of thousands of rows."""
        return wanted // 5 if self.rate == 1e-4 else wanted

    def model(self, seed):
        options = {"cv": "prefit", "on_failure": "trivial", "random_state": seed}
        if self.units == "weights":
            options |= {"weighted_promise": True, "max_weight": HEAVY}
        return KINDS[self.promise](FirstColumn(), self.limit, CONFIDENCE, **options)

    def draw(self, rng):
        """Scores, labels, and the weights or groups for ``fit``."""
        positive = COUNTED_CLASS[self.promise]
        if self.units == "groups":
            score, y, group = self.law.draw_groups(rng, self.n_units, positive)
            return score, y, {"groups": group}
        score, y, weight = self.law.draw(rng, self.n_units, positive)
        return score, y, {} if weight is None else {"sample_weight": weight}


def all_cells():
    plain = [Cell(p, r, s) for p in KINDS for r in SHIFTS for s in STEPS]
    other = [Cell(p, r, units=u) for u in ("weights", "groups") for p in KINDS for r in (0.1, 0.01)]
    return plain + other


def is_broken(cell, rates):
    rate = rates[cell.promise]
    return rate > cell.limit if LIMIT_IS_UPPER[cell.promise] else rate < cell.limit


def simulate(cell, block, n_worlds):
    """Counts over worlds that only the cell's name and the number of the block decide."""
    # The committed worlds were drawn when groups were called clusters; their seeds keep that name.
    name = cell.key.replace("groups", "clusters")
    rng = np.random.default_rng([block, *name.encode()])
    counts = dict.fromkeys(("worlds", "broken", "trivial", "tpr", "fpr"), 0.0)
    for seed in range(n_worlds):
        score, y, data = cell.draw(rng)
        model = cell.model(seed).fit(score[:, None], y, **data)
        rates = cell.law.rates(model.threshold_)
        counts["worlds"] += 1
        counts["broken"] += bool(is_broken(cell, rates))
        counts["trivial"] += model.trivial_
        counts["tpr"] += rates["tpr"]
        counts["fpr"] += rates["fpr"]
    return counts


def read_store():
    """What earlier runs have found: counts by cell, and the rows of the other tables."""
    empty = {"cells": {}, "refits": [], "rivals": []}
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else empty


def write_store(store):
    STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")


def run_worlds(store, wanted, minutes):
    """Add blocks of worlds until every cell has enough, the least work first, saving after each."""
    found, cost = store["cells"], {}
    end = time.monotonic() + 60 * minutes
    for is_last in (False, True):
        # One block of every cell tells what its worlds cost.
        missing = _unfinished(found, wanted)
        work = {
            cell: cost.get(cell, 0.0) * (cell.worlds(wanted) - found[cell.key]["worlds"])
            for cell in missing
            if cell.key in found
        }
        for cell in sorted(missing, key=lambda one: work.get(one, 0.0)):
            counts = found.setdefault(cell.key, {})
            while counts.get("worlds", 0) < cell.worlds(wanted) and time.monotonic() < end:
                start, block = time.process_time(), int(counts.get("worlds", 0)) // BLOCK
                for name, value in simulate(cell, block, BLOCK).items():
                    counts[name] = counts.get(name, 0) + float(value)
                cost[cell] = time.process_time() - start
                write_store(store)
                if not is_last:
                    break
            print(cell.key, counts.get("worlds", 0), flush=True)


def _unfinished(found, wanted):
    return [
        cell
        for cell in all_cells()
        if found.get(cell.key, {}).get("worlds", 0) < cell.worlds(wanted)
    ]


def bar(n_worlds):
    return 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_worlds)


def world_rows(found):
    for cell in all_cells():
        counts = found.get(cell.key)
        if counts and counts.get("worlds"):
            n = counts["worlds"]
            broken = counts["broken"] / n
            yield [
                cell.promise,
                f"{cell.rate:g}",
                cell.scores,
                cell.units,
                f"{cell.n_units:,}",
                f"{n:,.0f}",
                f"{broken:.2%}",
                f"{bar(n):.2%}",
                "yes" if broken <= bar(n) else "**no**",
                f"{counts['trivial'] / n:.1%}",
                f"{counts['tpr'] / n:.3f}",
                f"{counts['fpr'] / n:.2g}",
            ]


class Refits:
    """Whole fits with two normal columns, where linear scores have exact rates."""

    shift = np.array([1.6, 1.2])

    def draw(self, rng, n_rows=1000, prevalence=0.3):
        y = (rng.uniform(size=n_rows) < prevalence).astype(int)
        return rng.normal(size=(n_rows, 2)) + y[:, None] * self.shift, y

    def rates(self, base, threshold, prevalence=0.3):
        level, length = threshold - base.intercept_[0], np.linalg.norm(base.coef_)
        fpr = norm.sf(level / length)
        tpr = norm.sf((level - base.coef_[0] @ self.shift) / length)
        alerts = prevalence * tpr + (1 - prevalence) * fpr
        precision = prevalence * tpr / alerts if alerts > 0 else 1.0
        return {"fpr": fpr, "tpr": tpr, "alerts": alerts, "precision": precision}


def refit_rows(n_refits):
    """The default split of the four classifiers, then what comes without a promise."""
    refits, base = Refits(), LogisticRegression()
    for promise, kind in KINDS.items():
        limit = 0.1 if LIMIT_IS_UPPER[promise] else 0.9
        cell, rates = Cell(promise, 0.1), []
        for seed in range(n_refits):
            X, y = refits.draw(np.random.default_rng([seed, 7]))
            model = kind(base, limit, CONFIDENCE, on_failure="trivial", random_state=seed).fit(X, y)
            rates.append(refits.rates(model.estimator_, model.threshold_))
        yield _refit_row(f"{kind.__name__}, default", cell, rates, "promised")
    strong = LogisticRegression(C=1e-3)
    for name, options, base in (
        ("FixedFPRClassifier(0.05), default", {}, strong),
        ("FixedFPRClassifier(0.05), `cv=5`", {"cv": 5}, strong),
        ("quantile of held-out negatives, 0.05", None, strong),
    ):
        rates = []
        for seed in range(n_refits):
            rng = np.random.default_rng([seed, 8])
            X, y = refits.draw(rng, 500, 0.2)
            if options is None:
                fitted = base.fit(X[:250], y[:250])
                held = fitted.decision_function(X[250:])[y[250:] == 0]
                rates.append(refits.rates(fitted, np.quantile(held, 0.95, method="higher"), 0.2))
            else:
                model = FixedFPRClassifier(base, 0.05, CONFIDENCE, random_state=seed, **options)
                model.fit(X, y)
                rates.append(refits.rates(model.estimator_, model.threshold_, 0.2))
        kind = "promised" if options == {} else "no promise"
        yield _refit_row(f"{name}, C=1e-3", Cell("fpr", 0.05), rates, kind)


def _refit_row(name, cell, rates, kind):
    broken = np.mean([is_broken(cell, one) for one in rates])
    fpr, tpr = (np.mean([one[rate] for one in rates]) for rate in ("fpr", "tpr"))
    return [name, kind, len(rates), f"{broken:.1%}", f"{fpr:.3f}", f"{tpr:.3f}"]


def report(found, refits, rivals):
    rows = list(world_rows(found))
    most = max(float(row[6].rstrip("%")) for row in rows)
    header = [
        "promise",
        "allowed rate",
        "scores",
        "units",
        "n",
        "worlds",
        "broken",
        "bar",
        "within",
    ]
    header += ["trivial", "mean TPR", "mean FPR"]
    text = [
        "# Promised thresholds: how often is the promise broken?",
        "Confidence 0.95. The bar is 5 % and three standard errors of the number of worlds. "
        f"{len(rows)} cells; the largest fraction of broken promises is {most:.2f} %. n counts the "
        "units that the promise counts (for precision all rows or groups). Trivial: worlds in which "
        "no threshold was certified, so that nothing is flagged, which keeps the promise; they count "
        "with a TPR of 0. Heavy rows weigh 3, light ones 0.5, max_weight is 3; groups have one to "
        "four rows with an intraclass correlation of .3.",
        markdown_table(header, rows),
        "## Whole fits with the default split",
        "1,000 rows of two normal columns, 30 % positive, logistic regression, allowed rate 0.1; with "
        "C = 1e-3, where the scale of scores grows with the number of rows, 500 rows, 20 % positive. "
        "The cross-fitted form and the plain quantile promise nothing and have no bar.",
        markdown_table(["rule", "kind", "fits", "broken", "mean FPR", "mean TPR"], refits),
    ]
    if rivals:
        text += [
            "## Beside nproc and MAPIE",
            "The same calibration rows for all, confidence 0.95, continuous scores. MAPIE takes exact "
            "posterior probabilities; fixed: fixed sequence over 999 thresholds from the safe end; "
            "split: half of the rows learn the order. nproc trains logistic regression on the score "
            "and uses half (default) or 90 % of the negatives for the threshold. A world without a "
            "threshold counts as flagging nothing (for tpr: everything).",
            markdown_table(RIVAL_HEADER, rivals),
        ]
    return "\n\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=10_000, help="worlds per cell")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="time for the worlds of this run"
    )
    parser.add_argument(
        "--refits", type=int, default=200, help="whole fits per classifier, 0 keeps"
    )
    parser.add_argument("--rivals", type=int, default=200, help="worlds per rival, 0 keeps")
    options = parser.parse_args()
    # Worlds in which nothing is certified are counted, not warned about.
    warnings.filterwarnings("ignore", message="The held-out rows cannot carry")
    store = read_store()
    run_worlds(store, options.worlds, options.minutes)
    if options.refits:
        store["refits"] = list(refit_rows(options.refits))
    if options.rivals:
        store["rivals"] = rival_rows(options.rivals)
    write_store(store)
    text = report(store["cells"], store["refits"], store["rivals"])
    write_signed(RESULTS / f"{NAME}.md", text, f"benchmarks {NAME} --worlds {options.worlds}")


if __name__ == "__main__":
    main()
