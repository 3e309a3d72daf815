"""Names of classes in model files, and the classes that a file may contain by default."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

# Since release 0.1.0 model files hold these names, so entries may be added but not removed. The
# scikit-learn classes are those that this library's estimators and command line consist of, and its
# splitters, which are plain settings. `_rules` checks all arrays in them.
_PUBLIC = {
    "aucuba": (
        *("AUMClassifier", "AlertBudgetClassifier", "ColumnPreparer", "FalseDiscoverySelector"),
        *(
            "FixedFPRClassifier",
            "FixedPrecisionClassifier",
            "FixedTPRClassifier",
            "PartialAUCClassifier",
        ),
        *("PartialAUCClassifierCV", "PartialAUCSVC", "RegionReweighted", "RegionScorecard"),
        *("RegionStack", "TriageClassifier"),
    ),
    "aucuba.changepoint": (
        *("IntervalRegression", "IntervalRegressionCV", "SupervisedChangepointDetector"),
    ),
    "aucuba.structured": (
        *("AUC", "AUCAtK", "BinnedAUC", "StructuredLabelRanker", "StructuredRanker", "UnnestedAUC"),
    ),
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.ensemble": (
        *("ExtraTreesClassifier", "HistGradientBoostingClassifier", "IsolationForest"),
        "RandomForestClassifier",
    ),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.kernel_approximation": ("Nystroem",),
    "sklearn.linear_model": ("LogisticRegression",),
    "sklearn.model_selection": (
        *("GroupKFold", "KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit"),
        *("StratifiedGroupKFold", "StratifiedKFold", "StratifiedShuffleSplit"),
    ),
    "sklearn.neural_network": ("MLPClassifier",),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": (
        *("FunctionTransformer", "LabelBinarizer", "LabelEncoder", "MaxAbsScaler"),
        *("OneHotEncoder", "OrdinalEncoder", "StandardScaler"),
    ),
    "sklearn.tree": ("DecisionTreeClassifier", "ExtraTreeClassifier", "ExtraTreeRegressor"),
}
# Stored name on the left, current location of the class on the right. When a class moves, only the
# right side changes. Private helpers have no public name; their alias says what they do.
STORED_NAMES = {
    f"{home}.{name}": f"{home}.{name}" for home in _PUBLIC for name in _PUBLIC[home]
} | {
    "aucuba.helper.linear_columns": "aucuba._columns._table_columns.LinearColumns",
    "aucuba.helper.named_columns": "aucuba._columns._table_columns.NamedColumns",
    "aucuba.helper.plain_columns": "aucuba._columns._plain_columns.PlainColumns",
    "aucuba.helper.portable_splines": "aucuba._columns._splines.PortableSplines",
    "sklearn.helper.bins": "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
}
# Types that a model may hold as values, such as the dtype of an encoder.
_TYPES = {
    "builtins": "bool float int str",
    "numpy": (
        "bool bool_ float16 float32 float64 int8 int16 int32 int64 intp str_ uint8 uint16 uint32 "
        "uint64 datetime64 timedelta64"
    ),
}
TYPES = frozenset(f"{home}.{name}" for home in _TYPES for name in _TYPES[home].split())
# Histogram boosting stores its input check as a partial of this function.
CHECK = "sklearn.utils.validation.check_array"
SPARSE = ("csc_array", "csc_matrix", "csr_array", "csr_matrix")
# Types in models of this library that skops does not trust by default.
_SKOPS_ASKS_FOR = (
    *("functools.partial", "numpy.dtype", CHECK, "sklearn.tree._tree.Tree"),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
)


def located(name: str) -> Any:
    """Import an object by its full name."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def stored_names() -> dict[type, str]:
    """Map the classes imported so far to their stored names.

    The class of any object in memory is among them, so no other module need be imported.
    """
    return {
        getattr(sys.modules[module], last): stored
        for stored, (module, _, last) in ((s, at.rpartition(".")) for s, at in STORED_NAMES.items())
        if module in sys.modules
    }


def full_name(item: type) -> str:
    """Return module and name of a class."""
    return f"{item.__module__}.{item.__name__}"


def trusted_types() -> list[str]:
    """List the types that skops must be told to trust to load models of this library.

    For tools that save models by skops, MLflow among them:
    ``mlflow.sklearn.save_model(model, path, skops_trusted_types=trusted_types())``.

    Returns
    -------
    list of str
        Full names of the estimators of this library, and of the parts of scikit-learn in them that
        skops does not trust by default.

    Examples
    --------
    >>> from aucuba.persistence import trusted_types
    >>> "aucuba.linear._partial_auc.PartialAUCClassifier" in trusted_types()
    True
    """
    ours = [
        full_name(located(STORED_NAMES[name])) for name in STORED_NAMES if name[:7] == "aucuba."
    ]
    return sorted({*ours, *_SKOPS_ASKS_FOR})
