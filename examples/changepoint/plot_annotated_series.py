"""
From annotated series to a detector
===================================

Three people have marked changes in thirty series, inexactly and not all of them. Labels made from their
marks train a detector, which is then judged on series it has not seen.
"""

# %%
# The series: steps of many scales in noise with memory.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold

from aucuba.changepoint import ChangepointDisplay, Label, SupervisedChangepointDetector

rng = np.random.default_rng(0)
signals, marks = {}, {}
for k in range(30):
    length = rng.integers(15, 80, size=rng.integers(1, 5))
    scale = 10.0 ** rng.uniform(-2, 4)
    mean = np.repeat(rng.normal(size=length.size) * 3, length)
    noise = np.convolve(rng.normal(size=mean.size + 4), [0.7, 0.5, 0.4, 0.3, 0.2], mode="valid")
    true = np.cumsum(length)[:-1]
    name = f"series {k}"
    signals[name] = scale * (mean + noise)
    marks[name] = [true[rng.random(true.size) < 0.85] + rng.integers(-1, 2) for _ in range(3)]

# %%
# Labels from the marks: at least one change within five samples of a place that two people marked, no
# change in long stretches that nobody marked, and nothing about the places where people disagree.


def labels_from(annotations, n_samples, margin=5):
    everyone = np.sort(np.concatenate(annotations))
    near = [[np.any(np.abs(one - mark) <= margin) for one in annotations] for mark in everyone]
    found, covered = [], 0
    for mark, votes in zip(everyone, near, strict=True):
        start, end = max(mark - margin, 0), min(mark + margin, n_samples - 1)
        if start - covered > 2 * margin:
            found.append(Label(covered, start - 1, "none"))
        if sum(votes) >= 2 and start >= covered:
            found.append(Label(start, end, "at_least_one"))
        covered = max(covered, end + 1)
    if n_samples - covered > 2 * margin:
        found.append(Label(covered, n_samples - 1, "none"))
    return found


labels = {name: labels_from(marks[name], signal.size) for name, signal in signals.items()}
names = [name for name in signals if labels[name]]
counts = {
    kind: sum(la.kind == kind for n in names for la in labels[n])
    for kind in ("none", "at_least_one")
}
print(f"{len(names)} series, labels: {counts}")

# %%
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
