"""Send requests in a sandbox: `--backend NAME` with a contract that starts programs.

Each request gets the backend, with the folder of the case as its workspace. A launcher changes the
conditions of some requirements. The file inside.yaml of the contract lists them, each with the
reason, the tests that do not apply in a sandbox, and the test that decides instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from boxspec.errors import UsageError
from boxspec.judge.verdict import Changed, NotApplicable, NotMeasured
from boxspec.places import CONTRACTS
from boxspec.programs import programs
from boxspec.subject.case import Case, Outcome
from boxspec.subject.observed import Facts

# Programs may write to the workspace and use the network, as the tests need.
PROFILE = "repo-write"

# A test can give a request its own sandbox: a `backend` field, or None for no sandbox. This value
# means the sandbox of `--backend`.
OF_THE_RUN: Mapping[str, Any] = {}
Around = Mapping[str, Any] | None


def blame_place(case: Case) -> None:
    """Raise UsageError if the kit lies where the sandbox hides its programs."""
    if case.session.backend and programs.gate.startswith("/tmp/"):
        problem = f"sandboxes have a /tmp of their own, and there is {programs.gate}"
        raise UsageError(f"--backend {case.session.backend}", problem, "move the checkout")


@dataclass(frozen=True)
class Change:
    """A requirement whose conditions a launcher changes.

    tests: the tests that do not apply in a sandbox.
    parts: the change applies to backends that have one of these parts; if empty, to all backends.
    instead: the test that decides in their place, if there is one.
    """

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
    """How `--backend` changes the requests of a case."""

    def __init__(self, case: Case, contract: str) -> None:
        self._case = case
        self._contract = contract

    @property
    def name(self) -> str | None:
        """Return the name of the backend; None without `--backend`."""
        return self._case.session.backend

    @property
    def capability(self) -> str:
        return f"{self._contract}.backend"

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of the backend's mechanism by hello: namespaces, landlock, seccomp."""
        named = self._case.hello.get("backends", {})
        return tuple(str(named.get(self.name, {}).get("mechanism", "")).split("+"))

    @property
    def added(self) -> tuple[str, ...]:
        """Return the variables that a program inside has in addition to the requested ones."""
        return () if self.name is None else ("TMPDIR",)

    def use(self, cwd: str | None = None, own_root: bool = False) -> dict[str, Any]:
        """Return the field `backend` of a request; empty without `--backend`.

        cwd: the working directory of the caller.
        own_root: the operation makes the workspace itself, so the context has no root.

        Raise NotApplicable if inside.yaml lists the test, or if the shim does not declare the
        field.
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
        # Partial enforcement is accepted. If a program ran without any sandbox, the answer says so.
        return {"backend": {"name": self.name, "context": context, "on_unavailable": "degrade"}}

    def around(self, backend: Around, own_root: bool = False) -> dict[str, Any]:
        """Return the field `backend` of a request as a dict; an empty dict if the test asks for no
        sandbox."""
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
                instead = f"; {change.instead} has the rule that applies" if change.instead else ""
                raise Changed(f"{change.why}{instead}")


def put_inside(message: Mapping[str, Any], backend: Around = OF_THE_RUN) -> bool:
    """True if the request is in a sandbox because of `--backend`, and not because of the test
    itself."""
    return "backend" in message and backend is OF_THE_RUN


def confined(make: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Let `make` accept only answers of runs that had a sandbox (see `expect_confined`)."""

    def made(raw: dict[str, Any] | None, observed: Facts) -> Outcome:
        expect_confined(raw)
        return make(raw, observed)

    return made


def expect_confined(raw: Mapping[str, Any] | None) -> None:
    """Raise NotMeasured if the run had no sandbox: then it shows nothing about runs in a
    sandbox."""
    for result in _results((raw or {}).get("result")):
        if result.get("enforcement") == "none" and not _was_interrupted(result):
            reasons = (
                "; ".join(map(str, result.get("enforcement_reasons", ()))) or "no reason is given"
            )
            raise NotMeasured(f"it ran without a sandbox: {reasons}")


def _was_interrupted(result: Mapping[str, Any]) -> bool:
    """True if a signal to the caller came before the sandbox existed. Then no program was
    started."""
    error = result.get("error")
    in_a_module = isinstance(error, Mapping) and error.get("class") == "Interrupted"
    return in_a_module or result.get("termination") == "parent_signal"


def _results(result: Any) -> list[Mapping[str, Any]]:
    if not isinstance(result, Mapping):
        return []
    runs = result.get("runs", [result])
    return [each.get("result", each) for each in runs if isinstance(each, Mapping)]
