"""Set-up of tests and doctests; modules of a missing optional package are left out."""

import pytest

from tests.optional import missing_packages, modules_without

pytest_plugins = ["tests.run_record"]
collect_ignore = [str(path) for path in modules_without(missing_packages())]


def pytest_configure(config: pytest.Config) -> None:
    """Let no warning fail a test that depends on the load of the machine.

    joblib's processes are replaced where memory grows or time passes, and say so in the thread that
    serves them, which an error there would end.
    """
    config.addinivalue_line(
        "filterwarnings", "ignore:A worker stopped while some jobs were given:UserWarning"
    )
