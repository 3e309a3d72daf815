"""Structured ranking: items of a graph ranked together for the AUC and its generalisations.

- problems: `RankingGraph`, `grid_edges`
- inference: `tv_scores`, `mixed_sign_scores`, `high_order_scores`, `ranking_lp`
- learning: `StructuredRanker`, `StructuredLabelRanker`; `as_graphs` and `as_labels` check their input
- measures: `AUC`, `BinnedAUC`, `AUCAtK`, `UnnestedAUC`, `unnested_auc_score`
"""

from aucuba.structured._data import as_graphs, as_labels
from aucuba.structured._graph import RankingGraph, grid_edges
from aucuba.structured._high_order import CliqueTerm, high_order_scores
from aucuba.structured._label_ranker import StructuredLabelRanker
from aucuba.structured._measures import (
    AUC,
    AUCAtK,
    BinnedAUC,
    Measure,
    UnnestedAUC,
    unnested_auc_score,
)
from aucuba.structured._mixed_signs import mixed_sign_scores, ranking_lp
from aucuba.structured._ranker import StructuredRanker
from aucuba.structured._total_variation import tv_scores

__all__ = [
    "AUC",
    "AUCAtK",
    "BinnedAUC",
    "CliqueTerm",
    "Measure",
    "RankingGraph",
    "StructuredLabelRanker",
    "StructuredRanker",
    "UnnestedAUC",
    "as_graphs",
    "as_labels",
    "grid_edges",
    "high_order_scores",
    "mixed_sign_scores",
    "ranking_lp",
    "tv_scores",
    "unnested_auc_score",
]
