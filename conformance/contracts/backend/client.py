"""The client for backends. A case has it as `case.backend`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypedDict, Unpack
from weakref import WeakKeyDictionary

from boxspec.judge.verdict import Blocked, Late, NotApplicable
from boxspec.subject.case import WITHIN_S, Case, Message, Options, State
from boxspec.subject.client.b64 import Word, put_word
from boxspec.subject.client.streams import Wish
from boxspec.subject.launching import ShimEnv
from boxspec.subject.session import Session
from boxspec.subject.shim_process import ShimProcess
from contracts.backend.answers import Claims, ObservedProbe, ObservedSession
from contracts.backend.scene import SECRET
from contracts.shared.requests import ExecRequest, exec_request

CONTROL = "none"
# If a session lasts longer than this, the backend's own probe may have exceeded its time limit, so
# that the session dropped the backend.
CUT_OFF_MS = 2000.0
# For each kind of request, the requirement that decides whether requests of this kind return. If
# they do not return, all other tests that use them are blocked, because the tests would only wait.
RETURNS = {
    "probe": "BACKEND-PROBE-01",
    "session": "BACKEND-ALLOW-01",
    "script": "BACKEND-SESSION-01",
}
# The time limit of a request whose kind did not return in the trust checks.
STUCK_S = 10.0
# The fields that a context and backend.probe have in common.
PROBED = ("profile", "policy", "egress", "strict_metadata", "accept")
# The values of these variables are different on each ground. They do not affect a claim.
OF_THE_GROUND = ("HOME", SECRET)
# For each session, the backends that have enforced something or claimed to.
_enforcing: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()
# For each session, the claims of backend.probe, by the fields of the request.
_probed: WeakKeyDictionary[Session, dict[str, Claims | None]] = WeakKeyDictionary()


def context_of(fields: Mapping[str, Any]) -> Message:
    """Return a context without the fields that are None. `root` and `cwd` may be bytes."""
    made: Message = {}
    for name, value in fields.items():
        if value is None:
            continue
        if name in ("root", "cwd") and isinstance(value, str | bytes | os.PathLike):
            put_word(made, name, value)
        else:
            made[name] = value
    return made


class ProbeFields(TypedDict, total=False):
    """The fields that backend.probe and a context have in common, without the profile."""

    policy: Mapping[str, Any] | None
    egress: Sequence[str] | None
    strict_metadata: bool | None
    accept: Sequence[str] | None


class Context(ProbeFields, total=False):
    """The fields of a context. `root` and `cwd` may be bytes."""

    root: Word
    cwd: Word | None
    profile: str


class SessionOptions(Options, Context, total=False):
    """The fields of a session, and the options for starting its shim process."""

    backend: str | None
    script: Mapping[str, Any] | None
    on_unavailable: str | None
    shim_stdin: Wish


class BackendClient:
    """Probes a backend, and runs sessions with it."""

    def __init__(self, case: Case) -> None:
        self._case = case

    @property
    def named(self) -> dict[str, dict[str, Any]]:
        """Return the backends that hello lists, by name."""
        found: dict[str, dict[str, Any]] = self._case.hello.get("backends", {})
        return found

    def mechanism(self, name: str) -> list[str]:
        """Return the parts of the backend's mechanism that hello lists, such as namespaces and
        seccomp."""
        return str(self.named.get(name, {}).get("mechanism", "")).split("+")

    def need(self, what: str) -> None:
        """Raise NotApplicable if hello says that the backend lacks this feature."""
        if what in self.named.get(self.chosen, {}).get("lacks", []):
            raise NotApplicable(f"{self.chosen} says that it has no {what}")

    @property
    def chosen(self) -> str:
        """Return the backend of this run.

        This is the backend that `--backend` names, or else the strongest one (see strongest.py). If
        the strongest one is unknown, it is the first backend in hello that confines programs.
        """
        session = self._case.session
        if session.backend is not None:
            return session.backend
        if "backend" in session.chosen:
            return session.chosen["backend"][0]
        confining = [name for name in self.named if name != CONTROL]
        return (confining or [*self.named, CONTROL])[0]

    def probe(
        self,
        profile: str,
        *,
        backend: str | None = None,
        within_s: float = WITHIN_S,
        state: State = (),
        shim_env: ShimEnv | None = None,
        **fields: Unpack[ProbeFields],
    ) -> ObservedProbe:
        """Send backend.probe, without the fields that are None."""
        self.need(profile)
        message: Message = {
            "op": "backend.probe",
            "backend": backend or self.chosen,
            "profile": profile,
            **{name: value for name, value in fields.items() if value is not None},
        }
        within_s = self._limit("probe", within_s)
        with self._case.launch(
            message, ObservedProbe, within_s=within_s, state=state, shim_env=shim_env
        ) as shim:
            answer = shim.finish()
        if answer.ok and answer.result["overall"] != "unavailable":
            self._enforcing.add(message["backend"])
        return answer

    def start(
        self,
        calls: Sequence[ExecRequest],
        *,
        backend: str | None = None,
        script: Mapping[str, Any] | None = None,
        on_unavailable: str | None = None,
        hold: bool = False,
        expect_result: bool = True,
        within_s: float = WITHIN_S,
        state: State = (),
        shim_env: ShimEnv | None = None,
        shim_stdin: Wish = None,
        **context: Unpack[Context],
    ) -> ShimProcess[ObservedSession]:
        """Start backend.run. `context` has the fields of the context."""
        self.need(context.get("profile", ""))
        message: Message = {
            "op": "backend.run",
            "backend": "script" if script is not None else backend or self.chosen,
            "context": context_of(context),
            "calls": [{"request": exec_request(call)} for call in calls],
        }
        if script is not None:
            message["script"] = dict(script)
        if on_unavailable is not None:
            message["on_unavailable"] = on_unavailable
        within_s = self._limit("session" if script is None else "script", within_s)
        return self._case.launch(
            message,
            partial(ObservedSession, probed=partial(self._claimed, state, shim_env or {})),
            hold=hold,
            expect_result=expect_result,
            within_s=within_s,
            state=state,
            shim_env=shim_env,
            streams={"stdin": shim_stdin},
        )

    def need_sessions_that_return(self) -> None:
        """Raise Blocked if sessions do not return, before a test is prepared for nothing."""
        self._limit("session", STUCK_S)

    def _limit(self, kind: str, within_s: float) -> float:
        """Return the time limit of a request.

        Raise Blocked if requests of its kind do not return.
        """
        if kind not in self._case.session.stuck:
            return within_s
        # One test of the deciding requirement shows the hang. Other tests send no request of this
        # kind, except in a repeated attempt.
        shown = self._case.attempt.number == 1 and self._case.hangs.count(self._case.topic) > 0
        if shown or RETURNS[kind] not in self._case.deciding:
            raise Blocked([RETURNS[kind]], f"a {kind} of this backend does not return")
        return min(within_s, STUCK_S)

    def run(
        self, calls: Sequence[ExecRequest], **options: Unpack[SessionOptions]
    ) -> ObservedSession:
        """Send backend.run and wait for its end."""
        with self.start(calls, **options) as shim:
            seen = shim.finish()
        if not {"script", "backend"} & set(options):
            self._look_again_if_cut_off(seen, self.chosen)
        return seen

    def _claimed(self, state: State, shim_env: ShimEnv, seen: ObservedSession) -> Claims | None:
        """Return the claims of backend.probe for the fields of a session, in the same state.

        Return None for a scripted backend. Return None also after an error, which means that the
        backend is unavailable.
        """
        message = seen.message
        if not isinstance(message, dict) or "script" in message:
            return None
        asked: Message = {"backend": message["backend"], "state": [*state]}
        asked |= {name: each for name, each in message["context"].items() if name in PROBED}
        env = {name: each for name, each in shim_env.items() if name not in OF_THE_GROUND}
        known = _probed.setdefault(self._case.session, {})
        key = json.dumps([asked, env], sort_keys=True)
        if key not in known:
            answer = self.probe(**asked, shim_env=shim_env)
            known[key] = answer.result if answer.ok else None
        self._look_again_if_cut_off(seen, message["backend"])
        return known[key]

    @property
    def _enforcing(self) -> set[str]:
        return _enforcing.setdefault(self._case.session, set())

    def _look_again_if_cut_off(self, seen: ObservedSession, backend: str) -> None:
        """Raise Late if a session took long and dropped a backend that has enforced something
        before.

        The backend's own probe may have exceeded its time limit because no processor was free. Late
        makes the kit repeat the test without other tests.
        """
        if not seen.ok:
            return
        if seen.result["enforcement"] != "none":
            self._enforcing.add(backend)
        elif (
            backend in self._enforcing
            and seen.elapsed_ms >= CUT_OFF_MS
            and self._case.attempt.number == 1
        ):
            why = str(seen.result.get("why", "the shim gives no reason"))
            raise Late("the backend, which has enforced before", "it enforces", why)


class BackendCase(Case):
    """A case of the contract backend."""

    has_variables_of_the_kit = False

    @cached_property
    def backend(self) -> BackendClient:
        return BackendClient(self)
