"""What fuzzing needs of the contract process: first inputs of the target that takes its steps."""

from __future__ import annotations

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


def _no_vectors(_: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return iter(())


FUZZING = Fuzzing(seeds={"process_steps": process_steps}, vectors_of=_no_vectors, ids=tuple)
