"""Direct minimisation of the structured objective by L-BFGS-B."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from aucuba._typing import BoolArray, FloatArray
from aucuba.structured.frank_wolfe import Record, Solution
from aucuba.structured.risk import StructuredRisk

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Direct:
    C: float
    nonnegative: BoolArray
    tol: float = 1e-6
    max_iter: int = 200

    def solve(
        self,
        risk: StructuredRisk,
        start: FloatArray,
        callback: Callable[[Record], None] | None = None,
    ) -> Solution:
        history: list[Record] = []
        best = [np.inf, start]

        def fun(w):
            value, grad = risk.value_and_gradient(w)
            J = w @ w / 2 + self.C * value
            if J < best[0]:
                best[:] = [J, w.copy()]
            history.append({"iteration": len(history), "objective": J})
            return J, w + self.C * grad

        bounds = [(0 if n else None, None) for n in self.nonnegative]
        w = start
        for _ in range(5):
            before = best[0]
            r = minimize(fun, w, jac=True, method="L-BFGS-B", bounds=bounds,
                         options=dict(maxiter=self.max_iter, ftol=1e-12, gtol=1e-8, maxcor=20))
            w = best[1]
            if before - best[0] < self.tol: break
        return Solution(best[1], best[0], None, len(history), r.message, history)
