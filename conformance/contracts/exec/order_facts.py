"""Translate the observations of a forced order of events into the terms of the contract exec."""

from __future__ import annotations

import os
from functools import cached_property

from boxspec.subject.orders.task import Note
from contracts.shared.order_facts import Cause, Facts, text_of

PIPE_BYTES = 65536
MOST_STEPS = 1 << 62


class Judged(Facts):
    """The facts of one run, in the words of the contract."""

    @cached_property
    def reported(self) -> str | None:
        """Return the cause of the end that the answer names."""
        if self.ran.answer is None:
            return None
        if self.result is None:
            message = str(self.ran.answer.get("error", {}).get("message", ""))
            known = [word for word in ("stdin", "spawn") if word in message]
            return known[0] if known else f"error: {message}"
        if "termination" in self.result:
            name = str(self.result["termination"])
        else:
            name = self._annotated()
        if name == "parent_signal":
            return f"parent_signal {(self.result['exit_code'] or 0) - 128}"
        return "exit" if name == "signal" else name

    def _annotated(self) -> str:
        """Return the cause, for a shim that reports no termination. The text that is added to
        stderr shows it."""
        stderr = text_of(self.result or {}, "stderr")
        if stderr.endswith("process timed out"):
            return "timeout"
        if "process interrupted by signal SIG" in stderr[-60:]:
            return "parent_signal"
        if (self.result or {}).get("truncated"):
            return "cap"
        end = self.leader_end
        has_code = end is not None and os.WIFEXITED(end.facts["status"])
        # If the child exited with a code but the result has none, the deadline has passed.
        is_late = self.deadline() is not None and (self.result or {}).get("exit_code") is None
        return "timeout" if has_code and is_late else "exit"

    def holds_pipes(self, name: str, step: int = MOST_STEPS) -> bool:
        """True if a puppet has an output pipe open at this step.

        A forked puppet has no pipe that its parent had closed before the fork.
        """
        closed: dict[str, set[str]] = {}
        for note in self.of("action"):
            word, _, rest = note.facts["action"].partition(":")
            own = closed.setdefault(note.facts["name"], set())
            if note.step < step and word == "close":
                own.add(rest)
            elif word == "fork":
                closed[rest] = set(own)
        return not {"1", "2"} <= closed.get(name, set())

    @cached_property
    def causes(self) -> list[Cause]:
        found = self.parent_signals()
        over = self._over()
        if over:
            found.append(Cause.of("cap", over))
        end = self.leader_end
        lacking = self._payload_refused()
        if lacking:
            found.append(Cause.of("stdin", lacking))
        # A child may end without reading the rest of its payload: the rest fits into the pipe, so
        # it was written.
        if end and not over and not (lacking and lacking.step <= end.step):
            found.append(Cause.of("exit", end))
        deadline = self.deadline()
        if deadline:
            found.append(Cause.of("timeout", deadline))
        return sorted(found, key=lambda cause: (cause.step, cause.at))

    def _over(self) -> Note | None:
        cap = self.scenario.request.get("max_output_bytes")
        written = 0
        for note, fd, text in self.writes():
            if fd == 1:
                written += len(text)
                if cap is not None and written > cap:
                    return note
        return None

    def _payload_refused(self) -> Note | None:
        stdin = self.scenario.request.get("stdin")
        if not isinstance(stdin, dict):
            return None
        left = len(stdin["bytes"])
        for note in self.ran.notes:
            if note.kind == "action":
                word, _, rest = note.facts["action"].partition(":")
                if word == "read":
                    left -= int(rest)
                elif word == "close" and rest == "0" and left > PIPE_BYTES:
                    return note
            elif note is self.leader_end and left > PIPE_BYTES:
                return note
        return None
