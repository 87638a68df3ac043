"""One session: it calls probe and prepare, then wrap and run for each program, then shutdown.

probe, prepare          refuse      degrade
fully                   runs        runs inside
partial                 refused     runs inside
unavailable             refused     runs without a sandbox, with a warning
error, or no return     refused     runs without a sandbox, with a warning
"""

from __future__ import annotations

import _thread
import os
from binascii import b2a_base64

import backend.environment as environment
import backend.inside as inside
import backend.starting as starting
import backend.tree as tree
import exec.signals as signals
from backend.claims import Claims, nothing, requested
from backend.context import HERMETIC
from backend.passing import Passing, can_be_opened_again
from errors import Failed
from exec.batch import Batch
from exec.spawn import check_strings, find_program, spawn_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from backend.context import Context
    from exec.request import Request
    from kinds import Object

    T = TypeVar("T")

LIMIT_S = 10.0


class Late(Exception):
    pass


class Session:
    def __init__(self, backend: Any, context: Context, on_unavailable: str) -> None:
        self.backend: Any = backend
        self.backend.strict_metadata = context.strict_metadata
        self.backend.accepts_late_names = context.accepts_late_names
        self.context = context
        self.on_unavailable = on_unavailable
        self.log: list[Object] = []
        self.warnings: list[str] = []
        self.why: str | None = None
        self.claims: Claims | None = None
        self.enforcement = "none"
        # True once prepare was called. Then shutdown must be called too.
        self.prepared = False
        self.passing: Passing | None = None

    # The session ---------------------------------------------------------------------------

    def run(self, requests: Sequence[Request]) -> Object:
        before = tree.state(self.context.root) if self.context.rules is not None else {}
        opened = self.open()
        calls: list[Object] = []
        try:
            if opened:
                calls = [self.call(request) for request in requests]
        finally:
            self.close()
        return self.report(opened, calls, before)

    def open(self) -> bool:
        """Open the session.

        Return True if programs may run. `enforcement` then says how much is enforced.
        """
        overall = self.probe()
        if overall in self.acceptable() and self.prepare():
            overall = self.held_here(overall)
            if overall in self.acceptable():
                self.enforcement = overall
                return True
            self.close()
        if self.on_unavailable == "refuse":
            self.why = self.why or f"the backend is {overall} here"
            return False
        self.drop()
        return True

    def held_here(self, overall: str) -> str:
        """Return the claim after prepare. Prepare may find rules that it cannot enforce here."""
        claims = self.claims
        if claims is None or overall != "fully":
            return overall
        overall = claims.overall(self.requested())
        if overall != "fully":
            self.why = "; ".join(claims.reasons())
        return overall

    def acceptable(self) -> tuple[str, ...]:
        return ("fully",) if self.on_unavailable == "refuse" else ("fully", "partial")

    def drop(self) -> None:
        self.close()
        self.backend = None
        self.enforcement = "none"
        self.why = self.why or "the backend is unavailable here"
        self.warn(f"this session runs without a sandbox: {self.why}")

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def probe(self) -> str:
        context = self.context
        try:
            claims = self.limited(
                lambda: self.backend.probe(context.profile, context.rules, context.egress)
            )
        except Exception as why:
            self.failed("probe", why)
            return "unavailable"
        self.claims = claims
        self.note("probe")
        overall = claims.overall(self.requested())
        if overall == "unavailable":
            self.why = "; ".join(claims.reasons())
        return str(overall)

    def requested(self) -> list[str]:
        given = self.context.rules
        return requested(self.context.profile, self.context.egress, bool(given and given.deny_read))

    def prepare(self) -> bool:
        self.prepared = True
        try:
            self.limited(lambda: self.backend.prepare(self.context, self.claims))
        except Exception as why:
            self.failed("prepare", why)
            self.claims = nothing(self.requested(), self.why or "prepare failed")
            return False
        self.note("prepare")
        for text in getattr(self.backend, "warnings", ()):
            self.warn(text)
        return True

    def close(self) -> None:
        """Call the backend's shutdown. It is called only once, and only after prepare."""
        if self.passing is not None:
            self.passing.close()
            self.passing = None
        if not self.prepared:
            return
        self.prepared = False
        try:
            self.backend.shutdown()
        except Exception as why:
            self.note("shutdown", str(why))
            self.warn(f"shutdown: {why}")
        else:
            self.note("shutdown")

    # One call -------------------------------------------------------------------------------

    def call(self, request: Request) -> Object:
        try:
            self.wrap_request(request)
            self.give_stdin(request)
            answer = self.execute(request)
        except Failed as failure:
            return failure.as_json()
        return {"result": {**answer, "enforcement": self.enforcement}}

    def wrap_request(self, request: Request) -> None:
        """Change the request so that its program starts in the sandbox."""
        cwd = self.context.cwd if request.current_dir is None else request.current_dir
        request.current_dir = cwd
        if self.backend is not None:
            self.wrap(request, cwd)
        else:
            self.keep_listed_variables(request)

    def keep_listed_variables(self, request: Request) -> None:
        """Remove all variables that a program inside does not get."""
        if request.env is None and self.context.profile in HERMETIC:
            request.env = environment.path_only()
        request.env = environment.base(request)

    def wrap(self, request: Request, cwd: bytes) -> None:
        argv = [request.program, *request.args]
        try:
            wrapped, added = self.backend.wrap(argv, self.context, cwd)
            if not wrapped:
                raise ValueError("wrap gave an empty command")
        except Exception as why:
            self.note("wrap", str(why))
            raise Failed("execution", f"failed to wrap: {why}") from None
        self.note("wrap", argv=wrapped, env=added)
        self.keep_listed_variables(request)
        request.env = environment.complete(request, added)
        self.must_be_there(request, cwd)
        wrapped, request.env = inside.given_inside(wrapped, request.env)
        request.program, *request.args = wrapped

    def give_stdin(self, request: Request) -> None:
        """Connect stdin.

        All programs of the session read from one pipe, so each program continues where the previous
        one has stopped.
        """
        if self.backend is None or request.stdin != "inherit":
            return
        if self.passing is None and can_be_opened_again(0):
            self.passing = Passing(0)
        if self.passing is not None:
            request.stdin_from = self.passing.reader

    def must_be_there(self, request: Request, cwd: bytes) -> None:
        """Report a program that cannot be started.

        A launcher in the sandbox could not report this as clearly.
        """
        try:
            check_strings(request, dict(request.env or ()))
            found = find_program(request.program, dict(request.env or ()))
            starting.need_executable(os.path.join(cwd, found))
        except OSError as why:
            self.note("run", os.strerror(why.errno or 0))
            raise spawn_failure(request.program, os.strerror(why.errno or 0)) from None

    def execute(self, request: Request) -> Object:
        (answer,) = Batch([(0, request, None)], signals.caller_mask()).run()
        if isinstance(answer, Failed):
            self.note("run", answer.message)
            raise answer
        self.note("run")
        return answer

    # Reporting -------------------------------------------------------------------------------

    def limited(self, work: Callable[[], T]) -> T:
        """Call `work` in a separate thread, so that a call which hangs cannot block the session."""
        done = _thread.allocate_lock()
        done.acquire()
        found: list[Any] = []

        def run() -> None:
            try:
                found.append((True, work()))
            except Exception as why:
                found.append((False, why))
            done.release()

        _thread.start_new_thread(run, ())
        if not done.acquire(timeout=LIMIT_S):
            raise Late(f"it did not return within {LIMIT_S:g} s")
        succeeded, value = found[0]
        if not succeeded:
            raise value
        answer: T = value
        return answer

    def failed(self, call: str, why: Exception) -> None:
        self.note(call, str(why))
        self.why = f"{call} failed: {why}"

    def note(
        self,
        call: str,
        wrong: str | None = None,
        argv: Sequence[bytes] | None = None,
        env: environment.Pairs | None = None,
    ) -> None:
        entry: Object = {"call": call, "ok": wrong is None}
        if wrong is not None:
            entry["message"] = wrong
        if argv is not None:
            entry["argv_b64"] = [in_base64(word) for word in argv]
        if env:
            entry["env"] = [[os.fsdecode(name), os.fsdecode(value)] for name, value in env]
        self.log.append(entry)

    def report(
        self, opened: bool, calls: list[Object], before: dict[bytes, tuple[int, ...]]
    ) -> Object:
        claims = self.claims
        made: Object = {
            "session": "opened" if opened else "refused",
            "enforcement": self.enforcement,
            "reasons": claims.reasons() if claims is not None else [],
            "warnings": self.warnings,
            "claims": claims.as_json(self.requested()) if claims is not None else None,
            "not_enforced": claims.not_enforced if claims is not None else [],
            "log": self.log,
            "calls": calls,
        }
        if self.why is not None:
            made["why"] = self.why
        made["hard_links_b64"] = [in_base64(path) for path in self.hard_links()]
        made["violations"] = self.violations(before) if opened else []
        return made

    def hard_links(self) -> list[bytes]:
        return tree.missing_links(self.context.root)

    def violations(self, before: dict[bytes, tuple[int, ...]]) -> list[Object]:
        given = self.context.rules
        if given is None:
            return []
        after = tree.state(self.context.root)
        changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
        return [
            {"path_b64": in_base64(os.path.join(self.context.root, path)), "rule": rule}
            for path in sorted(changed)
            if (rule := given.why_denied("modify", os.fsdecode(path))) is not None
        ]


def in_base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")
