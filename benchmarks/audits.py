"""Coverage and width of audit intervals, on tables whose labels are all known.

    python -m benchmarks audits

Scores are normal, shifted by d' for positives. Coverage is counted over the draw of the rows: the
intervals are about the rates of a fixed table. Results of cells are kept in
``results/audits.json``; finished ones are not run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, binom, norm

from aucuba.threshold import AuditPlan, audit_interval, plan_audit
from reproductions.tables import markdown_table, write_signed

NAME = "audits"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
STORE = RESULT.with_suffix(".json")
N_ROWS, ERROR = 50_000, 0.05
N_TABLES, N_DRAWS, N_WIDTHS = 20, 25, 20
LABELS = (100, 300, 1_000, 3_000, 10_000)
PREVALENCES = (0.001, 0.01, 0.1)
CHANCES = ("right", "ten times too low", "none")
SHIFTS = (2.0, 3.0, 4.0)
# Flagged at these false positive rates.
RATES = (0.0005, 0.002, 0.01)
# Rates and looks beside one look at the sensitivity.
OTHERS = (("fpr", 1), ("precision", 1), ("tpr", 3))
# Ratios to Clopper and Pearson that were asked for, by d'.
ASKED = {2.0: 0.9, 3.0: 0.8, 4.0: 0.7}


class World:
    """A table of rows with labels, flags and the true chance that each row is positive."""

    def __init__(self, rng: np.random.Generator, d: float, prevalence: float, fpr: float) -> None:
        self.y = rng.random(N_ROWS) < prevalence
        self.score = rng.normal(size=N_ROWS) + d * self.y
        odds = prevalence / (1 - prevalence) * np.exp(d * self.score - d * d / 2)
        self.chance = odds / (1 + odds)
        self.flags = self.score > norm.isf(fpr)

    def truth(self, rate: str) -> float:
        hits, counts = {
            "tpr": (self.flags, self.y),
            "fpr": (self.flags, ~self.y),
            "precision": (self.y, self.flags),
        }[rate]
        return float(hits[counts].mean())

    def draw(self, plan: AuditPlan, rng: np.random.Generator) -> tuple[AuditPlan, np.ndarray]:
        """The plan with other rows, drawn by the same probabilities and in a random order."""
        rows = np.flatnonzero(rng.random(N_ROWS) < plan.inclusion_probability)
        time, n_looks = rng.random(rows.size), plan.look_sizes.size
        rows, time = rows[np.argsort(time)], np.sort(time)
        again = replace(
            plan,
            rows=rows,
            flags=self.flags[rows],
            probability=plan.inclusion_probability[rows],
            look_sizes=np.searchsorted(time, np.arange(1, n_looks + 1) / n_looks, side="right"),
        )
        return again, self.y[rows]


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    low = beta.ppf(ERROR / 2, hits, n - hits + 1) if hits else 0.0
    return low, beta.ppf(1 - ERROR / 2, hits + 1, n - hits) if hits < n else 1.0


def random_half_width(tpr: float, labels: int, prevalence: float) -> float:
    """The mean half-width of Clopper and Pearson's interval from so many random labels."""
    most = int(binom.isf(1e-6, labels, prevalence))
    total = 0.0
    for n in range(most + 1):
        hits = np.arange(n + 1)
        law = binom.pmf(n, labels, prevalence) * binom.pmf(hits, n, tpr)
        for k in hits[law > 1e-8].tolist():
            total += law[k] * np.diff(clopper_pearson(k, n))[0] / 2
    return float(total)


def wald_covers(tpr: float, labels: int, prevalence: float) -> float:
    """How often the textbook interval from so many random labels covers; without positives, never."""
    total = 0.0
    for n in range(1, int(binom.isf(1e-6, labels, prevalence)) + 1):
        value = np.arange(n + 1) / n
        covers = np.abs(value - tpr) <= 1.96 * np.sqrt(value * (1 - value) / n)
        law = binom.pmf(np.arange(n + 1), n, tpr)
        total += binom.pmf(n, labels, prevalence) * law[covers].sum()
    return float(total)


def normal_covers(y: np.ndarray, flags: np.ndarray, weight: np.ndarray, truth: float) -> bool:
    """Whether the usual interval of a ratio of weighted sums covers."""
    counted = y * weight
    if not counted.sum():
        return False
    value = np.sum(counted * flags) / counted.sum()
    error = np.sqrt(np.sum((counted * (flags - value)) ** 2)) / counted.sum()
    return bool(abs(value - truth) <= 1.96 * error)


def coverage(
    prevalence: float, labels: int, known: str, rate: str = "tpr", looks: int = 1
) -> dict[str, float]:
    """How often the intervals of all looks hold, over the draws of rows from several tables."""
    rng = np.random.default_rng(0)
    covered = normal = 0
    widths = []
    for _ in range(N_TABLES):
        world = World(rng, 2.0, prevalence, 0.01)
        truth = world.truth(rate)
        chance = {"right": world.chance, "ten times too low": world.chance / 10}.get(known)
        plan = plan_audit(
            world.flags, budget=labels, rate=rate, positive_probability=chance, looks=looks
        )
        for _ in range(N_DRAWS):
            again, y = world.draw(plan, rng)
            found = [audit_interval(again, y[:n]) for n in again.look_sizes]
            covered += all(one.low <= truth <= one.high for one in found)
            normal += normal_covers(y, again.flags, 1 / again.probability, truth)
            widths.append((found[-1].high - found[-1].low) / 2)
    n = N_TABLES * N_DRAWS
    return {"covers": covered / n, "normal": normal / n, "width": float(np.mean(widths))}


def width(d: float, fpr: float, labels: int = 3_000, prevalence: float = 0.01) -> dict[str, float]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(N_WIDTHS):
        world = World(rng, d, prevalence, fpr)
        plan = plan_audit(world.flags, budget=labels, positive_probability=world.chance)
        again, y = world.draw(plan, rng)
        interval = audit_interval(again, y)
        plain = random_half_width(world.truth("tpr"), labels, prevalence)
        half = (interval.high - interval.low) / 2
        found.append((half, plan.expected_half_width, plain, world.truth("tpr")))
    names = ("width", "expected", "plain", "tpr")
    means = dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))
    return {**means, "least": least_half_width(d, fpr, labels, prevalence)}


def least_half_width(d: float, fpr: float, labels: int, prevalence: float) -> float:
    """The half-width that no plan for this table can expect to go below without luck.

    The hits are given for nothing, and all labels go to unflagged rows: with probability ``near`` to
    those above a cut of the scores, with ``far`` to the others. Where k more misses lie among the far
    rows, none of them is labelled with probability (1 - far)^k, and then the labels are those of the
    table without them; so the lower limit must allow for the k with (1 - far)^k = e. Likewise the upper
    limit must allow that misses that were not labelled are none. The best cut, division of the labels
    and division of the error are taken.
    """
    level = norm.isf(fpr)
    hits, misses = N_ROWS * prevalence * np.array([norm.sf(level - d), norm.cdf(level - d)])
    cuts = np.linspace(-1, level, 120)[:-1, None, None]
    part = np.linspace(0.005, 0.995, 199)[None, :, None]
    upper_error = ERROR * np.linspace(0.01, 0.99, 50)[None, None, :]
    far_rows = N_ROWS * (1 - prevalence) * norm.cdf(cuts)
    near_rows = N_ROWS * (1 - prevalence) * norm.cdf(level) - far_rows
    far_misses = N_ROWS * prevalence * norm.cdf(cuts - d)
    near, far = part * labels / near_rows, (1 - part) * labels / far_rows
    valid = (near < 1) & (far < 1) & (near >= far)
    near, far = (-np.log1p(-np.clip(one, 1e-9, 1 - 1e-9)) for one in (near, far))
    more = -np.log(ERROR - upper_error) / far
    # The far ones are the cheapest to leave out.
    left = np.minimum(far_misses, -np.log(upper_error) / far)
    fewer = left + np.minimum(
        misses - far_misses, np.maximum(-np.log(upper_error) - left * far, 0) / near
    )
    half = (hits / (hits + misses - fewer) - hits / (hits + misses + more)) / 2
    return float(np.where(valid, half, np.inf).min())


def needed(d: float, fpr: float, goal: float = 0.10, prevalence: float = 0.01) -> dict[str, float]:
    """Labels for an expected half-width of ``goal``, by bisection on a logarithmic scale."""
    world = World(np.random.default_rng(0), d, prevalence, fpr)
    tpr = world.truth("tpr")
    low, high = np.log(100), np.log(N_ROWS)
    for _ in range(9):
        middle = (low + high) / 2
        plan = plan_audit(
            world.flags, budget=round(np.exp(middle)), positive_probability=world.chance
        )
        low, high = (low, middle) if plan.expected_half_width <= goal else (middle, high)
    few, many = 100, N_ROWS
    while many - few > 50:
        middle = (few + many) // 2
        enough = random_half_width(tpr, middle, prevalence) <= goal
        few, many = (few, middle) if enough else (middle, many)
    return {"tpr": tpr, "labels": float(np.exp(high)), "plain": float(many)}


def cells() -> dict[str, tuple[Callable[..., dict[str, float]], tuple[Any, ...]]]:
    """Every cell of the study by its name."""
    found: dict[str, tuple[Callable[..., dict[str, float]], tuple[Any, ...]]] = {}
    for prevalence in PREVALENCES:
        for labels in LABELS:
            for known in CHANCES:
                found[f"covers {prevalence} {labels} {known}"] = (
                    coverage,
                    (prevalence, labels, known),
                )
    for rate, looks in OTHERS:
        found[f"covers {rate} {looks}"] = (coverage, (0.01, 1_000, "right", rate, looks))
    for d in SHIFTS:
        for fpr in RATES:
            found[f"width {d:g} {fpr}"] = (width, (d, fpr))
            found[f"needed {d:g} {fpr}"] = (needed, (d, fpr))
    return found


def coverage_rows(store: dict[str, Any]):
    for prevalence in PREVALENCES:
        for labels in LABELS:
            for known in CHANCES:
                one = store[f"covers {prevalence} {labels} {known}"]
                wald = wald_covers(norm.sf(norm.isf(0.01) - 2.0), labels, prevalence)
                yield [
                    f"{prevalence:g}",
                    f"{labels:,}",
                    known,
                    f"{100 * one['covers']:.1f}",
                    f"{100 * one['normal']:.1f}",
                    f"{100 * wald:.1f}",
                    f"{one['width']:.3f}",
                ]


def other_rows(store: dict[str, Any]):
    for rate, looks in OTHERS:
        one = store[f"covers {rate} {looks}"]
        yield [rate, looks, f"{100 * one['covers']:.1f}", f"{one['width']:.4f}"]


def width_rows(store: dict[str, Any]):
    for d in SHIFTS:
        for fpr in RATES:
            one = store[f"width {d:g} {fpr}"]
            ratio = one["width"] / one["plain"]
            yield [
                f"{d:g}",
                f"{fpr:g}",
                f"{one['tpr']:.2f}",
                f"{one['width']:.3f}",
                f"{one['expected']:.3f}",
                f"{one['plain']:.3f}",
                f"{ratio:.2f}",
                f"{ASKED[d]:g}",
                "yes" if ratio <= ASKED[d] else "no",
                f"{one['least'] / one['plain']:.2f}",
            ]


def needed_rows(store: dict[str, Any]):
    for d in SHIFTS:
        for fpr in RATES:
            one = store[f"needed {d:g} {fpr}"]
            yield [
                f"{d:g}",
                f"{fpr:g}",
                f"{one['tpr']:.2f}",
                f"{round(one['labels'], -1):,.0f}",
                f"{round(one['plain'], -2):,.0f}",
            ]


def main() -> None:
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for name, (study, arguments) in cells().items():
        if name not in store:
            store[name] = study(*arguments)
            STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
            print(name, store[name], flush=True)
    n = N_TABLES * N_DRAWS
    bar = 95 - 300 * np.sqrt(ERROR * (1 - ERROR) / n)
    text = [
        "# Audits: intervals from few labels",
        f"Tables of {N_ROWS:,} rows with normal scores, shifted by d' for positives; `plan_audit` with "
        f"the budget of labels and `audit_interval` at 95 %. Coverage is over {N_TABLES} tables with "
        f"{N_DRAWS} draws of rows each and may fall to {bar:.1f} % (95 % less three standard errors), "
        "with chances of being positive that are right, ten times too low, or not given; flagged at a "
        'false positive rate of .01, d\' 2. "Normal" is the usual interval of a weighted ratio on the '
        'same rows; "Wald" is the textbook interval of a fraction from as many random labels, which '
        "does not cover where they have no positive.",
        "## Coverage of the sensitivity",
        markdown_table(
            [
                "prevalence",
                "labels",
                "chances given",
                "covers, %",
                "normal covers, %",
                "Wald, random labels, %",
                "half-width",
            ],
            coverage_rows(store),
        ),
        "Other rates, and three looks whose intervals must hold together; prevalence .01, 1,000 "
        "labels, chances right:",
        markdown_table(["rate", "looks", "covers, %", "half-width"], other_rows(store)),
        "## Half-width with 3,000 labels at prevalence .01",
        "Half-widths of the sensitivity beside the mean one of Clopper and Pearson's interval from as "
        f"many random labels, and the ratio that was asked for; means over {N_WIDTHS} tables, chances "
        "right. The interval assumes nothing about the chances, so rows that nobody suspects need "
        "labels, too: k misses among rows that are labelled with probability p remain unseen with "
        "probability (1 - p)^k. The last column is the ratio that this leaves to a plan that is given "
        "the number of hits for nothing, spends every label on unflagged rows and divides labels and "
        "error as is best for this table. The plan divides the error between the limits as it expects "
        "to be best; Clopper and Pearson halve it. Constants of plans and bets were chosen on other "
        "tables of this kind (seeds 1000 and 1001).",
        markdown_table(
            [
                *("d'", "FPR", "sensitivity", "half-width", "expected", "Clopper-Pearson"),
                *("ratio", "asked", "kept", "least possible ratio"),
            ],
            width_rows(store),
        ),
        "## Labels for a half-width of .10",
        "Labels with which the plan expects it, and random labels whose mean half-width by Clopper and "
        "Pearson it is; prevalence .01.",
        markdown_table(
            ["d'", "FPR", "sensitivity", "labels", "random labels"],
            needed_rows(store),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
