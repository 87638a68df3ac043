"""A program that executes commands line by line, and observers of the forbidden commands.

The program answers each line with `did` or the name of an error. So the answers show that the
program continues after a refusal. The effects are observed outside: in a canary file, and by a
listener that counts connections.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boxspec import folders
from boxspec.api import HostLacks, Verdict, expect, satisfies
from boxspec.judge.verdict import Declared, Failure, Late, NotApplicable
from boxspec.places import case_root
from boxspec.random_names import random_name
from boxspec.subject.case import Case

# Under this profile, each backend that confines programs gives them no network.
PROFILE = "no-network"
CONTROL = "none"
CANARY = "canary\n"

BODY = """\
import errno, socket, sys
def do(word, rest):
    if word == "write":
        with open(rest, "a") as file:
            file.write("x")
    elif word == "connect":
        socket.create_connection(("127.0.0.1", int(rest)), 5).close()
for line in lines():
    word, _, rest = line.rstrip("\\n").partition(" ")
    try:
        do(word, rest)
        said = "did"
    except OSError as why:
        said = errno.errorcode.get(why.errno, "refused")
    answer(said)
"""
# A script that reads and answers line by line.
TALKER = (
    """\
import sys
def lines():
    return iter(sys.stdin.readline, "")
def answer(said):
    print(said, flush=True)
"""
    + BODY
)
# A script that reads a list of lines, and prints a list of answers.
ANSWERS = (
    """\
import json, sys
answers = []
answer = answers.append
def lines():
    return json.load(sys.stdin)
"""
    + BODY
    + "json.dump(answers, sys.stdout)\n"
)


def interpreter() -> str:
    """Return the real path of the interpreter, because in a sandbox a link to it may be missing."""
    return os.path.realpath(sys.executable)


def words(source: str = TALKER) -> tuple[str, list[str]]:
    return interpreter(), ["-I", "-S", "-c", source]


def backends(case: Case) -> list[str]:
    """Return the backend of this run, or all backends of the shim that confine programs."""
    if case.session.backend is not None:
        return [case.session.backend]
    return [name for name in case.hello.get("backends", {}) if name != CONTROL]


def ask_each(case: Case, ask: Callable[[str], None]) -> None:
    """Check each backend. A backend that is not applicable does not prevent the check of the
    others."""
    excused = []
    for name in backends(case):
        try:
            ask(name)
        except NotApplicable as why:
            excused.append(why)
    if excused:
        raise excused[0]


@dataclass
class Outside:
    """The workspace, and the objects outside that a sandbox must protect."""

    workspace: Path
    canary: Path
    listener: socket.socket

    def lines(self, workspace: Path | None = None) -> list[str]:
        """Return an allowed command, the two attempts, and an allowed command again."""
        inner = (workspace or self.workspace) / "inside"
        port = self.listener.getsockname()[1]
        return [
            f"write {inner}",
            f"write {self.canary}",
            f"connect {port}",
            f"write {inner}",
        ]

    def effects(self) -> tuple[str, int]:
        """Return the text of the canary file and the number of connections, and restore the canary
        file."""
        text = self.canary.read_text(encoding="utf-8")
        self.canary.write_text(CANARY, encoding="utf-8")
        came = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                self.listener.accept()[0].close()
                came += 1
        return text, came


@contextlib.contextmanager
def outside() -> Iterator[Outside]:
    register = case_root() / "grounds"
    base = folders.make_registered(case_root().parent, random_name(), register)
    with contextlib.ExitStack() as stack:
        stack.callback(folders.delete, base)
        listener = stack.enter_context(socket.socket())
        (base / "ws").mkdir()
        (base / "canary").write_text(CANARY, encoding="utf-8")
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        listener.setblocking(False)
        yield Outside(base / "ws", base / "canary", listener)


def use(name: str, root: Path | None) -> dict[str, Any]:
    """Return the field `backend`. Without a root, the operation makes the workspace itself."""
    context: dict[str, Any] = {"profile": PROFILE}
    if root is not None:
        context["root"] = str(root)
    return {"name": name, "context": context, "on_unavailable": "degrade"}


def expect_control(answers: list[str], there: Outside) -> None:
    """Expect that all commands work without a sandbox. Otherwise a refusal would prove nothing."""
    seen = (answers, there.effects())
    if seen != (["did"] * 4, (CANARY + "x", 1)):
        raise HostLacks(
            "working escape attempts",
            f"the attempts do nothing here even without a sandbox: {seen}",
        )


def expect_refused(
    case: Case, answers: list[str], there: Outside, result: Mapping[str, Any], name: str
) -> None:
    """Expect that the allowed commands worked, that all lines were answered, and that there is no
    effect outside."""
    # Read the effects first: a run without a sandbox would have effects that no other backend can
    # have caused.
    effects = there.effects()
    need_enforcement(case, result, name)
    evidence = {"answers": answers, "backend": name, "claim": result.get("enforcement")}
    if effects != (CANARY, 0):
        _excuse(case, effects, result, name)
        raise Failure(
            "effects outside the sandbox",
            f"an unchanged file, and no connection ({name})",
            f"the file has {effects[0]!r}, connections: {effects[1]}",
            evidence,
            Verdict.ESCAPED,
        )
    ends = (answers[:1], answers[3:])
    expect(
        f"answers to the allowed commands, before and after the attempts ({name})",
        ends,
        (["did"], ["did"]),
    )
    # Only the number of answers is checked. In a private file system or network, the forbidden
    # commands may succeed.
    expect(f"number of answers ({name})", len(answers), satisfies(lambda n: n == 4, "4"))


def _excuse(case: Case, effects: tuple[str, int], result: Mapping[str, Any], name: str) -> None:
    """Raise Declared if the sandbox is partial and claims none of the escaped aspects fully.

    The claims in the result arrive only after the run. So if the shim has backend.probe, its claims
    before the run decide.
    """
    reasons = [str(each) for each in result.get("enforcement_reasons", ())]
    if result.get("enforcement") != "partial" or not reasons:
        return
    got_out = {"fs-write": effects[0] != CANARY, "network": effects[1] > 0}
    aspects = [aspect for aspect, out in got_out.items() if out]
    if "backend" in case.capabilities:
        claims = _probed(case, name)["aspects"]
        if any(claims[aspect]["claim"] == "fully" for aspect in aspects):
            return
        reasons = [str(why) for aspect in aspects for why in claims[aspect].get("reasons", ())]
    what = f"{' and '.join(aspects)} of {name}"
    came = f"the file has {effects[0]!r}, connections: {effects[1]}"
    raise Declared(what, "partial", came, "; ".join(reasons))


def _probed(case: Case, name: str) -> Mapping[str, Any]:
    """Return the claims for a backend that backend.probe reports."""
    return case.send({"op": "backend.probe", "backend": name, "profile": PROFILE}).result


def need_enforcement(case: Case, result: Mapping[str, Any], name: str) -> None:
    """Raise NotApplicable for a backend that enforces nothing and makes no claims."""
    if result.get("enforcement") == "none":
        why = "; ".join(map(str, result.get("enforcement_reasons", ())))
        _expect_unavailable(case, name, why)
        raise NotApplicable(f"{name} enforces nothing here: {why}")


def _expect_unavailable(case: Case, name: str, why: str) -> None:
    """Expect that a shim with backend.probe claims no enforcement of a dropped backend."""
    if "backend" not in case.capabilities:
        return
    overall = _probed(case, name)["overall"]
    if overall == "unavailable":
        return
    if case.attempt.number == 1:
        # On a busy machine the probe of the backend may have exceeded its own time limit.
        raise Late(name, "it is kept", f"it is dropped: {why}")
    raise Failure(
        f"whether the run uses the backend {name}",
        "enforcement fully or partial",
        f"enforcement none, although backend.probe claims {overall}",
        {"why": why},
        symptom="a backend that claims to enforce something is not used",
        needs=["BACKEND-SESSION-03"],
    )
