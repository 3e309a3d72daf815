"""Names of classes in model files, and the classes that a file may contain by default."""

from __future__ import annotations

import sys
from importlib import import_module

# From the release of 0.1.0 on, model files hold these names: then entries are only added.
_PUBLIC = {
    "aucuba": (
        *("AUMClassifier", "AlertBudgetClassifier", "FixedFPRClassifier"),
        *("FixedPrecisionClassifier", "FixedTPRClassifier", "PartialAUCClassifier"),
        *("PartialAUCClassifierCV", "PartialAUCSVC", "RegionReweighted", "RegionStack"),
    ),
    "aucuba.changepoint": (
        *("IntervalRegression", "IntervalRegressionCV", "SupervisedChangepointDetector"),
    ),
    "aucuba.structured": (
        *("AUC", "AUCAtK", "BinnedAUC", "StructuredLabelRanker", "StructuredRanker", "UnnestedAUC"),
    ),
    # scikit-learn 1.7 calls the module of its compiled losses "_loss"; later releases do not.
    "sklearn._loss._loss": ("CyHalfBinomialLoss",),
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
}

# The classes of scikit-learn that the estimators and the command line of this library are made of,
# and its splitters, which are plain settings. `_objects` checks all arrays in them.
_SKLEARN = {
    "_loss.link": ("Interval", "LogitLink"),
    "_loss.loss": ("HalfBinomialLoss",),
    "compose._column_transformer": ("ColumnTransformer",),
    "ensemble._forest": ("ExtraTreesClassifier", "RandomForestClassifier"),
    "ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "ensemble._hist_gradient_boosting.gradient_boosting": ("HistGradientBoostingClassifier",),
    "ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
    "impute._base": ("MissingIndicator", "SimpleImputer"),
    "kernel_approximation": ("Nystroem",),
    "linear_model._logistic": ("LogisticRegression",),
    "model_selection._split": (
        *("GroupKFold", "KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit"),
        *("StratifiedGroupKFold", "StratifiedKFold", "StratifiedShuffleSplit"),
    ),
    "neural_network._multilayer_perceptron": ("MLPClassifier",),
    "pipeline": ("Pipeline",),
    "preprocessing._data": ("MaxAbsScaler", "StandardScaler"),
    "preprocessing._encoders": ("OneHotEncoder", "OrdinalEncoder"),
    "preprocessing._function_transformer": ("FunctionTransformer",),
    "preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "tree._classes": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
}
SKLEARN_CLASSES = tuple(f"sklearn.{home}.{name}" for home in _SKLEARN for name in _SKLEARN[home])
_BUILTIN_TYPES = tuple(f"builtins.{name}" for name in ("bool", "float", "int", "str"))
_NUMPY_TYPES = tuple(
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "float16", "float32", "float64", "int8", "int16", "int32", "int64"),
        *("intp", "str_", "uint8", "uint16", "uint32", "uint64", "datetime64", "timedelta64"),
    )
)
_SPARSE = tuple(
    f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in ("matrix", "array")
)
# skops stores every object as a node with a loader and the name of a class. A pair that is not listed
# here is refused before any object is built, whatever the installed release of skops trusts.
BY_LOADER: dict[str, tuple[str, ...]] = {
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "SetNode": ("builtins.set",),
    "TupleNode": ("builtins.tuple",),
    "SliceNode": ("builtins.slice",),
    "JsonNode": ("builtins.str",),
    "TypeNode": (*_BUILTIN_TYPES, *_NUMPY_TYPES),
    "NdArrayNode": ("numpy.ndarray", *_NUMPY_TYPES),
    "DTypeNode": ("numpy.dtype",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
    "RandomGeneratorNode": ("numpy.random._generator.Generator",),
    "SparseMatrixNode": _SPARSE,
    "ObjectNode": (*SKLEARN_CLASSES, *(name for name in STORED_NAMES if name[:7] == "aucuba.")),
    "TreeNode": ("sklearn.tree._tree.Tree",),
    "LossNode": ("sklearn._loss._loss.CyHalfBinomialLoss",),
    # Histogram boosting keeps the check of its input as a partial function of this one.
    "FunctionNode": ("sklearn.utils.validation.check_array",),
    "PartialNode": ("functools.partial",),
}
# Loaders that call a method which the file names; no list of classes makes them safe.
NEVER = frozenset({"MethodNode", "OperatorFuncNode", "CachedNode"})


def present_class(stored: str) -> type:
    """Import the class that a stored name means today."""
    module, _, name = STORED_NAMES[stored].rpartition(".")
    found: type = getattr(import_module(module), name)
    return found


def present_names() -> dict[str, str]:
    """Map the full names of the imported classes to their stored names.

    The class of an existing object is imported, so other modules can be left out.
    """
    imported = [
        stored for stored, at in STORED_NAMES.items() if at.rpartition(".")[0] in sys.modules
    ]
    return {full_name(present_class(stored)): stored for stored in imported}


def full_name(item: type) -> str:
    """Return module and name of a class, as skops writes them."""
    return f"{item.__module__}.{item.__name__}"
