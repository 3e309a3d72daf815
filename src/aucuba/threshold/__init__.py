"""Thresholds that keep a promise: false alarms, sensitivity, precision, alert budget."""

from aucuba.threshold._audit import AuditPlan, audit_interval, plan_audit
from aucuba.threshold._class_rates import FixedFPRClassifier, FixedTPRClassifier
from aucuba.threshold._display import GuaranteedRocDisplay
from aucuba.threshold._ledger import PromiseLedger
from aucuba.threshold._monitor import RateMonitor
from aucuba.threshold._population_rates import AlertBudgetClassifier, FixedPrecisionClassifier
from aucuba.threshold._rows_needed import rows_needed
from aucuba.threshold._selector import FalseDiscoverySelector
from aucuba.threshold._triage import TriageClassifier

__all__ = [
    "AlertBudgetClassifier",
    "AuditPlan",
    "FalseDiscoverySelector",
    "FixedFPRClassifier",
    "FixedPrecisionClassifier",
    "FixedTPRClassifier",
    "GuaranteedRocDisplay",
    "PromiseLedger",
    "RateMonitor",
    "TriageClassifier",
    "audit_interval",
    "plan_audit",
    "rows_needed",
]
