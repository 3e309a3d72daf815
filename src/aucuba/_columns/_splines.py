"""Spline features that are saved as numbers."""

from __future__ import annotations

from typing import Any

from scipy.interpolate import BSpline
from sklearn.preprocessing import SplineTransformer


class PortableSplines(SplineTransformer):
    """scikit-learn's splines, saved as knots and coefficients instead of SciPy's objects.

    The class of those objects and its attributes change between releases of SciPy, which would tie a
    model file to one release.
    """

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
