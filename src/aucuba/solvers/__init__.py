"""Algorithms that turn a Design and a Risk into a model with a certificate."""

from aucuba.solvers.bundle import BundleSolver
from aucuba.solvers.cutting_plane import CuttingPlaneSolver
from aucuba.solvers.dc import DCSolver
from aucuba.solvers.driver import Monitor, Solution, Status, iterate
from aucuba.solvers.lbfgs import LBFGSSolver

__all__ = [
    "BundleSolver",
    "CuttingPlaneSolver",
    "DCSolver",
    "LBFGSSolver",
    "Monitor",
    "Solution",
    "Status",
    "iterate",
]
