"""A missing optional package breaks only its own modules, and the run says what it left out."""

import os
import subprocess
import sys
import textwrap
import tomllib
from types import SimpleNamespace

import pytest

from tests import optional
from tests.optional import ROOT, extras, how_to_install, modules_without
from tests.run_record import skip_table

pytest_plugins = ["pytester"]


def below(path, **sources):
    """Write modules below a folder that stands for ``src/aucuba``."""
    (path / "aucuba").mkdir()
    for name, source in sources.items():
        (path / "aucuba" / f"{name}.py").write_text(textwrap.dedent(source))


def test_modules_of_a_missing_package_are_found_through_their_imports(tmp_path, monkeypatch):
    below(
        tmp_path,
        _direct="import torch.nn",
        _through="from aucuba._direct import something",
        _module="from aucuba import _through",
        _worded="try:\n    import torch\nexcept ImportError as e:\n    raise ImportError('!') from e",
        _later="def f():\n    import torch",
        _typing="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
        _handled="try:\n    import torch\nexcept ImportError:\n    torch = None",
        _other="import torchmetrics",
        _asks="from aucuba import something",
        __init__="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from aucuba._direct import something\ndef __getattr__(name): ...",
    )
    monkeypatch.setattr(optional, "SOURCE", tmp_path)
    found = modules_without({"torch"})
    assert {path.stem for path in found} == {"_direct", "_through", "_module", "_worded", "_asks"}
    assert set(found.values()) == {"torch"}
    assert modules_without(set()) == {}


def test_extras_are_read_from_the_project_file():
    assert extras()["torch"] == "torch"
    assert extras()["lightgbm"] == "boosting"
    assert extras()["polars"] == "test-all"
    assert not {"numpy", "sklearn", "aucuba", "pytest"} & set(extras())


def test_packages_and_public_names_need_no_optional_package():
    """Hide all of them: what fails must be a module that imports one, reached by name only."""
    code = """
        import importlib, os
        import tests.hide_packages
        import aucuba
        from tests.optional import ROOT, modules_without
        blocked = {str(path) for path in modules_without(set(os.environ["AUCUBA_HIDE"].split(",")))}
        for family in ("", *("." + name for name in aucuba._SUBPACKAGES)):
            module = importlib.import_module("aucuba" + family)
            assert module.__file__ not in blocked, module
            for name in module.__all__:
                try:
                    getattr(module, name)
                except ImportError as error:
                    trace, files = error.__traceback__, set()
                    while trace is not None:
                        files.add(trace.tb_frame.f_code.co_filename)
                        trace = trace.tb_next
                    assert files & blocked, (family, name, error)
                    print(name, "needs an extra")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env=os.environ
        | {
            "AUCUBA_HIDE": ",".join(extras()),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), "."]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    names = {line.split()[0] for line in run.stdout.splitlines()}
    assert {"TorchDesign", "DaskDesign", "PartialAUCLoss", "AUMLoss"} <= names


def test_no_module_that_is_always_imported_needs_an_optional_package():
    """Packages import their modules: a top-level import of an extra anywhere below is an error."""
    blocked = modules_without(set(extras()))
    always = {path for path in blocked if path.name == "__init__.py"}
    assert not always, {str(path): blocked[path] for path in always}


def lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["optional-dependencies"]
    tested = [name for name in groups if name not in ("torch", "test-torch", "docs", "bench")]
    for requirement in [
        *project["dependencies"],
        *(one for name in tested for one in groups[name]),
    ]:
        name, _, version = requirement.partition(">=")
        if version:
            yield name.partition("[")[0], version


def test_the_oldest_releases_are_the_lower_bounds():
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pinned == {name: f"{version}.*" for name, version in lower_bounds()}


def test_skips_are_counted_by_what_is_missing(monkeypatch):
    import tests.run_record

    monkeypatch.setattr(tests.run_record, "missing_packages", set)

    def skip(nodeid, reason):
        return SimpleNamespace(nodeid=nodeid, longrepr=("file.py", 1, f"Skipped: {reason}"))

    torch = "could not import 'torch.nn': No module named 'torch'"
    rows = skip_table(
        [
            skip("tests/a.py::one", torch),
            skip("tests/a.py::two", torch),
            skip("tests/b.py", torch),
            skip("tests/c.py::one", "no mnist in /data"),
            skip("tests/c.py::two", "no adbench, kdd in /data"),
            skip("tests/d.py::one", "no CUDA device"),
        ]
    )
    assert [row.split(None, 2) for row in rows[:1]] == [
        ["2", "tests,", f"1 file  {how_to_install('torch')}"]
    ]
    assert [row.strip() for row in rows[1:]] == [
        "2 tests  real data not found in /data",
        "1 test  no CUDA device",
    ]


def test_a_second_run_takes_only_what_has_not_passed(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(
        test_some="""
        import os, pytest
        def test_passes(): pass
        def test_needs_more():
            if "MORE" not in os.environ:
                pytest.skip("more is needed")
        @pytest.mark.xfail
        def test_is_expected_to_fail(): assert False
        def test_fails(): assert "MORE" in os.environ
        """
    )
    run = ["-p", "tests.run_record", "--not-yet-passed"]
    first = pytester.runpytest_subprocess(*run)
    first.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1)
    first.stdout.fnmatch_lines(["*not tested here*", "*1 test*more is needed"])
    monkeypatch.setenv("MORE", "1")
    pytester.runpytest_subprocess(*run).assert_outcomes(passed=2, deselected=2)
    pytester.runpytest_subprocess(*run).assert_outcomes(deselected=4)
    monkeypatch.setattr("tests.run_record.ROOT", pytester.path)
    pytester.runpytest_inprocess(*run).assert_outcomes(passed=3, xfailed=1)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("No module named 'torch'", 1), ("no CUDA device", 0)],
)
def test_a_run_with_everything_installed_skips_no_package(pytester, monkeypatch, reason, status):
    monkeypatch.setattr("tests.run_record.missing_packages", set)
    pytester.makepyfile(
        test_some=f"""
        import pytest
        def test_passes(): pass
        def test_is_skipped(): pytest.skip({reason!r})
        """
    )
    run = pytester.runpytest_inprocess("-p", "tests.run_record", "--all-installed")
    run.assert_outcomes(passed=1, skipped=1)
    assert run.ret == status
    assert ("FAILED --all-installed" in run.stdout.str()) == bool(status)
