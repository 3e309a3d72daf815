"""Warnings that point at the user's line, and their classes.

Warnings of the library are filtered by class, never by text, and issued by `warn_user` alone.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from types import FrameType
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

# Packages that may stand between a user's line and the library: a meta-estimator or a callback wrapper
# of scikit-learn, a scheduler, a decorator, a command. "runpy" starts joblib's worker processes.
_BETWEEN = frozenset(
    {
        *("aucuba", "dask", "distributed", "joblib", "numba", "sklearn", "threadpoolctl"),
        *("asyncio", "concurrent", "contextlib", "functools", "multiprocessing", "runpy"),
        *("click", "threading", "typer"),
    }
)


class FewRowsWarning(UserWarning):
    """Too few rows, queries or groups for a fit, folds, an interval or a test."""


class Remedy(NamedTuple):
    """One way to act on a warning.

    Parameters
    ----------
    action : str
        What to do, as in "lower C".
    parameter : str or None
        The parameter, or other interface, that the action needs; None for an action that is always
        possible, such as adding data.
    """

    action: str
    parameter: str | None = None


class Advice(UserWarning):
    """A finding and its remedies, one of which is enough.

    The command line leaves out remedies that it does not offer.

    Parameters
    ----------
    finding : str
        What was seen, as one or more whole sentences.
    *remedies : Remedy
        What the user can do about it.

    Examples
    --------
    >>> from aucuba._base._warnings import Advice, Remedy
    >>> advice = Advice("It is dark.", Remedy("wait"), Remedy("raise light", "light"))
    >>> str(advice)
    'It is dark. Wait, or raise light.'
    >>> advice.text(offered=())
    'It is dark. Wait.'
    """

    def __init__(self, finding: str, *remedies: Remedy) -> None:
        self.finding = finding
        self.remedies = remedies
        super().__init__(self.text())

    def text(self, offered: Collection[str] | None = None) -> str:
        """Write out the finding and the remedies.

        Parameters
        ----------
        offered : collection of str, default=None
            Parameters that the reader can set; None for all.
        """
        actions = [
            remedy.action
            for remedy in self.remedies
            if offered is None or remedy.parameter is None or remedy.parameter in offered
        ]
        if not actions:
            return self.finding
        listed = actions[0][0].upper() + actions[0][1:]
        if len(actions) > 1:
            listed = f"{', '.join([listed, *actions[1:-1]])}, or {actions[-1]}"
        return f"{self.finding} {listed}."


class ConvergenceAdvice(Advice, ConvergenceWarning):
    """Advice on a fit that ended before it converged."""


class FewRowsAdvice(Advice, FewRowsWarning):
    """Advice on data with too few rows."""


class ScaleAdvice(Advice):
    """Advice on columns whose scales differ too much."""


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line where the user's code entered the library.

    Frames are recognised by their package, so neither the depth of the call nor the wrappers of a
    release of scikit-learn matter. The stack of a separate thread or process has no user code; the
    warning then points at whatever called the library there.
    """
    if isinstance(message, Warning):
        category = type(message)
    frame = _user_frame(sys._getframe(1))
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=_module(frame),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _user_frame(frame: FrameType) -> FrameType:
    """Return the innermost frame of the user, or else the innermost one outside the library."""
    nearest: FrameType | None = None
    current: FrameType | None = frame
    while current is not None:
        package = _package(current)
        if package not in _BETWEEN:
            return current
        if nearest is None and package != "aucuba":
            nearest = current
        current = current.f_back
    return nearest or frame


def _package(frame: FrameType) -> str:
    """Name the top-level package of a frame, also of a module that is run as a script."""
    # A script has the name "__main__"; "python -m" leaves the package beside it.
    name = frame.f_globals.get("__package__") or _module(frame)
    return str(name).partition(".")[0]


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "<unknown>")
