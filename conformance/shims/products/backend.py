"""Make an adapter a backend of the Python implementation: claims, test start, wrap and start."""

from __future__ import annotations

import os
from time import monotonic_ns

import backend.claims as claims
import products.denied as denied
import products.starting as starting
from backend.session import Session
from errors import reason_of
from exec.spawn import caller_environment, spawn_failure
from products.adapter import FULLY, Asked, Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.context import Context
    from backend.environment import Pairs
    from backend.rules import Rules
    from exec.request import Request
    from kinds import Object
    from products.adapter import Adapter

TRUE = "/bin/true"


class ProductBackend:
    """One session of a product.

    root: the workspace. The test start runs in it.
    """

    def __init__(self, adapter: Adapter, root: str) -> None:
        self.adapter = adapter
        self.root = root
        self.program: list[bytes] = []
        self.rules: denied.Denied | None = None

    def probe(
        self, profile: str, given: Rules | None, egress: Sequence[str] | None
    ) -> claims.Claims:
        asked = Asked(self.root, self.root, profile, egress)
        reads = bool(given and given.deny_read)
        if profile in self.adapter.lacks:
            why: str | None = f"{self.adapter.name} has no profile {profile}"
        else:
            why = fails_to_start(self.adapter, asked)
        if why is not None:
            return claims.nothing(claims.requested(profile, egress, reads), why)
        made = claims.Claims()
        if given is not None:
            denied.claim(made, given, profile, self.adapter.denies)
        claimed = dict(self.adapter.claimed(asked))
        if asked.network:
            claimed.pop("network", None)
        if egress and egress != ["*"]:
            claimed["network"] = self.adapter.egress or "its documents name no list of destinations"
        for aspect, claim in claimed.items():
            if claim == FULLY:
                made.fully(aspect)
            else:
                made.lacks(aspect, claim)
        for aspect in claims.requested(profile, egress, reads):
            if aspect not in made.aspects:
                made.lacks(aspect, "its documents do not claim it", claim="unavailable")
        return made

    def prepare(self, context: Context, made: claims.Claims) -> None:
        if context.rules is not None:
            self.rules = denied.Denied(
                os.fsdecode(context.root), context.rules, self.adapter.special
            )
            self.rules.report(made, context.profile)

    def wrap(
        self, argv: Sequence[bytes], context: Context, cwd: bytes
    ) -> tuple[list[bytes], Pairs]:
        self.program = [*argv]
        root = os.fsdecode(context.root)
        asked = Asked(root, os.fsdecode(cwd), context.profile, context.egress, self.rules)
        words = self.adapter.command([os.fsdecode(word) for word in argv], asked)
        added = self.adapter.additions(asked).items()
        return (
            [os.fsencode(word) for word in words],
            [(os.fsencode(name), os.fsencode(value)) for name, value in added],
        )

    def shutdown(self) -> None:
        pass


def fails_to_start(adapter: Adapter, asked: Asked) -> str | None:
    """Start a program that only exits with 0. If this fails, return the reason."""
    try:
        words = [os.fsencode(word) for word in adapter.command([TRUE], asked)]
        words, env = adapter.launch(words, [TRUE.encode()], caller_environment())
        return starting.run(words, cwd=asked.root, env=env, own_group=True).why_not()
    except Missing as why:
        return f"{adapter.name} is not installed: {why}"
    except OSError as why:
        return f"{adapter.name} cannot be started: {reason_of(why)}"
    finally:
        adapter.close()


def why_not_started(adapter: Adapter) -> str | None:
    """Return the reason if the product does not start on this host, else None."""
    import tempfile

    with tempfile.TemporaryDirectory(dir=workplace()) as root:
        place = os.path.realpath(root)
        # The product may leave temporary files. They are deleted together with the folder.
        os.environ["TMPDIR"] = place
        return fails_to_start(adapter, Asked(place, place, "repo-write"))


def workplace() -> str:
    """Return a folder for workspaces.

    It is never below /tmp, because many sandboxes replace /tmp.
    """
    place = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    os.makedirs(place, exist_ok=True)
    return place


class ProductSession(Session):
    """A session that starts the wrapped command in the same way as a shell.

    The Python implementation starts programs in another way. So tests see only the guarantees of
    the product itself.
    """

    def give_stdin(self, request: Request) -> None:
        """Leave stdin unchanged, because the product itself decides about stdin."""

    def execute(self, request: Request) -> Object:
        began = monotonic_ns()
        limit = starting.LIMIT_S if request.timeout_ms is None else request.timeout_ms / 1000
        cwd = os.fsdecode(request.current_dir or self.context.root)
        env = dict(request.env or ())
        words = [request.program, *request.args]
        if isinstance(self.backend, ProductBackend):
            words, env = self.backend.adapter.launch(words, self.backend.program, env)
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
        finally:
            if isinstance(self.backend, ProductBackend):
                self.backend.adapter.close()
        self.note("run", None if ended.code is not None else ended.why_not())
        return {
            "success": ended.code == 0,
            "stdout": ended.stdout.decode("utf-8", "replace"),
            "stderr": ended.stderr.decode("utf-8", "replace"),
            "exit_code": ended.code if ended.code is not None and ended.code >= 0 else None,
            "duration_ms": (monotonic_ns() - began) // 1_000_000,
            "output": None,
        }
