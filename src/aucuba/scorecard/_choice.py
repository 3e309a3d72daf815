"""Cards for the region and of least log-loss, compared on rows that the search has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._logistic import logistic_calibration
from aucuba._roc._region import Region
from aucuba._rows._lead import Lead
from aucuba._rows._sample import Sample
from aucuba._rows._splits import Split
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._limits import Restrictions
from aucuba.scorecard._search import Card, ConditionTable, Search, lowest_terms
from aucuba.scorecard._smoothing import smoothed_classes
from aucuba.scorecard._table import ScoredColumns

# Weights of the log-loss in the criterion: 1 is the card of least log-loss, the last is for the region.
CAUTIONS = (1.0, 0.1)


@dataclass(frozen=True)
class FoundCards:
    """The cards of one search, the best first, for every caution.

    Parameters
    ----------
    conditions : list of Condition
    table : ConditionTable
    cards : dict
        The best few cards by caution.
    search : Search
    incomplete : frozenset of int
        Indices of the columns that miss values and may have points of either sign.
    """

    conditions: list[Condition]
    table: ConditionTable
    cards: dict[float, list[Card]]
    search: Search
    incomplete: frozenset[int] = frozenset()

    def items(self, card: Card) -> list[tuple[Condition, int]]:
        """Turn points around that hide what a missing value counts.

        Without it "marker <= 2: -3" would give a row without a marker 3 points more than others, and
        say nothing of it. "Marker > 2 or is missing: +3" ranks the rows alike.
        """
        found = []
        for k, points in card:
            one = self.conditions[k]
            if points < 0 and one.place in self.incomplete and one.test != "missing":
                one, points = one.complement(), -points
            found.append((one, points))
        return found


def find_cards(
    columns: ScoredColumns,
    sample: Sample,
    restrictions: Restrictions,
    region: Region | None,
    seed: int,
    cautions: tuple[float, ...] = CAUTIONS,
) -> FoundCards:
    """Search for cards by log-loss, then from the best few for the region.

    Without a region only the log-loss counts.
    """
    conditions, table = columns.conditions(sample, restrictions)
    limits = restrictions.limits(conditions)
    fpr_range = (0.0, 1.0) if region is None else region.fpr_range
    search = Search(table, sample, limits, fpr_range, smoothed_classes(table, sample, seed))
    cards = {
        caution: list(dict.fromkeys(map(lowest_terms, ranked)))
        for caution, ranked in search.cards(cautions if region else (1.0,)).items()
    }
    incomplete = frozenset(
        place
        for place in map(int, np.unique(table.column))
        if not restrictions.sign[place] and columns.missing(place).any()
    )
    return FoundCards(conditions, table, cards, search, incomplete)


def held_out_log_odds(
    split: Split,
    columns: ScoredColumns,
    sample: Sample,
    restrictions: Restrictions,
    region: Region,
    seed: int,
) -> FloatArray:
    """Score the test rows of a split by the best card of every caution, as log-odds."""
    train, test = split
    part = sample.take(train)
    found = find_cards(columns.take(train), part, restrictions, region.for_training(part), seed)
    log_odds = np.zeros((len(CAUTIONS), len(test)))
    for k, caution in enumerate(CAUTIONS):
        # A part with too few rows for the region has only the card of least log-loss.
        card = (found.cards.get(caution) or found.cards[1.0])[0]
        slope, intercept = logistic_calibration(found.table.totals(card).astype(float), part)
        for condition, points in card:
            log_odds[k] += points * columns.met(found.conditions[condition], test)
        log_odds[k] = slope * log_odds[k] + intercept
    return log_odds


def leads_of(
    splits: list[Split], scores: FloatArray, sample: Sample, region: Region
) -> tuple[FloatArray, list[Lead]]:
    """Compare the cautions within every split and average: partial AUC, and leads over the first.

    Totals of different cards have no common scale, so rows of different splits are not compared.
    """
    values, differences, variances = [], [], []
    for _, test in splits:
        part = sample.take(test)
        compared = RegionComparison(part, scores[:, test], region)
        if not part.has_pairs:
            continue
        leads = [compared.lead(k, 0) for k in range(len(scores))]
        values.append(compared.values)
        differences.append([one.difference for one in leads])
        variances.append([one.error**2 for one in leads])
    if not values:
        return np.full(len(scores), np.nan), [Lead(np.nan, np.nan)] * len(scores)
    errors = np.sqrt(np.sum(variances, axis=0)) / len(values)
    gaps = np.mean(differences, axis=0)
    leads = [Lead(float(gap), float(error)) for gap, error in zip(gaps, errors, strict=True)]
    return np.asarray(np.mean(values, axis=0)), leads


def chosen_caution(leads: list[Lead]) -> int:
    """Choose the last caution, for the region, unless the card of least log-loss clearly leads it.

    In a narrow region few rows tell the two apart, and on average cards for the region are better
    there: a clear lead asked of them costs more than it guards (``benchmarks/results/scorecards.md``).
    """
    last = leads[-1]
    behind = Lead(-last.difference, last.error).is_clear()
    return 0 if behind or np.isnan(last.difference) else len(leads) - 1


def status_of(lead: Lead, chosen: int) -> str:
    """Say which card was chosen, and by how much cards for the region lead on held-out rows."""
    taken = "Chosen for the region" if chosen else "Card of least log-loss"
    return (
        f"{taken}: on held-out rows the partial AUC of cards for the region differs from that of cards "
        f"of least log-loss by {lead.difference:+.4f} (standard error {lead.error:.4f})."
    )
