"""The description of a model's objects: renamed for storage, and checked before anything is built.

skops describes objects as a tree of nodes in ``schema.json``: dicts with a loader, the name of a
class, and their content. It also numbers them, and takes the first node of a number for all others.
Model files hold no numbers, so that what is checked here is what is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import compress
from typing import Any

from aucuba.persistence._archive import array_size, sparse_size
from aucuba.persistence._errors import demand
from aucuba.persistence._left_out import LEFT_OUT
from aucuba.persistence._names import BY_LOADER, NEVER, STORED_NAMES, present_names

Node = dict[str, Any]
# Protocols before this read some nodes in ways that the checks here do not know.
_OLDEST_PROTOCOL = 2
_FUNCTION_SETTINGS = {"dtype", "ensure_all_finite"}
_LARGEST_POOL = 64


def stored_form(schema: Node) -> tuple[Node, dict[str, str]]:
    """Turn a schema of skops into that of a model file, in place.

    Returns
    -------
    schema : dict
    files : dict
        Names of the archive's entries in the model file, by their names from skops.
    """
    names = present_names()
    files: dict[str, str] = {}
    for node in nodes(schema):
        if name_of(node) in LEFT_OUT:
            _leave_out(node, LEFT_OUT[name_of(node)])
        node.pop("__id__", None)
        stored = names.get(name_of(node))
        if stored is not None:
            _rename(node, stored)
        if "file" in node:
            kind = node["file"].rpartition(".")[2]
            node["file"] = files.setdefault(node["file"], f"{len(files)}.{kind}")
    return schema, files


def present_form(schema: Node) -> Node:
    """Turn the schema of a model file into one of skops with today's places of classes, in place."""
    for node in nodes(schema):
        place = STORED_NAMES.get(name_of(node))
        if place is not None:
            _rename(node, place)
    return schema


def foreign_nodes(schema: Node, trusted: frozenset[str] = frozenset()) -> dict[str, Node]:
    """Find the nodes that a model file may not hold, one for each name that is not trusted."""
    foreign = {}
    for node in nodes(schema):
        name, loader = name_of(node), node["__loader__"]
        known = name in trusted or name in BY_LOADER.get(loader, ())
        if loader in NEVER or not known:
            foreign[name] = node
    return foreign


def check_schema(schema: Node, entries: Mapping[str, bytes], max_size: int) -> None:
    """Refuse numbered nodes, arrays that are not what they say, and functions of other settings.

    ``max_size`` limits the bytes of all arrays together, each counted as often as it is used.
    """
    protocol = schema.get("protocol")
    demand(type(protocol) is int and protocol >= _OLDEST_PROTOCOL, "an unknown protocol")
    size = 0
    for node in nodes(schema):
        demand("__id__" not in node, "duplicate object ids")
        if "file" in node:
            size += _size_in_memory(node, entries[node["file"]], max_size)
        demand(size <= max_size, "arrays that are used too often")
        check = _CHECKS.get(node["__loader__"])
        if check is not None:
            check(node)


def nodes(schema: Node) -> Iterator[Node]:
    """Yield all nodes of a schema, outer ones first."""
    waiting: list[Any] = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)


def name_of(node: Node) -> str:
    """Return module and name of a node's class."""
    return f"{node['__module__']}.{node['__class__']}"


def _rename(node: Node, name: str) -> None:
    node["__module__"], _, node["__class__"] = name.rpartition(".")


def _leave_out(node: Node, attributes: frozenset[str]) -> None:
    """Remove attributes from the description of an object, which also lists the type of each name."""
    state = node["content"]
    kept = [name not in attributes for name in state["content"]]
    state["key_types"]["content"] = list(compress(state["key_types"]["content"], kept))
    state["content"] = dict(compress(state["content"].items(), kept))


def _size_in_memory(node: Node, content: bytes, max_size: int) -> int:
    if node["__loader__"] == "NdArrayNode":
        return array_size(content)
    if node["__loader__"] == "SparseMatrixNode":
        return sparse_size(content, max_size)
    return len(content)


def _check_partial(node: Node) -> None:
    content = node["content"]
    demand(
        content["func"]["__loader__"] == "FunctionNode"
        and not content["args"]["content"]
        and set(content["kwds"]["content"]) <= _FUNCTION_SETTINGS,
        "a function with other arguments",
    )


def _check_generator(node: Node) -> None:
    content = node["content"]
    kind = content["bit_generator"]["content"]["bit_generator"]["content"]
    pool = content["seed_seq"]["content"]["pool_size"]["content"]
    demand(
        kind == '"PCG64"' and 0 < int(pool) <= _LARGEST_POOL, "an unknown source of random numbers"
    )


def _check_text(node: Node) -> None:
    demand(isinstance(node["content"], str), "a value that is no text")


_CHECKS: dict[str, Callable[[Node], None]] = {
    "JsonNode": _check_text,
    "PartialNode": _check_partial,
    "RandomGeneratorNode": _check_generator,
}
