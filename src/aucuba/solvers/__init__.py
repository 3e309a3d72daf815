"""Algorithms that turn a Design and a Risk into a model with a certificate."""

from aucuba.solvers.bundle import BundleSolver
from aucuba.solvers.driver import Monitor, Solution, Status, iterate

__all__ = ["BundleSolver", "Monitor", "Solution", "Status", "iterate"]
