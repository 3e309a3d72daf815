"""Coverage and width of audit intervals, on tables whose labels are all known.

    python -m benchmarks audits

Scores are normal, shifted by d' for positives. Coverage is counted over the draw of the rows: the
intervals are about the rates of a fixed table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import beta, norm

from aucuba.threshold import AuditPlan, audit_interval, plan_audit
from reproductions.tables import markdown_table, write_signed

NAME = "audits"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
N_ROWS = 50_000
N_TABLES, N_DRAWS = 5, 40
LABELS = (100, 300, 1_000, 3_000, 10_000)
PREVALENCES = (0.001, 0.01, 0.1)
# Flagged at these false positive rates.
RATES = (0.0005, 0.002, 0.01)


class World:
    """A table of rows with labels, flags and the true chance that each row is positive."""

    def __init__(self, rng: np.random.Generator, d: float, prevalence: float, fpr: float) -> None:
        self.y = rng.random(N_ROWS) < prevalence
        self.score = rng.normal(size=N_ROWS) + d * self.y
        odds = prevalence / (1 - prevalence) * np.exp(d * self.score - d * d / 2)
        self.chance = odds / (1 + odds)
        self.flags = self.score > norm.isf(fpr)
        self.tpr = self.flags[self.y].mean()

    def draw(self, plan: AuditPlan, rng: np.random.Generator) -> tuple[AuditPlan, np.ndarray]:
        included = rng.random(N_ROWS) < plan.inclusion_probability
        rows = np.flatnonzero(included)
        again = replace(
            plan,
            rows=rows,
            flags=self.flags[rows],
            probability=plan.inclusion_probability[rows],
            look_sizes=np.array([rows.size]),
        )
        return again, self.y[rows]


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    return low, beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0


def normal_covers(y: np.ndarray, flags: np.ndarray, weight: np.ndarray, truth: float) -> bool:
    """Whether the usual interval of a ratio of weighted sums covers."""
    counted = y * weight
    if not counted.sum():
        return False
    value = np.sum(counted * flags) / counted.sum()
    error = np.sqrt(np.sum((counted * (flags - value)) ** 2)) / counted.sum()
    return bool(abs(value - truth) <= 1.96 * error)


def coverage_rows():
    for prevalence in PREVALENCES:
        for labels in LABELS:
            for known in ("right", "ten times too low", "none"):
                rng = np.random.default_rng(0)
                covered = normal = 0
                widths = []
                for _ in range(N_TABLES):
                    world = World(rng, 2.0, prevalence, 0.01)
                    chance = {"right": world.chance, "ten times too low": world.chance / 10}
                    plan = plan_audit(
                        world.flags, budget=labels, positive_probability=chance.get(known)
                    )
                    for _ in range(N_DRAWS):
                        again, y = world.draw(plan, rng)
                        found = audit_interval(again, y)
                        covered += found.low <= world.tpr <= found.high
                        normal += normal_covers(y, again.flags, 1 / again.probability, world.tpr)
                        widths.append((found.high - found.low) / 2)
                n = N_TABLES * N_DRAWS
                print(prevalence, labels, known, covered / n, normal / n, flush=True)
                yield [
                    f"{prevalence:g}",
                    f"{labels:,}",
                    known,
                    f"{100 * covered / n:.1f}",
                    f"{100 * normal / n:.1f}",
                    f"{np.mean(widths):.3f}",
                ]


def width_rows(labels: int = 3_000, prevalence: float = 0.01):
    for d in (2.0, 3.0, 4.0):
        for fpr in RATES:
            rng = np.random.default_rng(0)
            ours, plain, expected, truths = [], [], [], []
            for _ in range(20):
                world = World(rng, d, prevalence, fpr)
                plan = plan_audit(world.flags, budget=labels, positive_probability=world.chance)
                again, y = world.draw(plan, rng)
                found = audit_interval(again, y)
                ours.append((found.high - found.low) / 2)
                expected.append(plan.expected_half_width)
                rows = rng.choice(N_ROWS, again.rows.size, replace=False)
                hits = int(np.sum(world.y[rows] & world.flags[rows]))
                low, high = clopper_pearson(hits, int(world.y[rows].sum()))
                plain.append((high - low) / 2)
                truths.append(world.tpr)
            ratio = np.mean(ours) / np.mean(plain)
            print(d, fpr, ratio, flush=True)
            yield [
                f"{d:g}",
                f"{fpr:g}",
                f"{np.mean(truths):.2f}",
                f"{np.mean(ours):.3f}",
                f"{np.mean(expected):.3f}",
                f"{np.mean(plain):.3f}",
                f"{ratio:.2f}",
            ]


def needed_rows(goal: float = 0.10, prevalence: float = 0.01):
    """Labels for an expected half-width of ``goal``, by bisection on a logarithmic scale."""
    for d in (2.0, 3.0, 4.0):
        for fpr in RATES:
            world = World(np.random.default_rng(0), d, prevalence, fpr)
            low, high = np.log(100), np.log(N_ROWS)
            for _ in range(9):
                middle = (low + high) / 2
                plan = plan_audit(
                    world.flags,
                    budget=round(np.exp(middle)),
                    positive_probability=world.chance,
                    random_state=0,
                )
                low, high = (low, middle) if plan.expected_half_width <= goal else (middle, high)
            positives = next(
                n
                for n in range(2, 10_000)
                if np.diff(clopper_pearson(round(world.tpr * n), n))[0] / 2 <= goal
            )
            yield [
                f"{d:g}",
                f"{fpr:g}",
                f"{world.tpr:.2f}",
                f"{round(np.exp(high), -1):,.0f}",
                f"{positives / prevalence:,.0f}",
            ]


def main() -> None:
    text = [
        "# Audits: intervals of the sensitivity from few labels",
        f"Tables of {N_ROWS:,} rows with normal scores, shifted by d' for positives; `plan_audit` with "
        f"the budget of labels and `audit_interval` at 95 %. Coverage is over {N_TABLES} tables with "
        f"{N_DRAWS} draws of rows each (a standard error of 1.5 points at 95 %), with chances of being "
        "positive that are right, ten times too low, or not given; flagged at a false positive rate "
        'of .01, d\' 2. "Normal" is the usual interval of a weighted ratio on the same rows.',
        "## Coverage",
        markdown_table(
            [
                "prevalence",
                "labels",
                "chances given",
                "covers, %",
                "normal covers, %",
                "half-width",
            ],
            coverage_rows(),
        ),
        "## Half-width with 3,000 labels at prevalence .01",
        "Beside Clopper and Pearson's interval from as many random rows; means over 20 tables. "
        "The chances are right. The interval assumes nothing about them, so that the rows that nobody "
        "suspects need a floor of labels: the fewer positives a classifier misses, the more of the "
        "width comes from the misses that may hide there.",
        markdown_table(
            [
                "d'",
                "FPR",
                "sensitivity",
                "half-width",
                "expected",
                "Clopper-Pearson",
                "ratio",
            ],
            width_rows(),
        ),
        "## Labels for a half-width of .10",
        markdown_table(
            ["d'", "FPR", "sensitivity", "labels", "random labels, Clopper-Pearson"], needed_rows()
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
