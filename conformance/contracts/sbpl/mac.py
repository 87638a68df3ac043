"""Run texts with the real sandbox-exec, and compare each case with the evaluator and the policy.

A shape is a request with its text. A temporary directory replaces its home directory /Users/u. In
this directory, the files of each case are made and the case is tried without a sandbox. Then the
files are made again, and the case is tried in the sandbox.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from boxspec.errors import HarnessError
from boxspec.places import ROOT
from boxspec.subject.client.b64 import raw
from boxspec.subject.observe.lines import poll
from contracts.sbpl import generators
from contracts.sbpl.client import HOME, Setup
from contracts.sbpl.meaning import SCRATCH, Meaning, within
from contracts.sbpl.seatbelt.decide import Outcome
from contracts.sbpl.text import Text, bytes_of

if TYPE_CHECKING:
    from contracts.sbpl.client import SbplCase

WRAPPER = Path("/usr/bin/sandbox-exec")
ABSENT = "sandbox-exec is a part of macOS: ci/macos-lane measures this there"
SHAPES = ROOT / "fixtures" / "sbpl"
PROBE = Path(__file__).with_name("probe.py")
WITHIN_S = 20.0
# The operation that each action needs on its path. `rename` also needs file-write-create on the new
# name.
ACTIONS = {
    "create": "file-write-create",
    "write": "file-write-data",
    "mode": "file-write-mode",
    "remove": "file-write-unlink",
    "rename": "file-write-unlink",
    "read": "file-read-data",
    "stat": "file-read-metadata",
}
AT_ROOT = ("mode", "stat")
AT_HOME = ("x", ".orbit/x", ".orbit2/x", "Library/Caches/x", "Library/x", ".codex/x", ".gemini/x")
PATHS_A_SHAPE = 20
DENIED = (errno.EPERM, errno.EACCES)
# Paths without characters that must be escaped in a regular expression or in a string.
PLAIN = re.compile(r"(/[A-Za-z0-9_-]+)+")


def absent() -> str | None:
    """Return the reason why this machine cannot run sandbox-exec, or None."""
    here = sys.platform == "darwin" and os.access(WRAPPER, os.X_OK)
    return None if here else ABSENT


@dataclass(frozen=True)
class Shape:
    name: str
    setup: Setup
    text: bytes

    @property
    def is_movable(self) -> bool:
        """True if a temporary directory can replace the home directory of the shape."""
        return str(self.setup.root).startswith(f"{HOME}/")

    def moved(self, home: str) -> Shape:
        return Shape(self.name, moved(self.setup, home), moved_text(self.text, home))


def moved(setup: Setup, home: str) -> Setup:
    def word(value: Any) -> str:
        text = str(value)
        return home + text[len(HOME) :] if f"{text}/".startswith(f"{HOME}/") else text

    return setup.but(
        root=word(setup.root),
        env={name: word(value) for name, value in setup.env.items()},
        side_roots=[word(value) for value in setup.side_roots],
    )


def moved_text(text: bytes, home: str) -> bytes:
    """Replace the home directory at the start of strings and regular expressions."""
    begins = rb'(?<=")(\^?)' + re.escape(HOME.encode()) + rb'(?=[/"$])'
    return re.sub(begins, lambda found: found[1] + home.encode(), text)


def setup_of(message: dict[str, Any]) -> Setup | None:
    """Return the setup of a request, or None if the request contains a policy or bytes."""
    rules = message.get("rules")
    if rules is None or any(name.endswith("_b64") for name in message):
        return None
    return Setup(
        modify=rules.get("modify", ()),
        read=rules.get("read", ()),
        deny_modify=rules.get("denyModify", ()),
        deny_read=rules.get("denyRead", ()),
        root=message["root"],
        env=message.get("env", {}),
        side_roots=message.get("side_roots", ()),
        provider=message.get("provider"),
        case=message.get("case"),
    )


def goldens(folder: Path = SHAPES) -> Iterator[Shape]:
    for file in sorted(folder.glob("*.json")):
        setup = setup_of(json.loads(file.read_text(encoding="utf-8")))
        if setup is not None:
            yield Shape(file.stem, setup, file.with_suffix(".sb").read_bytes())


@dataclass(frozen=True)
class Attempt:
    action: str
    path: str

    @property
    def paths(self) -> list[str]:
        return [self.path, f"{self.path}-moved"] if self.action == "rename" else [self.path]

    def __str__(self) -> str:
        return f"{self.action} {self.path}"


def attempts(setup: Setup, home: str) -> list[Attempt]:
    # The seed depends only on the rules. So a finding on a Mac can be reproduced.
    chance = random.Random(str(setup.rules))
    below = [
        generators.absolute(setup, path)
        for path in generators.paths(chance, setup, PATHS_A_SHAPE)
        if path != "."
    ]
    # Side roots are left out, because no file may be created outside the temporary directory.
    sides = [f"{raw(side).decode()}/x" for side in setup.side_roots]
    sides = [side for side in sides if within(home, side)]
    found = [Attempt(action, str(setup.root)) for action in AT_ROOT]
    found += [Attempt(action, path) for path in [*below, *sides] for action in ACTIONS]
    found += [Attempt("create", f"{home}/{name}") for name in AT_HOME]
    return found


def by_evaluator(text: Text, attempt: Attempt) -> str:
    asked = [(ACTIONS[attempt.action], attempt.path)]
    asked += [("file-write-create", path) for path in attempt.paths[1:]]
    outcomes = [text.decisions([name], path)[name].outcome for name, path in asked]
    if set(outcomes) <= {Outcome.ALLOW}:
        return "allow"
    return str(next(each for each in outcomes if each is not Outcome.ALLOW))


def by_policy(meaning: Meaning, attempt: Attempt) -> str | None:
    if attempt.action in ("read", "stat"):
        answers = [meaning.may_read(attempt.path)]
    elif attempt.action in ("remove", "rename"):
        answers = [meaning.may_unlink(attempt.path), *map(meaning.may_modify, attempt.paths[1:])]
    else:
        answers = [meaning.may_modify(attempt.path)]
    if None in answers:
        return None
    return "allow" if all(answers) else "deny"


class Probe:
    """A process that runs the program probe.py, in a sandbox or without one.

    It makes one attempt after the other.
    """

    def __init__(self, before: Sequence[str | Path] = ()) -> None:
        self.process = subprocess.Popen(
            [*before, sys.executable, "-I", "-S", "-B", PROBE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Probe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, attempt: Attempt) -> str:
        """Return allow, deny, or another result of the attempt."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps([attempt.action, *attempt.paths]).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.ended()
        if not poll([self.process.stdout.fileno()], WITHIN_S):
            raise HarnessError(f"{attempt}: no answer within {WITHIN_S:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            return self.ended()
        number = int(line)
        if number == 0:
            return "allow"
        return "deny" if number in DENIED else os.strerror(number)

    def ended(self) -> str:
        _, output = self.process.communicate()
        words = output.decode(errors="replace").strip().replace("\n", "; ")
        return f"ended with {self.process.returncode}: {words}"


def prepare(home: Path, attempt: Attempt, root: str) -> None:
    """Empty the home directory, and create only the files that the attempt needs."""
    for each in home.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    path = Path(attempt.path)
    Path(root).mkdir(parents=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if attempt.action != "create" and attempt.path != root:
        path.write_bytes(b"x")


def differences(shape: Shape, home: Path, wrapper: Path) -> tuple[int, list[str]]:
    """Return the number of attempts that were made, and those whose results differ."""
    setup = shape.setup
    text, meaning = Text(shape.text, setup.root), Meaning(setup)
    found: list[str] = []
    tried = attempts(setup, str(home))
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        file = Path(folder) / "profile.sb"
        file.write_bytes(shape.text)
        with Probe() as free, Probe([wrapper, "-f", file]) as confined:
            for attempt in tried:
                prepare(home, attempt, str(setup.root))
                without = free.ask(attempt)
                if without != "allow":
                    raise HarnessError(f"{shape.name}: {attempt} without a sandbox: {without}")
                prepare(home, attempt, str(setup.root))
                got = confined.ask(attempt)
                judges = {
                    "evaluator": by_evaluator(text, attempt),
                    "policy": by_policy(meaning, attempt),
                }
                wrong = [
                    f"{judge} {says}" for judge, says in judges.items() if says not in (got, None)
                ]
                if wrong:
                    found.append(f"{shape.name}: {attempt}: sandbox {got}, {', '.join(wrong)}")
                if got not in ("allow", "deny"):
                    break
    return len(tried), found


class Home:
    """A temporary directory for the attempts. Its name needs no escapes."""

    def __init__(self, folder: Path | None) -> None:
        self.made = tempfile.mkdtemp(prefix="boxspec-mac-", dir=folder or Path.home())
        self.path = Path(os.path.realpath(self.made)) / "home"

    def __enter__(self) -> Path:
        path = str(self.path)
        if not PLAIN.fullmatch(path) or any(within(place, path) for place in SCRATCH):
            Path(self.made).rmdir()
            raise HarnessError(
                f"{path}: name a directory (--dir) of plain letters, not for temporary files"
            )
        self.path.mkdir()
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        shutil.rmtree(self.made, ignore_errors=True)


def loads(shape: Shape, wrapper: Path) -> list[str]:
    """Return the error of sandbox-exec if it does not accept the text at all."""
    with tempfile.NamedTemporaryFile(suffix=".sb") as file:
        file.write(shape.text)
        file.flush()
        done = subprocess.run(
            [wrapper, "-f", file.name, "/usr/bin/true"],
            capture_output=True,
            timeout=WITHIN_S,
            check=False,
        )
    if done.returncode == 0:
        return []
    output = done.stderr.decode(errors="replace").strip()
    return [f"{shape.name}: is not taken: exit {done.returncode}: {output}"]


def judged(case: SbplCase, shapes: Iterable[Shape] | None = None) -> list[str]:
    """Compile texts for an existing directory.

    Return the attempts in which sandbox-exec decides in another way.
    """
    found: list[str] = []
    for shape in goldens() if shapes is None else shapes:
        if not shape.is_movable:
            continue
        with Home(None) as home:
            setup = moved(shape.setup, str(home))
            made = Shape(shape.name, setup, bytes_of(case.sbpl.compile(setup)))
            found += differences(made, home, WRAPPER)[1]
    return found
