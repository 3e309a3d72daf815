"""What a model file may hold without being asked for: names of classes by the way they are stored.

Everything that skops can store is a node with a loader and the name of a class. A pair that is not
listed here is refused before any object is built, whatever the installed release of skops trusts.
"""

from __future__ import annotations

from aucuba.persistence._names import STORED_NAMES

_NUMPY_SCALARS = (
    *("bool", "bool_", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "intp"),
    *("str_", "uint8", "uint16", "uint32", "uint64", "datetime64", "timedelta64"),
)
_NUMPY = tuple(f"numpy.{name}" for name in _NUMPY_SCALARS)
_SPARSE = tuple(
    f"scipy.sparse._{kind}.{kind}_{form}" for kind in ("csr", "csc") for form in ("matrix", "array")
)

# The classes of scikit-learn that the estimators and the command line of this library are made of,
# and its splitters, which are plain settings. All arrays in them are checked in `_shapes`.
SKLEARN_CLASSES = (
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.ensemble._forest.ExtraTreesClassifier",
    "sklearn.ensemble._forest.RandomForestClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.preprocessing._label.LabelEncoder",
    "sklearn.tree._classes.DecisionTreeClassifier",
    "sklearn.tree._classes.ExtraTreeClassifier",
)

BY_LOADER: dict[str, frozenset[str]] = {
    "DictNode": frozenset({"builtins.dict"}),
    "ListNode": frozenset({"builtins.list"}),
    "SetNode": frozenset({"builtins.set"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "JsonNode": frozenset({"builtins.str"}),
    "TypeNode": frozenset(
        {f"builtins.{name}" for name in ("bool", "float", "int", "str")} | set(_NUMPY)
    ),
    "NdArrayNode": frozenset({"numpy.ndarray", *_NUMPY}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
    "SparseMatrixNode": frozenset(_SPARSE),
    "ObjectNode": frozenset(
        {*SKLEARN_CLASSES, *(name for name in STORED_NAMES if name.startswith("aucuba."))}
    ),
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "LossNode": frozenset({"sklearn._loss._loss.CyHalfBinomialLoss"}),
    # Histogram boosting keeps the check of its input as a partial function of this one.
    "FunctionNode": frozenset({"sklearn.utils.validation.check_array"}),
    "PartialNode": frozenset({"functools.partial"}),
}
# Loaders that call a method which the file names; no list of classes makes them safe.
NEVER = frozenset({"MethodNode", "OperatorFuncNode", "CachedNode"})
