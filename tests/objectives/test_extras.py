"""Without PyTorch the module of losses says what to install."""

import importlib
import sys

import pytest


def test_missing_torch_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "aucuba.objectives._torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        _ = importlib.import_module("aucuba.objectives").PartialAUCLoss
