"""First inputs of the fuzz target that executes the steps of the contract process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boxspec.subject.contract import Fuzzing

# fuzz/targets/process_steps.c and fuzz/support/opening.h have the steps in the same order.
STEPS = (
    *("open", "write", "read", "close_stdin", "poll", "wait", "take", "terminate", "kill", "close"),
    *("drop", "beside", "hold", "steal"),
)
KINDS = (
    *("alone", "member", "stubborn", "launched", "not_there", "no_mode", "foreign", "refused"),
    *("failed", "collected", "squeezed"),
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
    "open write hold close close poll",
    "open hold write read kill read wait",
    "open write steal wait poll kill terminate close drop",
    "open steal close close wait",
]


def encoded(script: Sequence[str], handle: int, size: int) -> bytes:
    """Return the two bytes of a step: its number, and the handle combined with a size or a kind."""
    return b"".join(bytes((STEPS.index(word), size & 0xFE | handle)) for word in script)


def opening(kind: str, variant: int = 0) -> int:
    """Return the second byte of the step that opens handle 0."""
    return 2 * (KINDS.index(kind) + len(KINDS) * variant)


def process_steps() -> Iterator[bytes]:
    """Yield scripts on one handle, scripts that alternate between two handles, and each kind of
    opening."""
    for i, one in enumerate(SCRIPTS):
        alone = encoded(one.split(), 0, opening("alone", i % 3))
        yield alone
        other = encoded(SCRIPTS[i - 1].split(), 1, 200)
        pairs = max(len(alone), len(other)) // 2
        yield b"".join(piece[2 * n : 2 * n + 2] for n in range(pairs) for piece in (alone, other))
    for kind in ("no_mode", "foreign", "squeezed"):
        for variant in range(11):
            yield encoded(["open", "write", "read"], 0, opening(kind, variant))
    for kind in ("not_there", "refused", "failed", "collected"):
        yield encoded(["open", "poll"], 0, opening(kind))
    for kind in ("alone", "member", "stubborn", "launched"):
        for ending in (
            *("close_stdin wait", "kill wait", "close", "drop", "steal wait", "terminate"),
            *("beside write read close", "close close"),
        ):
            script = encoded(["open", "write", "read"], 0, opening(kind))
            yield script + encoded(ending.split(), 0, 254)
            yield script + encoded(ending.split(), 0, 0)


def process_frame() -> Iterator[bytes]:
    """Yield scripts that are valid, and scripts with one mistake."""
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
        *([{"step": "take", "handle": "a"}], [{"step": "read_eof", "handle": "a"}]),
        *([{"step": "read_eof", "handle": "a", "stream": "stdout"}], [write | {"data": None}]),
        *([{"step": "write", "handle": "a"}], [beside, beside | {"thread": "u"}, join]),
        [{"step": "read_until", "handle": "a", "stream": "stdout"}],
        *([beside, join, beside | {"thread": "u"}], [beside, join, join, opened]),
    )
    for steps in scripts:
        yield json.dumps({"handles": {"a": handle}, "steps": steps}).encode()
    odd = handle | {"stdin": 7, "stdout": 300, "stderr": 2, "nonblocking": True}
    named: tuple[object, ...] = (
        *({}, [], {"a": 1}, {"a": odd}),
        *({"a": handle | {"cwd": "/"}}, {"a": {}}),
    )
    for handles in named:
        yield json.dumps({"handles": handles, "steps": [opened]}).encode()
    yield b'{"steps": []}'
    yield b'{"handles": {}, "steps": {}}'


def _no_vectors(
    _: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    return iter(())


FUZZING = Fuzzing(
    seeds={"process_frame": process_frame, "process_steps": process_steps},
    vectors_of=_no_vectors,
    ids=tuple,
)
