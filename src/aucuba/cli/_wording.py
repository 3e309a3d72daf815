"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re
import warnings

from aucuba.cli._options import spelled_as_option

# Parameters of the library that are options here, spelled alike.
PARAMETERS = (
    *("C", "cv", "fpr_range", "max_fpr", "max_iter", "max_segments", "min_tpr"),
    *("pos_label", "qid", "random_state", "sample_weight", "surrogate"),
)
# A parameter with a value is always meant; without one, "surrogate" is an English word.
_WITH_VALUE = re.compile(rf"\b({'|'.join(PARAMETERS)})=(['\"]?)([\w.+-]*\w)\2")
_ALONE = re.compile(rf"(?<![\w-])({'|'.join(set(PARAMETERS) - {'surrogate'})})\b(?!=)")


def spelled_as_options(message: str) -> str:
    """Spell every parameter in a message as its option: ``max_iter`` is ``--max-iter``.

    Examples
    --------
    >>> from aucuba.cli._wording import spelled_as_options
    >>> spelled_as_options("Use surrogate='direct', or widen fpr_range.")
    'Use --surrogate direct, or widen --fpr-range.'
    """
    message = _WITH_VALUE.sub(lambda found: f"{spelled_as_option(found[1])} {found[3]}", message)
    return _ALONE.sub(lambda found: spelled_as_option(found[1]), message)


def warning_text(warning: warnings.WarningMessage) -> str:
    """Write a warning with those of its remedies that the command line offers."""
    from aucuba._base._warnings import Advice

    said = warning.message
    text = said.text(PARAMETERS) if isinstance(said, Advice) else str(said)
    return spelled_as_options(text)
