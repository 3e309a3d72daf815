"""Spline features that are saved as numbers, and their polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from sklearn.preprocessing import SplineTransformer

from aucuba._base._typing import FloatArray


class PortableSplines(SplineTransformer):
    """scikit-learn's splines, saved as knots and coefficients instead of SciPy's objects.

    The class and attributes of those objects change between releases of SciPy, which would tie a model
    file to one release.
    """

    def pieces(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return the polynomials of every column: starts of the intervals, and coefficients.

        Coefficients have the shape (degree + 1, n_intervals, n_splines), the highest power of the
        distance from the start of the interval first. Beyond the outer knots the splines go on as
        straight lines, which are two more intervals; the first of them reaches to minus infinity, but
        counts from the first knot. Coinciding knots leave empty intervals.
        """
        powers, listed = range(self.degree, -1, -1), []
        for spline in self.bsplines_:
            knots = spline.t[self.degree : -self.degree or None]
            inner = [spline(knots[:-1], nu=power) / math.factorial(power) for power in powers]
            lines = [spline(knots[[0, -1]], nu=power) * (power < 2) for power in powers]
            pairs = zip(inner, lines, strict=True)
            coef = np.stack([np.vstack([line[:1], own, line[1:]]) for own, line in pairs])
            listed.append((np.concatenate([knots[:1], knots[:-1], knots[-1:]]), coef))
        return listed

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "bsplines_" in state:
            state["bsplines_"] = [
                (one.t, one.c, int(one.k), one.extrapolate) for one in state["bsplines_"]
            ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "bsplines_" in state:
            state["bsplines_"] = [
                BSpline(knots, coef, degree, extrapolate=extrapolate)
                for knots, coef, degree, extrapolate in state["bsplines_"]
            ]
        super().__setstate__(state)
