"""What fuzzing needs of the contract process: first inputs of the target that takes its steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boxspec.target.contract import Fuzzing

# In the order of fuzz/targets/process_steps.c.
STEPS = (
    *("open", "write", "read", "close_stdin", "poll", "wait", "take", "terminate", "kill", "close"),
    *("drop", "beside"),
)
SCRIPTS = [
    "open write read close_stdin wait wait poll",
    "open write read write write read kill read wait",
    "open take take write read close_stdin wait drop",
    "open beside terminate wait close close",
    "open poll write close poll drop open read drop",
    "open kill kill wait terminate kill poll close",
    "open beside write read drop open beside close_stdin wait",
    "open wait write read close",
]


def encoded(script: Sequence[str], handle: int, size: int) -> bytes:
    """Two bytes a step: which, and the handle with how much is written."""
    return b"".join(bytes((STEPS.index(word), size & 0xFE | handle)) for word in script)


def process_steps() -> Iterator[bytes]:
    """Scripts on one handle, and each of them between the steps of another."""
    for i, one in enumerate(SCRIPTS):
        alone = encoded(one.split(), 0, 40 * i)
        yield alone
        other = encoded(SCRIPTS[i - 1].split(), 1, 200)
        pairs = max(len(alone), len(other)) // 2
        yield b"".join(piece[2 * n : 2 * n + 2] for n in range(pairs) for piece in (alone, other))


def process_frame() -> Iterator[bytes]:
    """Scripts in order, and with one thing wrong."""
    handle = {"request": {"program": "cat"}}
    opened = {"step": "open", "handle": "a"}
    write = {"step": "write", "handle": "a", "data": "x"}
    again = {"step": "repeat", "count": 3, "steps": [opened, {"step": "drop", "handle": "a"}]}
    beside = {"step": "wait", "handle": "a", "timeout_ms": 5, "thread": "t"}
    join = {"step": "join", "thread": "t"}
    scripts: tuple[object, ...] = (
        *([], [opened], [opened, write], [again], [again | {"count": -1}], [again, beside, join]),
        *([join, beside], [{"step": "nothing", "handle": "a"}], [{"step": "open", "handle": "b"}]),
        *([opened, {"step": "poll", "handle": "a"}], [again | {"steps": [again]}], [1], [{}]),
        *([again | {"steps": [beside]}], [again | {"steps": {}}], [again | {"steps": [join]}]),
        *([{"step": "take", "handle": "a", "stream": "stdout"}], [write | {"data_b64": "eA=="}]),
        [{"step": "read_until", "handle": "a", "stream": "stderr", "until_b64": "AA=="}],
        [{"step": "close", "handle": "a", "grace_ms": 0, "more": 1}],
    )
    for steps in scripts:
        yield json.dumps({"handles": {"a": handle}, "steps": steps}).encode()
    odd = handle | {"stdin": 7, "stderr": 2, "nonblocking": True}
    named: tuple[object, ...] = (
        *({}, [], {"a": 1}, {"a": odd}),
        *({"a": handle | {"cwd": "/"}}, {"a": {}}),
    )
    for handles in named:
        yield json.dumps({"handles": handles, "steps": [opened]}).encode()
    yield b'{"steps": []}'


def _no_vectors(
    _: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    return iter(())


FUZZING = Fuzzing(
    seeds={"process_frame": process_frame, "process_steps": process_steps},
    vectors_of=_no_vectors,
    ids=tuple,
)
