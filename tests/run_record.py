"""Pytest plugin: a table of what was not tested and why, ``--not-yet-passed`` and ``--all-installed``.

A run notes in pytest's cache which tests passed on which state of the files. ``--not-yet-passed``
leaves those out, so that a second run in a fuller environment takes only what the first could not.
``--all-installed`` fails the run if a test was skipped for a package that an extra brings.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest

from tests.optional import ROOT, extras, how_to_install, missing_packages, modules_without

_KEY = "aucuba/passed"
_PARTS = ("src", "tests", "docs", "benchmarks", "reproductions", "examples")
_INSTALLABLE = " is not installed: pip install"
_READ = {".py", ".rst", ".md", ".toml", ".json"}


def state_of_the_files() -> str:
    """Return a digest of everything that a test may read from the checkout."""
    digest = hashlib.sha256()
    paths = [path for part in _PARTS for path in (ROOT / part).rglob("*")]
    for path in sorted([*paths, *ROOT.glob("*")]):
        if path.is_file() and path.suffix in _READ and "_build" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--not-yet-passed",
        action="store_true",
        help="leave out the tests that passed in an earlier run on the same files",
    )
    parser.addoption(
        "--all-installed",
        action="store_true",
        help="fail if a test is skipped because an optional package is missing",
    )


def _passed(config: pytest.Config) -> set[str]:
    cache = getattr(config, "cache", None)
    record = cache.get(_KEY, {}) if cache else {}
    return set(record.get("tests", ())) if record.get("state") == state_of_the_files() else set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--not-yet-passed"):
        return
    passed = _passed(config)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


class Record:
    """Collects what passed, in the process that sees all reports."""

    def __init__(self) -> None:
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and (report.passed or hasattr(report, "wasxfail")):
            self.passed.add(report.nodeid)
        elif report.failed:
            self.passed.discard(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        cache = getattr(session.config, "cache", None)
        if cache and self.passed:
            tests = sorted(self.passed | _passed(session.config))
            cache.set(_KEY, {"state": state_of_the_files(), "tests": tests})
        if session.config.getoption("--all-installed") and self._missing(session.config):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @staticmethod
    def _missing(config: pytest.Config) -> list[str]:
        """List the rows of the table that name a package to install."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        skipped = reporter.stats.get("skipped", []) if reporter else []
        return [row for row in skip_table(skipped) if _INSTALLABLE in row]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        rows = skip_table(terminalreporter.stats.get("skipped", []))
        if rows:
            terminalreporter.section("not tested here")
            for row in rows:
                terminalreporter.write_line(row)
        config = terminalreporter.config
        if config.getoption("--all-installed") and (missing := self._missing(config)):
            text = f"FAILED --all-installed: {len(missing)} of these name a package to install"
            terminalreporter.write_line(text, red=True)


def pytest_configure(config: pytest.Config) -> None:
    # Workers of pytest-xdist send their reports to the process that started them.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(), "aucuba-record")


def skip_table(skipped: list[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """Return one line per reason: how many tests or whole files it kept from running."""
    tests, files = Counter[str](), Counter[str]()
    for report in skipped:
        reason = _reason(report)
        if report.nodeid.endswith(".py"):
            files[reason] += 1
        else:
            tests[reason] += 1
    left_out = Counter(modules_without(missing_packages()).values())
    for package, number in left_out.items():
        files[how_to_install(package)] += number
    rows = []
    for reason in sorted(tests | files, key=lambda one: (-tests[one], -files[one], one)):
        counts = [(tests[reason], "test"), (files[reason], "file")]
        text = ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts if n)
        rows.append(f"{text:>20}  {reason}")
    return rows


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    longrepr = report.longrepr
    text = str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
    missing = re.search(r"No module named '(\w+)", text)
    if missing and missing[1] in extras():
        return how_to_install(missing[1])
    # One row for all the sets that were looked for.
    return re.sub(r"^no [\w, ]+ in ", "real data not found in ", text.removeprefix("Skipped: "))
