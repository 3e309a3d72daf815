"""The service of the guide under concurrent requests with hostile bodies.

A case is one request. It is wrong where the answer is neither scores nor a status of 4xx with a text,
or where a good row of the request has another score than alone.
"""

import asyncio
import json
import math
import sys
import types
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

VALUES = [
    *(None, True, False, 0, -0.0, 1e308, -1e308, 5e-324, 1e-320, 10**400, -(2**63), 2**64, 2**53 + 1),
    *(math.nan, math.inf, -math.inf, "", " ", "1.5", "1e400", "nan", "None", "a\x00b", "\u202ex"),
    *("x" * 10_000, "Oslo", "oslo", "𝒂", "0x10", "1_000", "１", "2024-13-45", [], [1.0], {}, {"a": 1}),
    *([[[]]], "<script>", "'; DROP TABLE t; --", "%s", "{0}", "\ud83d", "\n"),
]  # fmt: skip
RAW = [
    *(b"", b"null", b"{}", b"[", b"[1]", b"[null]", b"[[]]", b'"x"', b"\xff\xfe", b"[{}]", b"[{}, {}]"),
    *(b"[" * 50_000, b'[{"a":' * 2_000, b'[{"a": 1e999}]', b'[{"a": 1, "a": 2}]', b"\x00" * 100),
]  # fmt: skip


def service(source: str, model, monkeypatch):
    """Run the program of the guide around a model file; return its module."""
    monkeypatch.setenv("MODEL", str(model))
    module = types.ModuleType("service_app")
    monkeypatch.setitem(sys.modules, "service_app", module)
    exec(compile(source, "service_app.py", "exec"), vars(module))
    return module


def random_body(rng, rows: list[dict]) -> tuple[bytes, list[int], list[int]]:
    """A body, the places of its good rows, and which of the rows these are."""
    if rng.random() < 0.1:
        return RAW[rng.integers(len(RAW))], [], []
    sent, places, known = [], [], []
    for place in range(int(rng.integers(1, 5))):
        number = int(rng.integers(len(rows)))
        row = dict(rows[number])
        if rng.random() < 0.5:
            places.append(place)
            known.append(number)
        else:
            _spoil(row, rng)
        sent.append(row)
    # Lone halves of characters are escaped, NaN and Infinity written as Python does.
    return json.dumps(sent).encode(), places, known


def _spoil(row: dict, rng) -> None:
    for _ in range(int(rng.integers(1, 4))):
        names = list(row) or ["a"]
        name = names[rng.integers(len(names))]
        kind = rng.integers(4)
        if kind == 0:
            row.pop(name, None)
        elif kind == 1:
            row[str(VALUES[rng.integers(len(VALUES))])[:50]] = 1.0
        else:
            row[name] = VALUES[rng.integers(len(VALUES))]


def tried(module, rows: list[dict], seeds: range) -> list[str]:
    """Send all requests at once; return what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = module.saved.decision_function(pd.DataFrame(rows))
        return asyncio.run(_tried(module.app, rows, alone, seeds))


async def _tried(app, rows, alone, seeds):
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test", timeout=600
    ) as client:
        found = await asyncio.gather(*(_one(client, rows, alone, seed) for seed in seeds))
    return [one for one in found if one]


async def _one(client, rows, alone, seed) -> str:
    body, places, known = random_body(np.random.default_rng(seed), rows)
    answer = await client.post(
        "/scores", content=body, headers={"content-type": "application/json"}
    )
    told = f"seed {seed}: {answer.status_code} {answer.text[:200]!r} to {body[:300]!r}"
    if 400 <= answer.status_code < 500:
        return "" if answer.json().get("detail") else f"no text; {told}"
    if answer.status_code != 200:
        return f"status; {told}"
    scores = [one["score"] for one in answer.json()]
    if not all(isinstance(one, float) and math.isfinite(one) for one in scores):
        return f"no score; {told}"
    got = np.array([scores[place] for place in places])
    if not np.allclose(got, alone[known], rtol=1e-12, atol=1e-15):
        return f"another score; {told}"
    return ""
