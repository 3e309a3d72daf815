"""Callbacks that listen to a fit."""


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
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.heard.append(f"end {context.task_name}")
        return self.heard.count("end iteration") == self.n_iterations
