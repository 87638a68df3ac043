"""Make cells and columns of a matrix from the verdicts of a run. No attempt is made again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from boxspec.places import COMMAND
from boxspec.random_names import without_random_names
from boxspec.subject.observe.probes import Probe

PLACE = re.compile(r"(?P<file>\w+)\.py::(?P<test>\w+)(\[(?P<case>.*)\])?$")
# A test that makes only one attempt has no parameter with the name of the probe. So its probe is
# listed here.
OF_ONE = {
    "test_a_filter_refuses_io_uring": "k_io_uring_setup",
    "test_no_input_is_put_into_a_terminal": "i_tiocsti",
    "test_the_callers_terminal_is_not_the_controlling_terminal": "e_tty",
}
WORKS = "works inside"
# For tests without a probe: the aspect, by topic.
TOPICS = {
    "BACKEND-WRITE": "fs-write",
    "BACKEND-META": "fs-metadata",
    "BACKEND-NET": "network",
    "BACKEND-PROC": "process",
    "BACKEND-IPC": "ipc",
    "BACKEND-KERNEL": "kernel",
    "BACKEND-LAUNCH": "launch",
    "BACKEND-RULE": "rules",
    "BACKEND-ALLOW": WORKS,
}
# The name of the control: a backend that runs programs without a sandbox.
CONTROL = "none"
OWN_ROWS = ("BACKEND-RULE", "BACKEND-ALLOW")
# Requirements of other topics which demand that programs work inside as they do without a sandbox.
WORKING = frozenset({f"BACKEND-LAUNCH-0{number}" for number in (4, 6, 7, 8)})
# Attempts that give a program inside control over the whole host.
GIVES_THE_HOST = frozenset(
    {
        *("z_remount_write", "k_disk"),
        *("k_core_pattern_open", "k_sysctl_open", "k_sysctl_write", "k_sysrq_open"),
        *("k_modprobe_open", "k_uevent_helper_open", "k_binfmt_open", "k_release_agent_open"),
        *("k_cgroup_procs_open", "k_debugfs_open", "k_sysfs_open"),
        *("k_dev_mem", "k_dev_vda", "n_raw", "n_packet", "i_tiocsti"),
        *("p_ptrace_seize", "p_ptrace_supervisor", "p_process_vm_writev", "p_proc_mem"),
        *("p_setns_net", "p_pidfd_getfd"),
    }
)


class State(StrEnum):
    """The result of one attempt.

    held: the attempt had no effect.
    escaped: the aspect is claimed, and an observer outside saw the effect.
    done: the aspect is claimed, and the call succeeded inside, where no observer can see its
        effect.
    unclaimed: the attempt had an effect, but the aspect is not claimed. The aspect launch always
        counts as claimed, because the contract requires it of every sandbox.
    no evidence: the attempt had no effect without a sandbox either, so it counts for no product.
    """

    HELD = "held"
    ESCAPED = "escaped"
    DONE = "done"
    UNCLAIMED = "unclaimed"
    OVERREFUSED = "over-refused"
    FAILS = "fails"
    UNPROVEN = "unproven"
    NOT_MEASURED = "not measured"
    NOT_ASKED = "not asked"
    NO_EVIDENCE = "no evidence"


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


# The states of an attempt that was decided.
DECIDED = (State.HELD, State.ESCAPED, State.DONE, State.UNCLAIMED, State.OVERREFUSED, State.FAILS)
BROKEN = (State.ESCAPED, State.DONE, State.UNCLAIMED)


# Rows that are held even without a sandbox (the control `none`), because the kit itself ends the
# processes.
HELD_WITHOUT = frozenset({"test_proc::test_no_process_outlives_its_session_after_a_deadline"})


@dataclass(frozen=True)
class Cell:
    """One attempt against one backend.

    saw: the observed effect, or the reason why there is no decision.
    repro: the command that repeats the attempt.
    """

    aspect: str
    probe: str
    test: str
    requirement: str
    state: State
    saw: str
    repro: str

    @property
    def gives_the_host(self) -> bool:
        """True if the program inside got power over the whole host, or over the user's files."""
        if self.aspect == "fs-write" and self.state in (State.ESCAPED, State.UNCLAIMED):
            return True
        return self.probe in GIVES_THE_HOST and self.state in BROKEN

    def to_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}


@dataclass
class Column:
    """One backend of a matrix.

    claims: the answers of backend.probe, by profile.
    why: the reason if some or all cells are missing.
    kit: version and commit of the kit that judged the backend.
    """

    name: str
    control: bool = False
    shim: str = ""
    backend: str = ""
    version: str = ""
    mechanism: str = ""
    why: str = ""
    kit: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**plain, "cells": [each.to_json() for each in self.cells]}

    def claim(self, aspect: str) -> str:
        """Return the best claim for an aspect under any profile."""
        claims = {
            each["aspects"].get(aspect, {"claim": "unavailable"})["claim"]
            for each in self.claims.values()
        }
        return next((word for word in ("fully", "partial") if word in claims), "-")

    def asked(self, aspect: str) -> bool:
        """True if at least one attempt of the aspect was decided."""
        return any(each.aspect == aspect and each.state in DECIDED for each in self.cells)


def cell(test: Mapping[str, Any], table: Mapping[str, Probe], shim: str, backend: str) -> Cell:
    """Make the cell of one test in a result."""
    place = PLACE.search(test["id"])
    assert place is not None
    name, case = place["test"], place["case"]
    label = OF_ONE.get(name) or case or name.removeprefix("test_").replace("_", " ")
    requirement = str(test["requirements"][0])
    topic = requirement.rsplit("-", 1)[0]
    probe = table.get(label)
    state, saw = _state(test, probe)
    chosen = f"{name}[{case}]" if case else name
    words = [COMMAND, "run", "--shim", shim, "--backend", backend]
    words += ["--contract", "backend", "--profile", "all", "--topic", topic, "-k", chosen]
    return Cell(
        aspect=_aspect(requirement, topic, probe),
        probe=label,
        test=f"{place['file']}::{chosen}",
        requirement=requirement,
        state=state,
        saw=saw,
        repro=shlex.join(words),
    )


def _aspect(requirement: str, topic: str, probe: Probe | None) -> str:
    if requirement in WORKING:
        return WORKS
    return probe.aspect if probe and topic not in OWN_ROWS else TOPICS[topic]


def without_evidence(columns: Sequence[Column]) -> None:
    """Mark each row that is held even without a sandbox, in all columns: such a row is no evidence.

    The column of the control `none` shows these rows, because `none` changes nothing around a
    program. If there is no such column, the rows of an earlier run are used (HELD_WITHOUT).
    """
    none = [each for each in columns if each.name == CONTROL]
    rows = HELD_WITHOUT
    if none:
        rows = frozenset(each.test for each in none[0].cells if each.state is State.HELD)
    for column in columns:
        column.cells = [
            replace(each, state=State.NO_EVIDENCE, saw="held without a sandbox too")
            if each.state is State.HELD and each.test in rows and each.aspect != WORKS
            else each
            for each in column.cells
        ]


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
    """Return the text without pids, tokens and folders, which differ from run to run."""
    text = without_random_names(text, "CASE")
    # Command lines are cut at a fixed length. So the place of the cut depends on the names in their
    # paths.
    text = re.sub(r"(CASE/\S* \w+) CASE\S*", r"\1", text)
    text = re.sub(r"/dev/shm/boxspec-\S*", "CASE", text)
    # codex unpacks itself into a new folder at each call.
    text = re.sub(r"(/(?:backends|products)/[\w-]+/tmp)/\S*", r"\1/...", text)
    text = re.sub(r"(?<=/)[0-9a-f]{16}\b", "TOKEN", text)
    text = re.sub(r"(\d+ no_pidfd\\n)+", "some", text)
    text = re.sub(r"\b\d+ \(ppid \d+ pgid \d+ \w\)", "a process", text)
    return text[:300]
