"""Modules that need an optional package are no part of the doctests where it is missing."""

import importlib.util

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
