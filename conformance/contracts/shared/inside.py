"""Questions asked inside a sandbox: `--backend NAME` beside a contract that starts programs.

Each request gets the backend, with the case's folder as the workspace. What a launcher changes
stands in the contract's inside.yaml: for each requirement why, and the test that decides what holds
instead. That test decides the requirement then; those that are named there are not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from boxspec.errors import UsageError
from boxspec.judge.verdict import Changed, NotApplicable, NotMeasured
from boxspec.places import CONTRACTS
from boxspec.programs import programs
from boxspec.subject.case import Case

# The workspace is written, the network stays: what the suites do.
PROFILE = "repo-write"

# The sandbox of one request: what the field `backend` says, None for none, or that of `--backend`.
OF_THE_RUN: Mapping[str, Any] = {}
Around = Mapping[str, Any] | None


def blame_place(case: Case) -> None:
    """Something of the kit did not run: UsageError where that is because of where the kit is."""
    if case.session.backend and programs.gate.startswith("/tmp/"):
        problem = f"sandboxes have a /tmp of their own, and there is {programs.gate}"
        raise UsageError(f"--backend {case.session.backend}", problem, "move the checkout")


@dataclass(frozen=True)
class Change:
    """tests: those that are not asked. parts: parts of a mechanism, of which one is enough; none:
    all. instead: the test that decides what holds; empty where nothing of it is left to ask."""

    requirement: str
    tests: tuple[str, ...]
    parts: tuple[str, ...]
    why: str
    instead: str


@cache
def changes(contract: str) -> tuple[Change, ...]:
    path = CONTRACTS / contract / "inside.yaml"
    return tuple(_read(path)) if path.exists() else ()


def _read(path: Path) -> list[Change]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [
        Change(
            entry["requirement"],
            tuple(entry["tests"]),
            tuple(entry.get("parts", ())),
            entry["why"],
            entry.get("instead", ""),
        )
        for entry in document["changes"]
    ]


class Inside:
    """What `--backend` makes of the questions of one case."""

    def __init__(self, case: Case, contract: str) -> None:
        self._case = case
        self._contract = contract

    @property
    def name(self) -> str | None:
        """The backend; None where nothing is asked inside of one."""
        return self._case.session.backend

    @property
    def capability(self) -> str:
        return f"{self._contract}.backend"

    @property
    def parts(self) -> tuple[str, ...]:
        """What the backend is made of, as hello says: namespaces, landlock, seccomp."""
        named = self._case.hello.get("backends", {})
        return tuple(str(named.get(self.name, {}).get("mechanism", "")).split("+"))

    @property
    def added(self) -> tuple[str, ...]:
        """The variables that a program inside has beside those that were asked for."""
        return () if self.name is None else ("TMPDIR",)

    def use(self, cwd: str | None = None, own_root: bool = False) -> dict[str, Any]:
        """The field `backend` of a request, if there is one; `cwd` is where the caller is.

        own_root: the operation makes the workspace itself, and its context names none.

        A test that the table names is not asked, nor is one where the shim has no such field.
        """
        if self.name is None:
            return {}
        if self.capability not in self._case.capabilities:
            if self._case.deciding:
                raise NotApplicable.without(self.capability)
            return {}
        self._expect_named()
        self._expect_unchanged()
        context = {"profile": PROFILE}
        if not own_root:
            context["root"] = str(self._case.folder)
        if cwd is not None:
            context["cwd"] = cwd
        # Partly enforced is confined, too; what ran without any sandbox is told by the answer.
        return {"backend": {"name": self.name, "context": context, "on_unavailable": "degrade"}}

    def around(self, backend: Around, own_root: bool = False) -> dict[str, Any]:
        """The same, where a test may say which sandbox it is, or that there is none."""
        if backend is OF_THE_RUN:
            return self.use(own_root=own_root)
        return {} if backend is None else {"backend": dict(backend)}

    def _expect_named(self) -> None:
        known = self._case.hello.get("backends", {})
        if self.name not in known:
            problem = "the shim has no such backend"
            raise UsageError(f"--backend {self.name}", problem, f"it names {', '.join(known)}")

    def _expect_unchanged(self) -> None:
        test = self._case.name.rpartition("::")[2].partition("[")
        names = {test[0], "".join(test)}
        for change in changes(self._contract):
            here = not change.parts or not {*change.parts}.isdisjoint(self.parts)
            if here and change.requirement in self._case.deciding and names & {*change.tests}:
                instead = f"; {change.instead} decides what holds" if change.instead else ""
                raise Changed(f"{change.why}{instead}")


def expect_confined(raw: Mapping[str, Any] | None) -> None:
    """What ran without a sandbox says nothing about runs inside of one."""
    for said in _results((raw or {}).get("result")):
        # A signal that came before the sandbox was there: nothing was started.
        if said.get("enforcement") == "none" and said.get("termination") != "parent_signal":
            reasons = (
                "; ".join(map(str, said.get("enforcement_reasons", ()))) or "no reason is given"
            )
            raise NotMeasured(f"it ran without a sandbox: {reasons}")


def _results(result: Any) -> list[Mapping[str, Any]]:
    if not isinstance(result, Mapping):
        return []
    runs = result.get("runs", [result])
    return [each.get("result", each) for each in runs if isinstance(each, Mapping)]
