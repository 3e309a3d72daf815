from functools import partial

import numpy as np
import pytest

from aucuba.metrics import (
    auc_at_k_score,
    aum_score,
    binned_auc_score,
    compare_scores,
    partial_auc_score,
    score_interval,
    tpr_at_fpr_score,
    two_way_partial_auc_score,
)

Y, S = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
ALL_METRICS = [
    partial_auc_score,
    aum_score,
    lambda y, s, **k: binned_auc_score(y, s, bin_sizes=2, **k),
    lambda y, s, **k: auc_at_k_score(y, s, k=2, **k),
    lambda y, s, **k: tpr_at_fpr_score(y, s, fpr=0.5, **k),
    lambda y, s, **k: two_way_partial_auc_score(y, s, min_tpr=0.5, max_fpr=0.5, **k),
    lambda y, s, **k: score_interval("partial_auc", y, s, n_resamples=5, random_state=0, **k),
    lambda y, s, **k: compare_scores("partial_auc", y, s, s, n_resamples=5, random_state=0, **k),
]
BAD_ROWS = [
    (([1, 1, 1], [1, 2, 3]), {}, r"only one class \(.*1.*\)"),
    (([], []), {}, "y_true is empty"),
    (([0, 1], [1.0, np.nan]), {}, r"1 NaN or infinite values, the first in row 1 \(nan\)"),
    (([0, 1], [np.inf, 0.0]), {}, r"infinite values, the first in row 0 \(inf\)"),
    (([0, 1, 1], [1.0, 2.0]), {}, "y_true has 3 entries for 2 rows"),
    (
        ([0, 1, 2], [1, 2, 3]),
        {},
        "Only binary classification is supported without pos_label. y_true has 3 labels",
    ),
    (([0, 1], ["a", "b"]), {}, "must be numeric"),
    (([0, np.nan, 1], [1, 2, 3]), {}, "1 missing or infinite entries"),
    ((Y, S), {"sample_weight": [1, 1, -1, 1]}, "must be non-negative, got -1.0 in row 2"),
    ((Y, S), {"sample_weight": np.zeros(4)}, "All entries of sample_weight are zero"),
    (
        (Y, S),
        {"sample_weight": [1, 1, np.nan, 1]},
        "sample_weight has 1 missing or infinite entries",
    ),
    ((Y, S), {"sample_weight": [1, 1]}, "sample_weight has 2 entries for 4 rows"),
    ((Y, S), {"sample_weight": [1, 0, 1, 0]}, "only the negative class is left"),
    ((Y, S), {"pos_label": "spam"}, "pos_label='spam' is not in y_true"),
]


@pytest.mark.parametrize("metric", ALL_METRICS)
@pytest.mark.parametrize(("rows", "params", "message"), BAD_ROWS)
def test_rows(metric, rows, params, message):
    with pytest.raises(ValueError, match=message):
        metric(*rows, **params)


@pytest.mark.parametrize(
    ("fpr_range", "message"),
    [
        ((0.2, 0.1), r"lower limit below its upper limit, got \(0.2, 0.1\)"),
        ((0.1, 0.1), "lower limit below"),
        ((-0.1, 0.5), r"fpr_range\[0\] must lie in \[0, 1\], got -0.1"),
        ((0.0, 1.5), r"fpr_range\[1\] must lie in \[0, 1\], got 1.5. .*write 0.05 for 5 %"),
        ((0.0, np.nan), "got nan"),
        (0.1, "must be a pair"),
        ((0, "x"), "must be a number"),
    ],
)
@pytest.mark.parametrize("metric", [partial_auc_score, partial(score_interval, "partial_auc")])
def test_ranges(metric, fpr_range, message):
    with pytest.raises(ValueError, match=message):
        metric(Y, S, fpr_range=fpr_range)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_k(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, got"):
        auc_at_k_score(Y, S, k=k)


@pytest.mark.parametrize(
    ("bin_sizes", "message"),
    [
        ([1, 2], "sum to 3 but there are 4 rows"),
        ([5, -1], "list of sizes above 0"),
        ([], "list of sizes above 0"),
        ("pages", "list of sizes above 0"),
        (0, "must be at least 1, got 0"),
        ([2, np.nan], "list of sizes above 0"),
    ],
)
def test_bins(bin_sizes, message):
    with pytest.raises(ValueError, match=message):
        binned_auc_score(Y, S, bin_sizes=bin_sizes)


def test_corners_and_levels():
    with pytest.raises(ValueError, match=r"min_tpr must lie in \[0, 1\), got 1"):
        two_way_partial_auc_score(Y, S, min_tpr=1, max_fpr=0.5)
    with pytest.raises(ValueError, match=r"max_fpr must lie in \(0, 1\], got 0"):
        two_way_partial_auc_score(Y, S, min_tpr=0.5, max_fpr=0)
    with pytest.raises(ValueError, match=r"fpr must lie in \[0, 1\], got 2"):
        tpr_at_fpr_score(Y, S, fpr=2)
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\), got 1.0"):
        score_interval("partial_auc", Y, S, confidence=1.0)
    with pytest.raises(ValueError, match="n_resamples must be a whole number above 0"):
        score_interval("partial_auc", Y, S, n_resamples=0.5)


@pytest.mark.parametrize("qid", [[1, 1, 2], [1, 1, np.nan, 2]])
def test_queries(qid):
    with pytest.raises(ValueError, match="qid"):
        partial_auc_score(Y, S, qid=qid)
