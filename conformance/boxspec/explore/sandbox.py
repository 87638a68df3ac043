"""Sandboxes for generated programs: a command, or a backend of an implementation."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from boxspec.explore.effects import (
    IPC,
    KERNEL,
    METADATA,
    NETWORK,
    PROCESS,
    READ,
    READ_OUTSIDE,
    WRITE,
    Effect,
)
from boxspec.verify.command import Command
from boxspec.verify.scene import Scene

# A command is expected to prevent every effect outside, but not to restrict system calls.
OUTSIDE = frozenset({WRITE, METADATA, READ_OUTSIDE, NETWORK, PROCESS, IPC})
ASPECTS = (*sorted(OUTSIDE), READ, KERNEL)


class Sandbox(ABC):
    """A way to start a program inside.

    name: shown to people.
    repeat: the words that repeat a run: options, and the words after them.
    counted: the aspects whose effects are findings.
    ruled: True if a policy keeps and hides files of the workspace.
    closes: True if the sandbox must close the descriptors of its caller.
    """

    name: str
    counted: frozenset[str]
    repeat: tuple[list[str], list[str]]
    ruled = False
    closes = False

    @abstractmethod
    def argv(self, scene: Scene, words: Sequence[str]) -> list[str]:
        """Return the command that starts these words inside the sandbox, in this scene."""

    def output(self, scene: Scene, stdout: bytes) -> bytes:
        """Return the output of the program, from the output of the command."""
        return stdout

    def why_not(self, scene: Scene) -> str:
        """Return why the program was not started, if the sandbox reports it."""
        return ""

    def counts(self, effect: Effect) -> bool:
        return effect.aspect in self.counted


def _ignoring(aspects: Collection[str]) -> list[str]:
    return [word for each in sorted(aspects) for word in ("--ignore", each)]


class CommandSandbox(Sandbox):
    def __init__(self, command: Command, ignored: Collection[str]) -> None:
        self._command = command
        self.name = command.words[0]
        self.counted = OUTSIDE - {*ignored}
        self.repeat = _ignoring(ignored), ["--", *command.words]

    def argv(self, scene: Scene, words: Sequence[str]) -> list[str]:
        return self._command.argv(scene, words)


class Backend(Protocol):
    """The requests of a contract for one backend (Contract.explored).

    name: the name of the backend.
    claimed: the aspects that the backend claims fully.
    """

    name: str
    claimed: frozenset[str]
    ruled: bool

    def message(self, root: Path, words: Sequence[str]) -> dict[str, Any]:
        """Return the request that runs these words in the workspace `root`."""

    def read(self, answer: Mapping[str, Any]) -> tuple[bytes, str]:
        """Return the output of the program, and the reason why it did not run, or ""."""


@dataclass
class _Files:
    request: Path
    response: Path

    def answer(self) -> dict[str, Any]:
        try:
            found = json.loads(self.response.read_text(encoding="utf-8", errors="replace"))
        except (OSError, ValueError) as why:
            return {"error": {"message": f"the shim gives no answer: {why}"}}
        return found if isinstance(found, dict) else {}


class ShimSandbox(Sandbox):
    """A backend of a shim. Each start is one `SHIM run REQUEST RESPONSE`."""

    closes = True

    def __init__(
        self,
        shim: Sequence[str],
        backend: Backend,
        ignored: Collection[str],
        repeat: Sequence[str],
    ) -> None:
        self._shim, self._backend = shim, backend
        self.name = backend.name
        self.counted = backend.claimed - {*ignored}
        self.ruled = backend.ruled
        self.repeat = [*repeat, *_ignoring(ignored)], []

    def _files(self, scene: Scene) -> _Files:
        return _Files(scene.private / "request", scene.private / "response")

    def argv(self, scene: Scene, words: Sequence[str]) -> list[str]:
        files = self._files(scene)
        message = {"id": scene.base.name, **self._backend.message(scene.root, words)}
        files.request.write_text(json.dumps(message), encoding="ascii")
        return [*self._shim, "run", str(files.request), str(files.response)]

    def output(self, scene: Scene, stdout: bytes) -> bytes:
        return self._backend.read(self._files(scene).answer())[0]

    def why_not(self, scene: Scene) -> str:
        return self._backend.read(self._files(scene).answer())[1]
