"""A fuzzer of model files: random damage and forgery, each case from its own seed.

    python -m tests.hostile.model_files FIRST LAST [KIND ...]

tries the cases FIRST .. LAST - 1 of each kind and writes counts of the outcomes as JSON, one line for
each kind. A case is wrong where loading fails in any other way than by the one-line error, or where a
damaged file gives other scores than the whole one. A crash, or a case that takes longer than five
minutes, ends the process; standard error then names the case.
"""

import copy
import faulthandler
import io
import json
import resource
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier
from sklearn.svm import SVC

from aucuba import PartialAUCSVC, RegionStack
from aucuba.persistence import load_model, save_model
from aucuba.persistence._schema import foreign_nodes
from tests.persistence.archives import entries_of, written
from tests.persistence.saved_models import all_models, scores_of, write

SECONDS = 300
MEMORY = 8 * 2**30
EXTREMES = [0, -1, 1, 2, 3, 4, 7, 255, 2**31 - 1, -(2**31), 2 * 10**9, 2**63 - 1, 10**30]
TEXTS = [
    "",
    "x",
    "NaN",
    "Infinity",
    "-1e308",
    "null",
    "true",
    '"text"',
    "[]",
    "{}",
    "[[1, 2], [3]]",
]
NAMES = [
    ("os", "system"),
    ("builtins", "eval"),
    ("builtins", "map"),
    ("subprocess", "Popen"),
    ("numpy", "fromfile"),
    ("numpy", "ndarray"),
    ("numpy", "float64"),
    ("functools", "partial"),
    ("sklearn.tree._tree", "Tree"),
    ("sklearn.pipeline", "Pipeline"),
    ("sklearn.utils.validation", "check_array"),
    ("aucuba", "RegionStack"),
    ("aucuba.structured", "BinnedAUC"),
]
LOADERS = [
    *("DictNode", "ListNode", "TupleNode", "SetNode", "SliceNode", "JsonNode", "TypeNode"),
    *("NdArrayNode", "DTypeNode", "ObjectNode", "TreeNode", "LossNode", "FunctionNode"),
    *("PartialNode", "MethodNode", "OperatorFuncNode", "CachedNode", "SparseMatrixNode"),
    *("RandomStateNode", "RandomGeneratorNode", "ConstructorFromReduceNode", "BytesNode"),
]


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


def forged_schema(content, rng):
    """One to three changes of nodes: other classes, loaders, numbers, places, or none."""
    entries = unpacked(content)
    schema = json.loads(entries["schema.json"])
    for _ in range(rng.integers(1, 4)):
        change_node(schema, rng)
    entries["schema.json"] = json.dumps(schema).encode()
    return packed(entries)


def forged_array(content, rng):
    """One array of other entries, another shape or another type."""
    entries = unpacked(content)
    names = [name for name in entries if name.endswith(".npy")]
    name = names[rng.integers(len(names))]
    stream = io.BytesIO()
    np.save(stream, changed(np.load(io.BytesIO(entries[name])), rng), allow_pickle=False)
    entries[name] = stream.getvalue()
    return packed(entries)


def forged_tree(content, rng):
    """One field of one node of one tree set to an extreme number."""
    entries = unpacked(content)
    arrays = {
        name: np.load(io.BytesIO(data)) for name, data in entries.items() if name.endswith(".npy")
    }
    trees = [name for name, array in arrays.items() if array.dtype.names and array.size]
    if not trees:
        return forged_array(content, rng)
    name = trees[rng.integers(len(trees))]
    nodes = arrays[name]
    field = nodes.dtype.names[rng.integers(len(nodes.dtype.names))]
    set_entry(nodes[field], rng)
    stream = io.BytesIO()
    np.save(stream, nodes)
    entries[name] = stream.getvalue()
    return packed(entries)


KINDS = {
    "flipped": flipped,
    "cut": cut,
    "forged bytes": forged_bytes,
    "forged schema": forged_schema,
    "forged array": forged_array,
    "forged tree": forged_tree,
}
# In these the content is what it was, or the file is refused.
DAMAGE = ("flipped", "cut")


def change_node(schema, rng):
    """Change one node in place."""
    nodes = list(all_nodes(schema))
    node = nodes[rng.integers(len(nodes))]
    other = nodes[rng.integers(len(nodes))]
    kind = rng.integers(8)
    if kind == 0:
        node["__module__"], node["__class__"] = NAMES[rng.integers(len(NAMES))]
    elif kind == 1:
        node["__loader__"] = LOADERS[rng.integers(len(LOADERS))]
    elif kind == 2:
        node.pop(list(node)[rng.integers(len(node))])
    elif kind == 3 and "content" in node:
        node["content"] = copy.deepcopy(other.get("content"))
    elif kind == 4:
        node.update(copy.deepcopy({k: v for k, v in other.items() if k != "protocol"}))
    elif kind == 5 and isinstance(node.get("content"), dict) and node["content"]:
        keys = list(node["content"])
        node["content"].pop(keys[rng.integers(len(keys))])
    elif kind == 6 and "file" in node and "file" in other:
        node["file"] = other["file"]
    elif rng.random() < 0.5:
        node["content"] = str(EXTREMES[rng.integers(len(EXTREMES))])
    else:
        node["content"] = TEXTS[rng.integers(len(TEXTS))]


def changed(array, rng):
    """Another array in the place of one."""
    kind = rng.integers(6)
    if kind == 0 and array.size:
        array = array.copy()
        set_entry(array[array.dtype.names[0]] if array.dtype.names else array, rng)
        return array
    if kind == 1:
        return array[..., :-1] if array.ndim else array.reshape(1)
    if kind == 2 and array.ndim:
        return np.concatenate([array] * int(rng.integers(2, 5)), axis=int(rng.integers(array.ndim)))
    if kind == 3:
        return array[:0] if array.ndim else np.zeros(0)
    if kind == 4:
        return array.reshape(1, *array.shape) if rng.random() < 0.5 else array.ravel()
    return np.full(array.shape, [np.nan, 1e300, -1.0, 2e9][rng.integers(4)])


def set_entry(array, rng):
    """Set one entry to an extreme number of its type."""
    place = tuple(int(rng.integers(size)) for size in array.shape)
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        array[place] = max(limits.min, min(limits.max, EXTREMES[rng.integers(len(EXTREMES))]))
    elif array.dtype.kind == "f":
        array[place] = [np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0][rng.integers(6)]
    elif array.dtype.kind == "b":
        array[place] = not array[place]


def all_nodes(item):
    if isinstance(item, dict):
        if "__loader__" in item:
            yield item
        for value in item.values():
            yield from all_nodes(value)
    elif isinstance(item, list):
        for value in item:
            yield from all_nodes(value)


def unpacked(content):
    return entries_of(io.BytesIO(content))


def packed(entries):
    buffer = io.BytesIO()
    written(buffer, entries, zipfile.ZIP_STORED)
    return buffer.getvalue()


@dataclass(frozen=True)
class Original:
    """A whole model file, what it answers, and the classes to trust."""

    content: bytes
    answers: dict
    trusted: tuple = ()

    @classmethod
    def from_file(cls, path):
        return cls(path.read_bytes(), json.loads(path.with_suffix(".json").read_text()))

    @classmethod
    def from_model(cls, model, X, y, folder):
        """A model with classes of scikit-learn that the library does not load by itself."""
        path = Path(folder) / "original"
        save_model(model.fit(X, y), path)
        schema = json.loads(entries_of(path)["schema.json"])
        rows = X[:5]
        answers = {"method": "decision_function", "rows": rows}
        answers["scores"] = scores_of(model, answers)
        return cls(path.read_bytes(), answers, tuple(foreign_nodes(schema)))


def originals(folder):
    """A model of every stored class, and some whose compiled code takes more from the file."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 2)
    y = (X[:, 0] + rng.normal(size=60) > 0.5).astype(int)
    kernel = PartialAUCSVC((0.0, 0.4), kernel="rbf", loss="tight")
    stack = RegionStack((0.0, 0.4), estimators=[("trees", ExtraTreesClassifier(3))], cv=2)
    return [
        *(Original.from_file(write(Path(folder), *case)) for case in all_models()),
        Original.from_model(GradientBoostingClassifier(n_estimators=3, max_depth=2), X, y, folder),
        Original.from_model(SVC(), X, y, folder),
        Original.from_model(SVC(), sparse.csr_matrix(X), y, folder),
        Original.from_model(kernel, sparse.csr_matrix(X), y, folder),
        Original.from_model(stack, X, y, folder),
    ]


def outcome(path, original, damage):
    """What happens when a file is loaded and its model scores some rows."""
    try:
        model = load_model(path, trusted=original.trusted, max_size=2**24).model
    except ValueError as error:
        plain = str(path) in str(error) and "\n" not in str(error)
        return "refused" if plain else f"wrong: message {str(error)[:80]!r}"
    except Exception as error:
        return f"wrong: {type(error).__name__} when loaded"
    try:
        scores = np.asarray(scores_of(model, original.answers))
    except Exception as error:
        return f"wrong: {type(error).__name__} when used" if damage else "loaded, prediction failed"
    if damage and not np.allclose(scores, original.answers["scores"], rtol=1e-9, atol=1e-9):
        return "wrong: other scores"
    return "loaded"


def try_cases(kind, first, last, whole, path):
    """Counts of the outcomes of some cases, and the seeds of those that went wrong."""
    counts, seeds = Counter(), []
    for seed in range(first, last):
        rng = np.random.default_rng([list(KINDS).index(kind), seed])
        original = whole[seed % len(whole)]
        path.write_bytes(KINDS[kind](original.content, rng))
        sys.stderr.write(f"{kind} {seed}\n")
        # Compiled loops that never end do not look for signals.
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        found = outcome(path, original, kind in DAMAGE)
        faulthandler.cancel_dump_traceback_later()
        counts[found] += 1
        if found.startswith("wrong"):
            seeds.append([seed, found])
    return {"kind": kind, "cases": last - first, "outcomes": dict(counts), "wrong": seeds}


def main():
    first, last, *kinds = sys.argv[1:]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        whole = originals(folder)
        # A file that asks for more memory than there is must fail here, not take the machine with it.
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for kind in kinds or KINDS:
            found = try_cases(kind, int(first), int(last), whole, Path(folder) / "m")
            sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
