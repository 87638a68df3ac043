"""The cells of a matrix, out of the verdicts of a run: nothing is judged a second time."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from contracts.backend.probes import Probe

PLACE = re.compile(r"(?P<file>\w+)\.py::(?P<test>\w+)(\[(?P<case>.*)\])?$")
# Tests that make one attempt have no parameter.
OF_ONE = {
    "test_a_filter_refuses_io_uring": "k_io_uring_setup",
    "test_nothing_is_typed_into_a_terminal": "i_tiocsti",
    "test_the_callers_terminal_is_not_ones_own": "e_tty",
}
# What a test of a topic counts for where no probe says it.
TOPICS = {
    "BACKEND-WRITE": "fs-write",
    "BACKEND-META": "fs-metadata",
    "BACKEND-NET": "network",
    "BACKEND-PROC": "process",
    "BACKEND-IPC": "ipc",
    "BACKEND-KERNEL": "kernel",
    "BACKEND-LAUNCH": "launch",
    "BACKEND-RULE": "rules",
    "BACKEND-ALLOW": "works inside",
}
OWN_ROWS = ("BACKEND-RULE", "BACKEND-ALLOW")


class State(StrEnum):
    """held: nothing happened. escaped: claimed, and an observer outside saw it happen. done: the
    call went through inside, although it is claimed that it does not; no observer can see more of
    it. unclaimed: it happened, and nobody claimed that it does not. What the contract asks of every
    sandbox, the aspect launch, counts as claimed."""

    HELD = "held"
    ESCAPED = "escaped"
    DONE = "done"
    UNCLAIMED = "unclaimed"
    OVERREFUSED = "over-refused"
    FAILS = "fails"
    UNPROVEN = "unproven"
    NOT_MEASURED = "not measured"
    NOT_ASKED = "not asked"


BY_VERDICT = {
    "conforms": State.HELD,
    "fails": State.FAILS,
    "overrefused": State.OVERREFUSED,
    "wrong-reason": State.FAILS,
    "unproven": State.UNPROVEN,
    "harness-error": State.UNPROVEN,
    "not-measured": State.NOT_MEASURED,
    "not-applicable": State.NOT_ASKED,
}


@dataclass(frozen=True)
class Cell:
    """One attempt against one backend. saw: what happened, or why nothing was decided. repro: the
    command that asks for this cell again."""

    aspect: str
    probe: str
    test: str
    requirement: str
    state: State
    saw: str
    repro: str

    def to_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}


def cell(test: Mapping[str, Any], table: Mapping[str, Probe], shim: str, backend: str) -> Cell:
    """The cell of one test of a result tree."""
    place = PLACE.search(test["id"])
    assert place is not None
    name, case = place["test"], place["case"]
    label = OF_ONE.get(name) or case or name.removeprefix("test_").replace("_", " ")
    requirement = str(test["requirements"][0])
    topic = requirement.rsplit("-", 1)[0]
    probe = table.get(label)
    state, saw = _state(test, probe)
    chosen = f"{name}[{case}]" if case else name
    words = ["./ci/boxspec", "run", "--shim", shim, "--backend", backend]
    words += ["--contract", "backend", "--profile", "all", "--topic", topic, "-k", chosen]
    return Cell(
        aspect=probe.aspect if probe and topic not in OWN_ROWS else TOPICS[topic],
        probe=label,
        test=f"{place['file']}::{chosen}",
        requirement=requirement,
        state=state,
        saw=saw,
        repro=shlex.join(words),
    )


def _state(test: Mapping[str, Any], probe: Probe | None) -> tuple[State, str]:
    verdict = test["verdict"]
    if test.get("escaped"):
        return State.UNCLAIMED, _stable(test["escaped"])
    if verdict in ("contradiction", "escaped"):
        effects = test["evidence"].get("effects", [])
        done = f"{probe.tries}: done" if probe else ""
        return (State.DONE if effects == [done] else State.ESCAPED), _stable(
            "; ".join(effects) or f"{test['what']}: {test['got']}"
        )
    return BY_VERDICT[verdict], _stable(test["reason"])


def _stable(text: str) -> str:
    """Without what differs from run to run: pids, tokens, folders of a case."""
    text = re.sub(r"/\S*/boxspec/\d+(-[\w-]*)?", "CASE", text)
    # A command line is cut off somewhere, which depends on the pids in its paths.
    text = re.sub(r"(CASE/\S* \w+) CASE\S*", r"\1", text)
    text = re.sub(r"/dev/shm/boxspec-\S*", "CASE", text)
    # Where codex unpacks itself, for each call anew.
    text = re.sub(r"(/backends/[\w-]+/tmp)/\S*", r"\1/...", text)
    text = re.sub(r"boxspec-[0-9a-f]{16}", "boxspec-TOKEN", text)
    text = re.sub(r"(\d+ no_pidfd\\n)+", "some", text)
    text = re.sub(r"\b\d+ \(ppid \d+ pgid \d+ \w\)", "a process", text)
    return text[:300]
