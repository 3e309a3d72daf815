"""Models outside of Python: ONNX graphs that hold the decision, and SQL."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucuba.export._sql import to_sql

if TYPE_CHECKING:
    from aucuba.export._onnx import to_onnx
    from aucuba.export._onnx_check import OnnxCheck, check_onnx
    from aucuba.export._skl2onnx import register_converters

__all__ = ["OnnxCheck", "check_onnx", "register_converters", "to_onnx", "to_sql"]
_ON_DEMAND = {
    **dict.fromkeys(("OnnxCheck", "check_onnx"), "aucuba.export._onnx_check"),
    "to_onnx": "aucuba.export._onnx",
    "register_converters": "aucuba.export._skl2onnx",
}


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
