"""Warnings that know their remedies, so that an interface can drop those it does not offer."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning


class Remedy(NamedTuple):
    """A thing to do about a warning.

    Parameters
    ----------
    action : str
        What to do, as in "lower C".
    parameter : str or None
        The parameter, or other means of a program, that it needs; None for things that can always be
        done, such as adding data.
    """

    action: str
    parameter: str | None = None


class Advice(UserWarning):
    """A finding, and remedies of which one is enough.

    Parameters
    ----------
    finding : str
        What was seen, as one or more whole sentences.
    *remedies : Remedy
        What can be done about it.

    Examples
    --------
    >>> from aucuba._base._advice import Advice, Remedy
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
    """Advice on a fit that has not reached its goal."""
