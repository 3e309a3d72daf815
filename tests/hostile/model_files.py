"""A fuzzer of model files: random damage and forgery, each case from its own seed.

    python -m tests.hostile.model_files FIRST LAST [TARGET ...]

tries the cases FIRST .. LAST - 1 of each target in forked children of one process, and writes counts of
the outcomes as JSON, one line per target. A target is a way to damage any file, or a class or kind of
object that a file may hold: its cases change one object of that kind or a part of it. A case is wrong
where it ends the process, where loading fails in any other way than by the one-line error or takes more
than ten seconds, where the process grows by more than ten times the unpacked file and 100 MB, or where
a damaged file gives other scores than the whole one.
"""

import copy
import faulthandler
import io
import json
import os
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MaxAbsScaler, OneHotEncoder, OrdinalEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from aucuba import PartialAUCClassifier, PartialAUCSVC, RegionReweighted, RegionStack
from aucuba.persistence import load_model, save_model
from aucuba.persistence._archive import array_bytes, read_arrays
from aucuba.persistence._load import _names_in
from aucuba.persistence._names import STORED_NAMES, TYPES, located
from tests.persistence.archives import entries_of, written
from tests.persistence.saved_models import RANGE, all_models, scores_of, table, write

SECONDS, MOST_SECONDS = 60, 10.0
MEMORY = 8 * 2**30
GROWTH, ALLOWANCE = 10, 100 * 10**6
EXTREMES = [0, -1, 1, 2, 3, 7, 255, 2**31 - 1, -(2**31), 2 * 10**9, 2**63 - 1, 10**30, 0.5, True]
TEXTS = ["", "x", None, float("nan"), float("inf"), -1e308, [], {}, [[1, 2], [3]], "<f8", "class"]
NAMES = [
    *("os.system", "builtins.eval", "subprocess.Popen", "numpy.fromfile", "numpy.float64"),
    *("functools.partial", "sklearn.tree._tree.Tree", "aucuba.structured.BinnedAUC"),
    *STORED_NAMES,
]
DEPTHS = [50, 400, 3_000, 100_000]
DTYPES = ["<f4", "<f8", ">f8", "<i4", "<i8", "|i1", "|u1", "|b1", "<U3", "|S2", "<M8[ns]", "<c16"]


def flipped(content, rng):
    """One to eight bytes changed anywhere in the file."""
    damaged = bytearray(content)
    for place in rng.integers(len(damaged), size=rng.integers(1, 9)):
        damaged[place] ^= int(rng.integers(1, 256))
    return bytes(damaged)


def cut(content, rng):
    """The file without its end, its beginning or a piece of its middle."""
    first, last = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return [content[:first], content[last:], content[:first] + content[last:]][rng.integers(3)]


def forged_bytes(content, rng):
    """Bytes of one entry changed, in an archive whose checksums are right."""
    entries = unpacked(content)
    name = list(entries)[rng.integers(len(entries))]
    entries[name] = flipped(entries[name], rng) if entries[name] else b"x"
    return packed(entries)


WHOLE = {"flipped": flipped, "cut": cut, "forged bytes": forged_bytes}
# In these the content is what it was, or the file is refused.
DAMAGE = ("flipped", "cut")


def forged(content, rng, target):
    """One to three changes of an object of one kind, its parts and its arrays."""
    entries = unpacked(content)
    description = json.loads(entries["model.json"])
    arrays = read_arrays(description["arrays"], entries["arrays.bin"])
    nodes = [node for node in all_nodes(description["content"]) if kind_of(node) == target]
    node = nodes[rng.integers(len(nodes))]
    for _ in range(rng.integers(1, 4)):
        places = array_places(node, description)
        if places and rng.random() < 0.5:
            change_array(arrays, places, rng)
        else:
            change_node(node, description, rng)
    description["arrays"], entries["arrays.bin"] = array_bytes(arrays)
    if rng.random() < 0.05:
        change_node({"arrays": description["arrays"]}, description, rng)
    text = json.dumps(description)
    if rng.random() < 0.1:
        text = nested(text, rng)
    entries["model.json"] = text.encode()
    return packed(entries)


def kind_of(node):
    tag = next(iter(node), None)
    return node[tag] if tag == "class" else tag


def all_nodes(item):
    """All JSON objects of a description, outer ones first."""
    waiting = [item]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def array_places(node, description):
    """Places of the arrays below a node, those of its trees included."""
    places = set()
    for part in all_nodes(node):
        places |= {part[tag] for tag in ("array", "scalar") if isinstance(part.get(tag), int)}
        if "tree" in part and description["trees"]:
            places |= set(description["trees"][0][2].values())
        if "predictor" in part and description["predictors"]:
            places |= set(description["predictors"].values())
    return sorted(places)


def change_array(arrays, places, rng):
    """Change one array, or let two of the file take each other's places."""
    place = places[rng.integers(len(places))]
    if place >= len(arrays) or place < 0:
        return
    if rng.random() < 0.2:
        other = int(rng.integers(len(arrays)))
        arrays[place], arrays[other] = arrays[other], arrays[place]
        return
    arrays[place] = changed(arrays[place], rng)


def changed(array, rng):
    """Another array in the place of one: entries, sizes, dimensions and types."""
    kind = rng.integers(8)
    if kind < 3 and array.size:
        array = array.copy()
        for _ in range(rng.integers(1, 4)):
            set_entry(array, rng)
        return array
    if kind == 3:
        return array[..., :-1] if array.ndim else array.reshape(1)
    if kind == 4 and array.ndim:
        return np.concatenate([array] * int(rng.integers(2, 5)), axis=int(rng.integers(array.ndim)))
    if kind == 5:
        return array[:0] if array.ndim else np.zeros(0)
    if kind == 6:
        return (
            [array[None], array.ravel(), array.ravel()[:1].reshape(())][rng.integers(3)]
            if array.size
            else array[None]
        )
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))])
    content = array.tobytes()
    size = len(content) // dtype.itemsize
    return np.frombuffer(content, dtype, size).copy()


def set_entry(array, rng):
    """Set one entry to an extreme number of its type, or to another entry: a node that loops."""
    place = tuple(int(rng.integers(size)) for size in array.shape)
    if rng.random() < 0.3:
        array[place] = array.ravel()[rng.integers(array.size)]
    elif array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        number = int(EXTREMES[rng.integers(len(EXTREMES))])
        array[place] = max(int(limits.min), min(int(limits.max), number))
    elif array.dtype.kind == "f":
        array[place] = [np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0][rng.integers(6)]
    elif array.dtype.kind == "b":
        array[place] = not array[place]


def change_node(node, description, rng):
    """Change a node or a part of it in place."""
    holders = [one for one in containers(node) if len(one)]
    if not holders:
        return
    holder = holders[rng.integers(len(holders))]
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = keys[rng.integers(len(keys))]
    kind = rng.integers(7)
    if kind == 0:
        holder[key] = EXTREMES[rng.integers(len(EXTREMES))]
    elif kind == 1:
        holder[key] = copy.deepcopy(TEXTS[rng.integers(len(TEXTS))])
    elif kind == 2:
        del holder[key]
    elif kind == 3:
        other = list(all_nodes(description["content"]))
        holder[key] = copy.deepcopy(other[rng.integers(len(other))])
    elif kind == 4:
        other = keys[rng.integers(len(keys))]
        holder[key], holder[other] = holder[other], holder[key]
    elif kind == 5 and isinstance(holder, dict):
        holder[["tuple", "dict", "class", "objects", "tree", "masked"][rng.integers(6)]] = (
            holder.pop(key)
        )
    elif isinstance(holder, dict) and ("class" in holder or "type" in holder):
        holder["class" if "class" in holder else "type"] = NAMES[rng.integers(len(NAMES))]
    else:
        holder[key] = "DEEP"


def containers(item):
    waiting = [item]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list):
            yield item
            waiting.extend(item.values() if isinstance(item, dict) else item)


def nested(text, rng):
    """A description one of whose numbers is a list in a list in a list, thousands deep."""
    depth = DEPTHS[rng.integers(len(DEPTHS))]
    opening, closing = [("[", "]"), ('{"tuple":[', "]}"), ('{"set":[', "]}")][rng.integers(3)]
    deep = opening * depth + "1" + closing * depth
    for mark in ('"DEEP"', "null"):
        if mark in text:
            return text.replace(mark, deep, 1)
    return deep


def unpacked(content):
    return entries_of(io.BytesIO(content))


def packed(entries):
    buffer = io.BytesIO()
    written(buffer, entries, zipfile.ZIP_STORED)
    return buffer.getvalue()


@dataclass(frozen=True)
class Original:
    """A whole model file, what it answers, the classes to trust, and the kinds of object inside."""

    content: bytes
    answers: dict | None
    trusted: tuple = ()
    kinds: frozenset = field(default_factory=frozenset)

    @classmethod
    def from_file(cls, path, answers):
        description = json.loads(entries_of(path)["model.json"])
        names = set(_names_in(description)) - STORED_NAMES.keys() - TYPES
        kinds = {kind_of(node) for node in all_nodes(description["content"])}
        return cls(path.read_bytes(), answers, tuple(sorted(names)), frozenset(kinds))

    @classmethod
    def from_model(cls, model, rows, folder, method="decision_function"):
        """A model with its answers to some rows, or one that answers nothing."""
        path = Path(folder) / "original"
        save_model(model, path)
        answers = None
        if rows is not None:
            answers = {"method": method, "rows": rows}
            answers["scores"] = scores_of(model, answers)
        return cls.from_file(path, answers)


def splitters():
    for name in STORED_NAMES:
        if name.startswith("sklearn.model_selection."):
            yield (
                located(name)(random_state=0)
                if "Shuffle" in name or "Repeated" in name
                else located(name)()
            )


def originals(folder):
    """Model files that hold every class which a file may hold, and some that need trust."""
    found = []
    for case in all_models():
        path = write(Path(folder), *case)
        answers = json.loads(path.with_suffix(".json").read_text())
        found.append(Original.from_file(path, answers))
    X, y = table()
    rows = X[:5]
    missing = np.round(X)
    missing[X[:, 0] > 1, 0] = np.nan
    kernel = PartialAUCSVC(RANGE, kernel="rbf", loss="tight")
    stack = RegionStack(RANGE, estimators=[("trees", ExtraTreesClassifier(3))], cv=2)
    steps = [
        ("scaled", make_pipeline(SimpleImputer(add_indicator=True), MaxAbsScaler()), [0, 1]),
        ("empty", MissingIndicator(features="all"), [0, 2]),
        ("coded", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), [1]),
        ("columns", OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist"), [1]),
    ]
    columns = make_pipeline(ColumnTransformer(steps), PartialAUCClassifier(RANGE))
    two = np.column_stack([y, X[:, 1] > 0]).astype(int)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
    state = np.random.RandomState(0)
    models = [
        (columns.fit(missing, y), missing[:5], "decision_function"),
        (DecisionTreeClassifier(max_depth=3).fit(X, y), rows, "predict_proba"),
        (ExtraTreeClassifier(max_depth=3).fit(X, two), rows, "predict"),
        (ExtraTreesClassifier(3, max_depth=3).fit(X, two), rows, "predict"),
        (stack.fit(X, y), rows, "decision_function"),
        (kernel.fit(sparse.csr_matrix(X), y), sparse.csr_matrix(rows), "decision_function"),
        (LabelEncoder().fit(["a", "b"]), None, None),
        (LogisticRegression(random_state=state).fit(X, y), rows, "decision_function"),
        (SVC().fit(X, y), rows, "decision_function"),
        (SVC().fit(sparse.csr_matrix(X), y), sparse.csr_matrix(rows), "decision_function"),
        (GradientBoostingClassifier(n_estimators=3, max_depth=2).fit(X, y), rows, "predict_proba"),
        (search.fit(X, y), rows, "decision_function"),
        *((RegionReweighted(LogisticRegression(), RANGE, cv=cv), None, None) for cv in splitters()),
    ]
    found += [Original.from_model(model, rows, folder, how) for model, rows, how in models]
    return found


def targets(whole):
    """What cases are aimed at: any file, and every kind of object in the files."""
    return [*WHOLE, *sorted(set().union(*(one.kinds for one in whole)))]


def case_of(target, seed, whole):
    """The file of one case, and the file that it was made of."""
    rng = np.random.default_rng([seed, *target.encode()])
    holding = [one for one in whole if target in WHOLE or target in one.kinds]
    original = holding[seed % len(holding)]
    if target in WHOLE:
        return WHOLE[target](original.content, rng), original
    return forged(original.content, rng, target), original


def outcome(path, original, damage):
    """What happens when a file is loaded and its model scores some rows, and the seconds of loading."""
    start = time.process_time()
    try:
        model = load_model(path, trusted=original.trusted, max_size=2**24).model
    except ValueError as error:
        plain = str(path) in str(error) and "\n" not in str(error)
        return "refused" if plain else f"wrong: message {str(error)[:80]!r}", clock(start)
    except Exception as error:
        return f"wrong: {type(error).__name__} when loaded", clock(start)
    seconds = clock(start)
    try:
        scores = scores_of(model, original.answers) if original.answers else None
    except Exception as error:
        failed = "loaded, prediction failed"
        return f"wrong: {type(error).__name__} when used" if damage else failed, seconds
    if damage and scores is not None:
        same = np.allclose(scores, original.answers["scores"], rtol=1e-9, atol=1e-9)
        return "loaded" if same else "wrong: other scores", seconds
    return "loaded", seconds


def clock(start):
    return time.process_time() - start


def memory(name):
    """Bytes of this process that the kernel calls by a name: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in /proc/self/status")


def unpacked_size(content):
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except Exception:
        return len(content)


def try_case(target, seed, whole, path):
    """Outcome, seconds and growth of the process in one case."""
    content, original = case_of(target, seed, whole)
    path.write_bytes(content)
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    # Compiled loops that never end do not look for signals.
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    found, seconds = outcome(path, original, target in DAMAGE)
    faulthandler.cancel_dump_traceback_later()
    growth = memory("VmHWM") - before
    if seconds > MOST_SECONDS:
        found = f"wrong: {seconds:.0f} s"
    elif growth > GROWTH * unpacked_size(content) + ALLOWANCE:
        found = f"wrong: {growth / 1e6:.0f} MB"
    return found, seconds, growth


def in_child(target, first, last, whole, folder):
    """Run some cases in a forked child, which writes a line per case, and return the lines."""
    record, errors = Path(folder) / "record", Path(folder) / "errors"
    record.write_text("")
    child = os.fork()
    if child == 0:
        # A file that asks for more memory than there is must fail here, not take the machine with it.
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with errors.open("w") as stream, record.open("a", buffering=1) as lines:
            faulthandler.enable(stream)
            for seed in range(first, last):
                result = try_case(target, seed, whole, Path(folder) / "m")
                lines.write(json.dumps(result) + "\n")
        os._exit(0)
    os.waitpid(child, 0)
    return [json.loads(line) for line in record.read_text().splitlines()]


def try_cases(target, first, last, whole, folder):
    """Counts of the outcomes of some cases, the seeds of those that went wrong, and the extremes."""
    counts, wrong, seed = Counter(), [], first
    seconds, growth = 0.0, 0
    while seed < last:
        lines = in_child(target, seed, last, whole, folder)
        if len(lines) < last - seed:
            lines.append(["wrong: the process ended", 0.0, 0])
        for found, *cost in lines:
            counts["wrong" if found.startswith("wrong") else found] += 1
            wrong += [[seed, found]] if found.startswith("wrong") else []
            seconds, growth = max(seconds, cost[0]), max(growth, cost[1])
            seed += 1
    result = {"target": target, "cases": last - first, "outcomes": dict(counts), "wrong": wrong}
    return {**result, "seconds": round(seconds, 3), "growth": growth}


def main():
    first, last, *chosen = sys.argv[1:]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        whole = originals(folder)
        for target in chosen or targets(whole):
            found = try_cases(target, int(first), int(last), whole, folder)
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
