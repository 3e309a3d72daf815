"""Callbacks that listen to a fit."""


def task(context):
    """The whole fit, or an iteration, which may have the name of a part of the fit."""
    return "iteration" if context.parent is not None else context.task_name


class StopAfter:
    """Counts what it hears, and asks to stop after a number of iterations."""

    def __init__(self, n_iterations):
        self.n_iterations = n_iterations
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {task(context)}")

    def on_fit_task_end(self, estimator, context):
        self.heard.append(f"end {task(context)}")
        return self.heard.count("end iteration") == self.n_iterations
