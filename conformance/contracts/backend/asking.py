"""Questions about backends: what a case has as `box.backend`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from boxspec.judge.verdict import Late
from boxspec.target.case import WITHIN_S, Box
from boxspec.target.client.b64 import put_word
from boxspec.target.live import Live
from boxspec.target.observed import Observed
from contracts.backend.answers import ObservedSession
from contracts.shared.requests import exec_request

Message = dict[str, Any]
CONTROL = "none"
# Whose probe is cut off by its own bound of time has been asked for longer than that.
CUT_OFF_MS = 2000.0
# The backends that have enforced something in this run, each with its shim.
_seen_enforcing: set[tuple[str, ...]] = set()


def context_of(fields: Mapping[str, Any]) -> Message:
    """A context; `root` and `cwd` may be bytes, what is None is left out."""
    made: Message = {}
    for name, value in fields.items():
        if value is None:
            continue
        if name in ("root", "cwd") and isinstance(value, str | bytes | os.PathLike):
            put_word(made, name, value)
        else:
            made[name] = value
    return made


class AsksBackend:
    """Probes a backend, and runs sessions of it."""

    def __init__(self, box: Box) -> None:
        self._box = box

    @property
    def named(self) -> dict[str, dict[str, Any]]:
        """The backends of hello."""
        found: dict[str, dict[str, Any]] = self._box.hello.get("backends", {})
        return found

    def mechanism(self, name: str) -> list[str]:
        """What a backend is made of, as hello says: its parts, such as namespaces and seccomp."""
        return str(self.named.get(name, {}).get("mechanism", "")).split("+")

    @property
    def chosen(self) -> str:
        """The backend of this run: `--backend`, else the first of hello that confines."""
        asked = self._box.session.backend
        if asked is not None:
            return asked
        confining = [name for name in self.named if name != CONTROL]
        return (confining or [*self.named, CONTROL])[0]

    def probe(
        self, profile: str, *, backend: str | None = None, within_s: float = WITHIN_S, **fields: Any
    ) -> Observed:
        """One backend.probe; a field that is None is left out."""
        message: Message = {
            "op": "backend.probe",
            "backend": backend or self.chosen,
            "profile": profile,
            **{name: value for name, value in fields.items() if value is not None},
        }
        options = {name: message.pop(name) for name in ("state", "shim_env") if name in message}
        return self._box.send(message, within_s=within_s, **options)

    def start(
        self,
        calls: Sequence[Mapping[str, Any]],
        *,
        backend: str | None = None,
        script: Mapping[str, Any] | None = None,
        on_unavailable: str | None = None,
        hold: bool = False,
        expect_result: bool = True,
        within_s: float = WITHIN_S,
        state: Sequence[str] = (),
        shim_env: Mapping[str, str | None] | None = None,
        shim_stdin: Any = None,
        **context: Any,
    ) -> Live[ObservedSession]:
        """Start one backend.run; `context` holds the fields of its context."""
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
        return self._box.launch(
            message,
            ObservedSession,
            hold=hold,
            expect_result=expect_result,
            within_s=within_s,
            state=state,
            shim_env=shim_env,
            streams={"stdin": shim_stdin},
        )

    def run(self, calls: Sequence[Mapping[str, Any]], **options: Any) -> ObservedSession:
        """One backend.run from start to end."""
        with self.start(calls, **options) as live:
            seen = live.finish()
        if not {"script", "backend"} & set(options):
            self._look_again_if_cut_off(seen)
        return seen

    def _look_again_if_cut_off(self, seen: ObservedSession) -> None:
        """A backend that has enforced before and is left away now may have missed the bound of its
        probe, on a machine that had no processor for it: it is asked again, alone."""
        named = (*map(str, self._box.session.argv), self.chosen)
        if not seen.ok:
            return
        if seen.result["enforcement"] != "none":
            _seen_enforcing.add(named)
        elif (
            named in _seen_enforcing
            and seen.elapsed_ms >= CUT_OFF_MS
            and self._box.look.number == 1
        ):
            why = str(seen.result.get("why", "it does not say why"))
            raise Late("the backend, which has enforced before", "it enforces", why)
