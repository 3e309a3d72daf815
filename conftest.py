"""Set-up of tests and doctests; modules of a missing optional package are left out."""

import importlib.util

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Let no warning fail a test that depends on the load of the machine.

    joblib's processes are replaced where memory grows or time passes, and say so in the thread that
    serves them, which an error there would end.
    """
    config.addinivalue_line(
        "filterwarnings", "ignore:A worker stopped while some jobs were given:UserWarning"
    )


collect_ignore = []
if importlib.util.find_spec("torch") is None:
    collect_ignore.append("src/aucuba/objectives/_torch.py")
if importlib.util.find_spec("dask") is None:
    collect_ignore += [
        "src/aucuba/design/_dask.py",
        "src/aucuba/ensemble/_dask_boosting.py",
        "src/aucuba/ensemble/_dask_table.py",
        "src/aucuba/linear/_dask_input.py",
    ]
