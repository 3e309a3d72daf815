"""One set of parameters for every measure of the registry."""

from scipy.special import expit

PARAMS = {
    "partial_auc": {"fpr_range": (0.0, 0.2)},
    "two_way_partial_auc": {"min_tpr": 0.3, "max_fpr": 0.4},
    "log_auc": {"fpr_range": (0.01, 0.3)},
    "rate_at_threshold": {"rate": "tpr", "threshold": 1.0},
    "tpr_at_fpr": {"fpr": 0.1},
    "fpr_at_tpr": {"tpr": 0.8},
    "equal_error_rate": {},
    "precision_at_recall": {"recall": 0.5},
    "recall_at_precision": {"precision": 0.5},
    "precision_at_k": {"k": 30},
    "recall_at_k": {"k": 30},
    "enrichment_factor": {"fraction": 0.1},
    "rie": {"alpha": 20.0},
    "bedroc": {"alpha": 20.0},
    "auc_at_k": {"k": 30},
    "binned_auc": {"bin_sizes": 10},
    "aum": {"same_scale": True},
    "average_precision": {"recall_range": (0.0, 0.8)},
    "f_measure": {},
    "net_benefit": {"threshold": 0.2},
    "expected_cost": {"threshold": 1.0, "cost_false_negative": 5.0},
    "detection_cost": {"target_prior": 0.3},
    "youden": {},
    "kolmogorov_smirnov": {},
}


def suited(name, score):
    """Scores that a measure takes: probabilities where it needs them."""
    return expit(score) if name == "net_benefit" else score
