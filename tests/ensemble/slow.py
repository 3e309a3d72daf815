"""Members that take time by a clock of their own, so that a busy machine does not matter."""

from sklearn.linear_model import LogisticRegression


class Clock:
    """A clock that only fits of `Slow` move."""

    now = 0.0

    @classmethod
    def monotonic(cls):
        return cls.now


class Slow(LogisticRegression):
    """Takes its time, part of it in proportion to the rows, and remembers how often it was fitted."""

    seconds = 0.0
    constant = 0.0
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Clock.now += self.constant + self.seconds * X.shape[0] / 1000
        type(self).n_fits += X.shape[0] > 500
        return super().fit(X, y, sample_weight)
