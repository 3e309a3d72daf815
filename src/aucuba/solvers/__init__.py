"""Algorithms that turn a Design and a Risk into a model with a certificate."""

from aucuba.solvers._bundle import BundleSolver
from aucuba.solvers._cutting_plane import CuttingPlaneSolver
from aucuba.solvers._dc import DCSolver
from aucuba.solvers._driver import Solution, Status, iterate
from aucuba.solvers._few_pairs import Start
from aucuba.solvers._lbfgs import LBFGSSolver, minimize_lbfgs
from aucuba.solvers._qp import solve_simplex_qp

__all__ = [
    "BundleSolver",
    "CuttingPlaneSolver",
    "DCSolver",
    "LBFGSSolver",
    "Solution",
    "Start",
    "Status",
    "iterate",
    "minimize_lbfgs",
    "solve_simplex_qp",
]
