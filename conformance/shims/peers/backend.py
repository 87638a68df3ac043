"""An adapter as a backend of the twin's session: claims, positive control, wrap, start."""

from __future__ import annotations

import os
from time import monotonic_ns

import backend.claims as claims
import peers.starting as starting
from backend.session import Session
from errors import reason_of
from exec.spawn import caller_environment, spawn_failure
from peers.adapter import FULLY, Asked, Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules
    from exec.request import Request
    from kinds import Object
    from peers.adapter import Adapter

TRUE = "/bin/true"


class Peer:
    """One session of a product. root: where the positive control is made."""

    def __init__(self, adapter: Adapter, root: str) -> None:
        self.adapter = adapter
        self.root = root

    def probe(
        self, profile: str, given: Rules | None, egress: Sequence[str] | None
    ) -> claims.Claims:
        asked = Asked(self.root, self.root, profile)
        why = fails_to_start(self.adapter, asked)
        if why is not None:
            return claims.nothing(claims.requested(profile, egress, False), why)
        made = claims.Claims()
        said = dict(self.adapter.claimed(asked))
        if asked.network:
            said.pop("network", None)
        if egress and egress != ["*"]:
            said["network"] = "the adapter passes no list of egress on"
        for aspect, claim in said.items():
            if claim == FULLY:
                made.fully(aspect)
            else:
                made.lacks(aspect, claim)
        for aspect in claims.requested(profile, egress, False):
            if aspect not in made.aspects:
                made.lacks(aspect, "its documents do not claim it", claim="unavailable")
        return made

    def prepare(self, context: Context, made: claims.Claims) -> None:
        pass

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        asked = Asked(os.fsdecode(context.root), os.fsdecode(cwd), context.profile)
        words = self.adapter.command([os.fsdecode(word) for word in argv], asked)
        added = self.adapter.environment.items()
        return (
            [os.fsencode(word) for word in words],
            [(os.fsencode(name), os.fsencode(value)) for name, value in added],
        )

    def shutdown(self) -> None:
        pass


def fails_to_start(adapter: Adapter, asked: Asked) -> str | None:
    """The positive control: why not even a program that does nothing ends well inside."""
    try:
        words = adapter.command([TRUE], asked)
        env = caller_environment()
        return starting.run(words, cwd=asked.root, env=env, own_group=True).why_not()
    except Missing as why:
        return f"{adapter.name} is not installed: {why}"
    except OSError as why:
        return f"{adapter.name} cannot be started: {reason_of(why)}"


class PeerSession(Session):
    """Starts what wrap gave as a shell would, in place of the twin's own careful way."""

    def give_stdin(self, request: Request) -> None:
        """Nothing stands between the caller's and the product's: what it makes of it is judged."""

    def execute(self, request: Request) -> Object:
        began = monotonic_ns()
        limit = starting.LIMIT_S if request.timeout_ms is None else request.timeout_ms / 1000
        cwd = os.fsdecode(request.current_dir or self.context.root)
        env = dict(request.env or ())
        words = [request.program, *request.args]
        if isinstance(self.backend, Peer):
            words = self.backend.adapter.passing(words, env)
        try:
            ended = starting.run(
                words,
                cwd=cwd,
                env=env,
                stdin=request.stdin,
                limit_s=limit,
            )
        except OSError as why:
            failure = spawn_failure(request.program, reason_of(why))
            self.note("run", failure.message)
            raise failure from None
        self.note("run", None if ended.code is not None else ended.why_not())
        return {
            "success": ended.code == 0,
            "stdout": ended.stdout.decode("utf-8", "replace"),
            "stderr": ended.stderr.decode("utf-8", "replace"),
            "exit_code": ended.code if ended.code is not None and ended.code >= 0 else None,
            "duration_ms": (monotonic_ns() - began) // 1_000_000,
            "output": None,
        }
