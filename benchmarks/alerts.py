"""FalseDiscoverySelector and TriageClassifier in worlds whose truth is known.

    python -m benchmarks alerts

Scores are normal, shifted by d' = 3.5 for positives, rounded where ties are asked for. A base that
returns its first column stands for a fitted classifier, so that only the promise is measured.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

from aucuba import FalseDiscoverySelector, FewRowsWarning, TriageClassifier
from reproductions.tables import markdown_table, write_signed

NAME = "alerts"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
SHIFT = 3.5
MAX_FDR = 0.1
N_NEGATIVES, BATCH = 5_000, 2_000
N_WORLDS, N_TRIAGES = 1_000, 10_000
# Days with a smaller fraction of positives are quiet.
QUIET = 0.005


class FirstColumn(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose score is the first column."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, 0]


class World:
    """Draws of negatives and of days, plain or with ties, strata or clusters of five rows."""

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng

    def rows(self, n: int, prevalence: float):
        """Return X, y and groups of about n rows."""
        rng, groups = self.rng, None
        if self.kind == "clusters":
            groups = np.repeat(np.arange(n // 5), 5) + rng.integers(1_000_000) * 1_000_000
            y = np.repeat(rng.random(n // 5) < prevalence, 5)
            score = rng.normal(size=y.size) + np.repeat(rng.normal(size=n // 5), 5) + SHIFT * y
            return score[:, None], y, groups
        y = rng.random(n) < prevalence
        score = rng.normal(size=n) + SHIFT * y
        if self.kind == "ties":
            score = np.round(score * 2) / 2
        part = (rng.random(n) < 0.3).astype(float)
        if self.kind == "strata":
            score = score * (1 + part) + 2 * part
        return np.column_stack([score, part]), y, groups

    def selector(self, confidence=None, **params) -> FalseDiscoverySelector:
        strata = 1 if self.kind == "strata" else None
        X, y, groups = self.rows(N_NEGATIVES, 0.0)
        seed = int(self.rng.integers(2**31))
        model = FalseDiscoverySelector(
            FirstColumn(), MAX_FDR, confidence, "prefit", strata=strata, random_state=seed, **params
        )
        return model.fit(X, y.astype(int), groups=groups)

    def day(self, selector, prevalence=None):
        """Return false and all selected units, positives found and all, of one day."""
        prevalence = self.rng.uniform(0, 0.02) if prevalence is None else prevalence
        X, y, groups = self.rows(BATCH, prevalence)
        mask = selector.select(X, groups=groups).mask
        if groups is not None:
            first = np.unique(groups, return_index=True)[1]
            mask, y = mask[first], y[first]
        return np.array([np.sum(mask & ~y), mask.sum(), np.sum(mask & y), y.sum()])


def average_rows():
    cells = [(kind, {}) for kind in ("plain", "ties", "strata", "clusters")]
    cells += [("ties", {"ties": "conservative"}), ("strata", {"joint": False})]
    for kind, params in cells:
        rng = np.random.default_rng(0)
        world = World(kind, rng)
        days = np.array([world.day(world.selector(**params)) for _ in range(N_WORLDS)])
        share = days[:, 0] / np.maximum(days[:, 1], 1)
        error = share.std() / np.sqrt(N_WORLDS)
        name = kind + "".join(f", {key}={value!r}" for key, value in params.items())
        print(name, share.mean(), flush=True)
        yield [
            name,
            f"{100 * share.mean():.1f}",
            f"{100 * error:.1f}",
            "yes" if share.mean() <= MAX_FDR + 3 * error else "no",
            f"{days[:, 2].sum() / days[:, 3].sum():.2f}",
        ]


def conditional_rows(n_calibrations: int = 300, n_days: int = 100):
    """How many calibrations have a rate above the limit over their later days."""
    for confidence in (None, 0.8, 0.95):
        rng = np.random.default_rng(0)
        world = World("plain", rng)
        rates, recalls = [], []
        for _ in range(n_calibrations):
            selector = world.selector(confidence)
            # Days with 2 % of positives, where few negatives are left out of the comparison.
            days = np.array([world.day(selector, 0.02) for _ in range(n_days)])
            rates.append(np.mean(days[:, 0] / np.maximum(days[:, 1], 1)))
            recalls.append(days[:, 2].sum() / days[:, 3].sum())
        above = np.mean(np.array(rates) > MAX_FDR)
        print(confidence, above, flush=True)
        yield [
            "on average" if confidence is None else f"{confidence:g}",
            f"{100 * above:.1f}",
            f"{100 * np.mean(rates):.1f}",
            f"{100 * np.quantile(rates, 0.95):.1f}",
            f"{np.mean(recalls):.2f}",
        ]


def fixed_threshold_rows(n_days: int = 1_000):
    """The selection beside fixed thresholds with the same rate of false ones over the same days."""
    rng = np.random.default_rng(0)
    world = World("plain", rng)
    days, fixed = [], []
    grid = np.linspace(2.0, 5.5, 701)
    for _ in range(n_days):
        selector = world.selector()
        X, y, _ = world.rows(BATCH, rng.uniform(0, 0.02))
        mask, score = selector.select(X).mask, X[:, 0]
        days.append([np.sum(mask & ~y), mask.sum(), np.sum(mask & y), y.sum()])
        above = [
            one.size - np.searchsorted(np.sort(one), grid, "right") for one in (score[~y], score[y])
        ]
        fixed.append([above[0], above[0] + above[1], above[1], np.full(grid.size, y.sum())])
    quiet = np.array(days)[:, 3] < QUIET * BATCH
    chosen = {"FalseDiscoverySelector": _false_shares(np.array(days), quiet)}
    # Thresholds, then days, then counts.
    at_all = np.array([_false_shares(one, quiet) for one in np.moveaxis(np.array(fixed), 2, 0)])
    for place, name in enumerate(("pooled", "mean over days")):
        first = np.argmax(at_all[:, place] <= chosen["FalseDiscoverySelector"][place])
        chosen[f"fixed threshold, same {name}"] = tuple(at_all[first])
    for name, (pooled, mean, at_quiet, recall) in chosen.items():
        shares = [f"{100 * share:.1f}" for share in (pooled, mean, at_quiet)]
        yield [name, *shares, f"{recall:.2f}"]


def _false_shares(days, quiet):
    """Return the share of false ones pooled, by day and by quiet day, and the recall."""
    share = days[:, 0] / np.maximum(days[:, 1], 1)
    false, selected, found, positive = days.sum(axis=0)
    return false / max(selected, 1), share.mean(), share[quiet].mean(), found / positive


def triage_rows():
    for n_negatives, n_positives in ((2_000, 100), (1_000, 1_000), (400, 60)):
        for max_fpr, min_tpr in ((0.01, 0.95), (0.05, 0.9)):
            rng = np.random.default_rng(0)
            broken, review = 0, []
            for _ in range(N_TRIAGES):
                y = np.r_[np.zeros(n_negatives), np.ones(n_positives)].astype(int)
                X = (rng.normal(size=y.size) + 2.5 * y)[:, None]
                model = TriageClassifier(FirstColumn(), max_fpr, min_tpr, cv="prefit")
                try:
                    low, high = model.fit(X, y).thresholds_
                except ValueError:
                    break
                # The same in all worlds: it depends on the numbers of rows alone.
                bound = model.violation_probability_
                review.append(model.review_share_)
                broken += norm.sf(high) > max_fpr or norm.cdf(low - 2.5) > 1 - min_tpr
            row = [f"{n_negatives:,} + {n_positives:,}", f"{max_fpr:g}", f"{min_tpr:g}"]
            if not review:
                yield [*row, "too few rows", "", ""]
                continue
            shares = broken / N_TRIAGES, bound, np.mean(review)
            yield [*row, *(f"{100 * share:.1f}" for share in shares)]


def seconds() -> str:
    rng = np.random.default_rng(0)
    negatives, new = rng.normal(size=(20_000, 1)), rng.normal(size=(100_000, 1))
    model = FalseDiscoverySelector(FirstColumn(), MAX_FDR, cv="prefit", random_state=0)
    model.fit(negatives, np.zeros(20_000))
    model.select(new)
    spent = []
    for _ in range(5):
        start = time.process_time()
        model.select(new)
        spent.append(time.process_time() - start)
    return f"{np.median(spent):.3f}"


def main() -> None:
    warnings.simplefilter("ignore", FewRowsWarning)
    text = [
        "# Choosing today's alerts: false discovery rate and triage in worlds with known truth",
        f"`max_fdr` {MAX_FDR:g}, {N_NEGATIVES:,} held-out negatives, days of {BATCH:,} rows of which "
        f"0 to 2 % are positive, d' {SHIFT:g}; {N_WORLDS:,} worlds, each with its own "
        "calibration and one day. The limit counts as kept up to three standard errors.",
        markdown_table(
            ["rows", "false among selected, %", "standard error", "kept", "recall"], average_rows()
        ),
        "## For every later batch, with confidence",
        "300 calibrations with 100 days each, 2 % of positives: how many calibrations have a mean rate "
        "above `max_fdr`.",
        markdown_table(
            ["confidence", "calibrations above, %", "mean rate, %", "95 % quantile, %", "recall"],
            conditional_rows(),
        ),
        "## Beside one fixed threshold",
        "1,000 days of 0 to 2 % positives: the false among the selected, pooled over the days, as the "
        "mean over days, and over quiet days with fewer than .5 % of positives. The thresholds are "
        "chosen with knowledge of all labels, to have no more false ones than the selector, pooled or "
        "as the mean over days. The mean is what the selector promises.",
        markdown_table(
            ["", "false, pooled, %", "mean over days, %", "on quiet days, %", "recall"],
            fixed_threshold_rows(),
        ),
        f"`select` of 100,000 rows against 20,000 negatives takes {seconds()} s of processor time "
        "beyond scoring.",
        "## Triage",
        f"Both promises at confidence .95 in {N_TRIAGES:,} worlds, d' 2.5: how often at least one "
        "limit is broken (a standard error of .2 points), the probability of it that "
        "`violation_probability_` states, and the share of rows that a person must review.",
        markdown_table(
            [
                *("negatives + positives", "`max_fpr`", "`min_tpr`"),
                *("broken, %", "stated, %", "reviewed, %"),
            ],
            triage_rows(),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
