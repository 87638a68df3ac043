"""Laws of the contract module: they hold for every order of events that subject/orders forces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cached_property
from signal import SIGKILL, Signals
from typing import Any

from boxspec.subject.orders.explore import Ran, Scenario, Violation
from contracts.shared.order_facts import TICK_MS, Cause, Facts, happened, may_be_first
from contracts.shared.order_laws import (
    Requirements,
    continues,
    grace,
    has_a_grace,
    prompt,
    reaches_each,
    shared,
)

GRACE_MS = 5000
SHARED = Requirements(
    survivors="MODULE-TIME-03",
    own_group="MODULE-TIME-03",
    given_back="MODULE-TIME-03",
    handlers="MODULE-LEAK-01",
    collected="MODULE-LEAK-01",
)


class Judged(Facts):
    """The facts of one execution, in the words of the contract."""

    @cached_property
    def error(self) -> dict[str, Any]:
        return (self.result or {}).get("error") or {}

    @cached_property
    def reported(self) -> str:
        """Return the cause that the answer names."""
        name = self.error.get("class")
        if name == "Interrupted":
            return f"parent_signal {int(Signals[self.error['signal']])}"
        return "timeout" if name == "Timeout" else "exit"

    @cached_property
    def causes(self) -> list[Cause]:
        found = self.parent_signals()
        if self.leader_end:
            found.append(Cause.of("exit", self.leader_end))
        if deadline := self.deadline():
            found.append(Cause.of("timeout", deadline))
        return sorted(found, key=lambda cause: (cause.step, cause.at))

    def outcomes(self) -> list[str]:
        """Return the right outcomes of a module that ended by itself.

        There are two if a process that the module left held stdout and ended at about the same
        time: the implementation may have found stdout held or not.
        """
        whole = self._outcome()
        is_number = whole.removeprefix("value ").lstrip("-").isdigit()
        if not is_number or not self._left():
            return [whole]
        killed = any(note.facts["signal"] == SIGKILL for note in self.sends)
        return ["OutputParseFailed"] if killed else [whole, "OutputParseFailed"]

    def _left(self) -> bool:
        """True if a process that the module started ended after it. No puppet closes its stdout."""
        end = self.leader_end
        assert end is not None
        tasks = {note.facts["task"].kind for note in self.of("died") if note.step > end.step}
        return "puppet" in tasks

    def _outcome(self) -> str:
        end = self.leader_end
        assert end is not None
        status = end.facts["status"]
        if os.WIFSIGNALED(status):
            return f"Signaled {Signals(os.WTERMSIG(status)).name}"
        if os.WEXITSTATUS(status):
            return f"NonZeroExit {os.WEXITSTATUS(status)}"
        text = "".join(text for _, fd, text in self.writes() if fd == 1)
        try:
            return f"value {json.loads(text)}"
        except ValueError:
            return "OutputParseFailed"

    def reported_outcome(self) -> str:
        """Return the outcome in the answer, in the form of `outcome`."""
        if self.result is None:
            return str(self.ran.answer)
        if not self.error:
            return f"value {self.result.get('value')}"
        details = {"Signaled": "signal", "NonZeroExit": "exit_code"}
        name = self.error["class"]
        return f"{name} {self.error[details[name]]}" if name in details else str(name)


def judge(scenario: Scenario, ran: Ran) -> list[Violation]:
    """Return the laws that this order breaks."""
    judged = Judged(scenario, ran)
    laws = (_returns, _cause, _grace, _prompt, _directory)
    found = [violation for law in laws for violation in law(judged)]
    return [*found, *continues(judged, "MODULE-TIME-05"), *shared(judged, SHARED)]


def _returns(judged: Judged) -> Iterator[Violation]:
    ran = judged.ran
    unhandled = any(not note.facts["handled"] for note in judged.of("signal"))
    if ran.hung:
        yield Violation("MODULE-TIME-01", "the execution returns", "an answer", ran.hung)
    elif ran.answer is None and not unhandled:
        yield Violation(
            "MODULE-PARENT-01" if judged.of("signal") else "MODULE-ID-01",
            "it answers",
            "an answer",
            f"the shim ended with wait status {ran.exit_status or 0:#x} without one",
        )


def _cause(judged: Judged) -> Iterator[Violation]:
    """Check that the first cause decides the outcome."""
    if judged.result is None or (judged.leader_end is None and judged.reported == "exit"):
        return
    allowed = [
        cause.name
        for cause in judged.causes
        # A signal to the caller may also arrive while the directory is removed.
        if cause.name.startswith("parent_signal") or may_be_first(judged, cause, judged.causes)
    ]
    if judged.reported not in allowed:
        yield Violation(
            "MODULE-ORDER-01" if "timeout" in allowed else "MODULE-ORDER-03",
            "the first cause names the outcome",
            " or ".join(dict.fromkeys(allowed)) or "no end",
            f"{judged.reported_outcome()} ({happened(judged.causes)})",
        )
    elif judged.reported == "exit" and judged.reported_outcome() not in judged.outcomes():
        yield Violation(
            "MODULE-ORDER-03",
            "the module's own end",
            " or ".join(judged.outcomes()),
            judged.reported_outcome(),
        )


def _ended_by_exit(judged: Judged) -> bool:
    """True if the group may have been killed because the child had exited. A signal to the caller
    that arrives afterwards decides the outcome, but the group gets no first signal any more."""
    ends = [cause for cause in judged.causes if cause.name == "exit"]
    return judged.first_signal is None and any(
        may_be_first(judged, end, judged.causes) for end in ends
    )


def _grace(judged: Judged) -> Iterator[Violation]:
    if judged.reported == "exit" or _ended_by_exit(judged):
        return
    yield from has_a_grace(judged, "MODULE-TIME-03")
    yield from reaches_each(judged, "MODULE-TIME-03")
    yield from grace(judged, GRACE_MS, "MODULE-TIME-03", "MODULE-TIME-03")


def _prompt(judged: Judged) -> Iterator[Violation]:
    yield from prompt(judged, TICK_MS, "MODULE-EXIT-04")


def _directory(judged: Judged) -> Iterator[Violation]:
    starts, ended = judged.one("starts"), judged.one("ended")
    if starts and ended and judged.result and starts.facts["cwd"] in ended.facts["folders"]:
        yield Violation(
            "MODULE-DIR-02",
            "the fresh directory is removed",
            "no directory",
            "it still exists when the implementation has ended",
        )
