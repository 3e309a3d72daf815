"""Parts of boosters that kill or stop the worker they run on."""

import os
import signal
import time

import numpy as np

# Protects against a wait that nothing ends.
WATCHDOG_S = 600


def wait_for(path):
    """Wait until the file is there."""
    end = time.monotonic() + WATCHDOG_S
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)


class Killing:
    """Kill the first worker that comes here; the others go on, or wait for a file."""

    def __init__(self, folder, others_wait=False):
        self.victim, self.release = folder / "victim", folder / "release"
        self.others_wait = others_wait

    def __call__(self):
        try:
            os.close(os.open(self.victim, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            if self.others_wait:
                wait_for(self.release)
            return
        os.kill(os.getpid(), signal.SIGKILL)


class Waiting:
    """Say by a file that a worker has come here, and keep it until there is another."""

    def __init__(self, folder):
        self.started, self.release = folder / "started", folder / "release"

    def __call__(self):
        self.started.touch()
        wait_for(self.release)


def xgboost_callback(act):
    """Return a callback of XGBoost that acts in the third round."""
    from xgboost.callback import TrainingCallback

    class Acting(TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch == 2:
                act()
            return False

    return Acting()


def lightgbm_objective(act):
    """Return the logistic loss for LightGBM, which acts whenever it is computed."""

    def loss(y, score):
        act()
        p = 1 / (1 + np.exp(-score))
        return p - y, p * (1 - p)

    return loss
