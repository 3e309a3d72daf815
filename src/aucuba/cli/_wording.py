"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

# In this order. What the program has no option for is left out of the advice.
_PHRASES = (
    (r",? or a kernel\b", ""),
    (r", or give splits as cv\b", ""),
    (r",? raise tol\b", ""),
    (r" or tol\b", ""),
    (r"\bcoef_ is zero\b", "All coefficients are zero"),
    (r" X is not scaled here; put a StandardScaler before this estimator\.", ""),
    (r"\bsurrogate='(\w+)', a wider", r"--surrogate \1 or a wider"),
    (r"\bsurrogate='(\w+)'", r"--surrogate \1"),
    (r"\bfpr_range\b", "--fpr"),
    (r"\bmax_iter=", "--max-iter "),
    (r"\bmax_iter\b", "--max-iter"),
    (r"\bsample_weight\b", "--weight"),
    (r"\bqid\b", "--group"),
    (r"\b(lower|raise) C\b", r"\1 --C"),
)


def in_options(message: str) -> str:
    """The message with parameters of Python called by their options.

    Examples
    --------
    >>> from aucuba.cli._wording import in_options
    >>> in_options("Stopped after 9 iterations. Raise max_iter, raise tol, or lower C.")
    'Stopped after 9 iterations. Raise --max-iter, or lower --C.'
    """
    for pattern, replacement in _PHRASES:
        message = re.sub(pattern, replacement, message)
    return message
