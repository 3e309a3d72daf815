"""
From annotated series to a detector
===================================

The Turing change point dataset has real series in which five people marked changes. Labels made from
their marks train a detector, which is then judged on series it has not seen. Without the data
directory ``AUCUBA_DATA`` the same steps run on generated series with three simulated annotators.
"""

# %%
# Raw series and the marks of the annotators.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold

from aucuba.changepoint import ChangepointDisplay, SupervisedChangepointDetector
from reproductions.data.changepoints import AnnotatedSeries, load_tcpd


def generated(n_series=30, seed=0):
    """Steps of many scales in noise with memory; annotators are inexact and miss some changes."""
    rng = np.random.default_rng(seed)
    for k in range(n_series):
        length = rng.integers(15, 80, size=rng.integers(1, 5))
        scale = 10.0 ** rng.uniform(-2, 4)
        mean = np.repeat(rng.normal(size=length.size) * 3, length)
        true = np.cumsum(length)[:-1]
        seen = [true[rng.random(true.size) < 0.85] + rng.integers(-1, 2) for _ in range(3)]
        noise = np.convolve(rng.normal(size=mean.size + 4), [0.7, 0.5, 0.4, 0.3, 0.2], mode="valid")
        yield AnnotatedSeries(f"generated {k}", scale * (mean + noise), seen)


try:
    series = load_tcpd()
except FileNotFoundError:
    series = list(generated())
signals = {item.name: item.signal for item in series}
labels = {item.name: item.labels(margin=5) for item in series}
names = [name for name in signals if labels[name] and signals[name].size >= 12]
counts = {
    kind: sum(la.kind == kind for n in names for la in labels[n])
    for kind in ("none", "at_least_one")
}
print(f"{len(names)} series, labels: {counts}")

# %%
# Some labels say that nothing happens over a long stretch, the others where a change must be.
# Five-fold cross-validation over series. The comparison is the textbook penalty 2 σ² log n, with σ
# from the median absolute difference: it needs no labels, but it takes noise to have no memory.


def textbook_log_penalty(y):
    sigma = np.median(np.abs(np.diff(y))) / (0.6745 * np.sqrt(2)) or 1.0
    return np.log(2 * sigma**2 * np.log(y.size))


right = {"textbook": 0.0, "learned": 0.0}
total = 0.0
for train, test in KFold(5, shuffle=True, random_state=0).split(names):
    pick = [names[i] for i in train], [names[i] for i in test]
    detector = SupervisedChangepointDetector(max_segments=12, random_state=0)
    detector.fit({n: signals[n] for n in pick[0]}, {n: labels[n] for n in pick[0]})
    held_out = {n: signals[n] for n in pick[1]}
    features, errors = detector.prepare(held_out, {n: labels[n] for n in pick[1]})
    learned = detector.predict_log_penalty_features(features)
    for name, table, value in zip(pick[1], errors, learned, strict=True):
        total += table.n_labels
        right["learned"] += table.n_labels - sum(table.at(value))
        right["textbook"] += table.n_labels - sum(table.at(textbook_log_penalty(signals[name])))
for method, count in right.items():
    print(f"{method:9s} {count / total:.1%} of the held-out labels right")

# %%
# What the last detector finds in six of the series it did not see.
fig, axes = plt.subplots(3, 2, figsize=(11, 9), layout="constrained")
for ax, name in zip(axes.flat, pick[1], strict=False):
    ChangepointDisplay.from_detector(detector, signals[name], labels[name], ax=ax)
    ax.set_title(name)
plt.show()
