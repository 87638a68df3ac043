"""Make the mutants of a room of the reference, and compile them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Folders that only the command line uses, which no contract covers.
NO_CONTRACT = ("authoring",)
# The changed folders of a contract's room, if not all of them are changed. The other folders of the
# backend handle rules for the kernel. The probes are the test of such a rule, so its mutants would
# say little about the suite.
FOLDERS = {"backend": ("backend/session", "backend/launch")}
RULES = ["universal.rules", "c_like.rules", "c.rules"]


@dataclass(frozen=True)
class Mutant:
    """One or more adjacent lines of a file and their replacement; `line` counts from 1."""

    file: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> str:
        text = "\0".join((self.file, self.before, self.after, str(self.line)))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def stands(self) -> bool:
        """True if the lines to change are unchanged and still at their place in the file."""
        lines = (ROOT / self.file).read_text(encoding="utf-8").splitlines()
        return _stands_at(lines, self.line, self.before)


def _stands_at(lines: list[str], line: int, before: str) -> bool:
    wanted = [each.strip() for each in before.splitlines()]
    return [each.strip() for each in lines[line - 1 : line - 1 + len(wanted)]] == wanted


def in_order(contract: str, seed: int) -> Iterator[Mutant]:
    """Yield all mutants of a contract's room. Each line gets one mutant before any line gets a
    second one.

    The order is drawn by lines and not by mutants, because a line with a sum has thirty mutants and
    a line with a call only one.
    """
    chance = random.Random(f"{contract} {seed}")
    lines: dict[tuple[str, int], list[Mutant]] = {}
    folders = [ROOT / "reference" / name for name in FOLDERS.get(contract, (contract,))]
    for path in sorted(path for folder in folders for path in folder.rglob("*.c")):
        if path.parent.name in NO_CONTRACT:
            continue
        for mutant in _of(path):
            lines.setdefault((mutant.file, mutant.line), []).append(mutant)
    for mutants in lines.values():
        chance.shuffle(mutants)
    places = sorted(lines)
    while places:
        chance.shuffle(places)
        for place in places:
            yield lines[place].pop()
        places = sorted(place for place in places if lines[place])


def named(contract: str) -> Iterator[Mutant]:
    """Yield the mutants that a review once found undetected, even if their line has moved."""
    for entry in json.loads((HERE / "named.json").read_text(encoding="utf-8")):
        if entry["contract"] != contract:
            continue
        lines = (ROOT / entry["file"]).read_text(encoding="utf-8").splitlines()
        found = [n for n in range(1, len(lines) + 1) if _stands_at(lines, n, entry["before"])]
        if len(found) < entry.get("nth", 1):
            raise SystemExit(
                f"named.json: {entry['file']} has no line `{entry['before']}` any more"
            )
        line = found[entry.get("nth", 1) - 1]
        yield Mutant(entry["file"], line, entry["before"], entry["after"])


def is_in(key: str, part: tuple[int, int]) -> bool:
    """True if the mutant with this key is in the K-th of N parts."""
    number, of = part
    return int(key, 16) % of == number - 1


def _of(path: Path) -> list[Mutant]:
    from universalmutator import mutator

    source = path.read_text(encoding="utf-8").splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(source, ruleFiles=RULES, ignorePatterns=[])
    file = path.relative_to(ROOT).as_posix()
    found = {
        Mutant(file, line, source[line - 1].strip(), after.strip())
        for line, after, *_ in made
        if not source[line - 1].lstrip().startswith(("#", "*", "//"))
    }
    return sorted(found, key=lambda mutant: (mutant.line, mutant.after))


REFUSED = [f"-Werror={what}" for what in ("incompatible-pointer-types", "int-conversion")]


class Tree:
    """A copy of the release build in which one object at a time is replaced.

    `work` belongs to the caller.
    """

    def __init__(self, work: Path) -> None:
        self.build = ROOT / "build" / "release"
        self.work = work
        self.shim = work / "boxspec-ref"
        self._launcher = work / "boxspec-launch"
        self._originals: dict[str, bytes] = {}
        self._commands: dict[str, str] = {}
        # Benchmarks and fuzz targets compile the same files with other flags, so these commands
        # do not count.
        entries = json.loads((self.build / "compile_commands.json").read_text())
        for target in ("boxspec-launch", "boxspec"):
            for entry in entries:
                if f"/{target}.dir/" in entry["command"]:
                    self._commands[entry["file"]] = entry["command"]

    def original(self, mutant: Mutant) -> bytes:
        """Return the object of the unchanged file."""
        if mutant.file not in self._originals:
            made = self._compiled(mutant, (ROOT / mutant.file).read_text(encoding="utf-8"))
            if made is None:
                raise SystemExit(f"{mutant.file} does not compile; run ./ci/build release first")
            if not self.linked(mutant, made):
                raise SystemExit(f"{mutant.file} as it is cannot be linked anew")
            self._originals[mutant.file] = made.read_bytes()
        return self._originals[mutant.file]

    def changed(self, mutant: Mutant) -> Path | None:
        """Return the object of the changed file, or None if it does not compile."""
        lines = (ROOT / mutant.file).read_text(encoding="utf-8").splitlines(keepends=True)
        end = mutant.line + mutant.before.count("\n")
        lines[mutant.line - 1 : end] = [mutant.after + "\n"]
        return self._compiled(mutant, "".join(lines))

    def _compiled(self, mutant: Mutant, text: str) -> Path | None:
        """Compile the text of a file, without debug information."""
        source = ROOT / mutant.file
        # An object contains the name of its source, so the changed copy needs the same name.
        copy = self.work / source.name
        copy.write_text(text, encoding="utf-8")
        out = self.work / "changed.o"
        words = shlex.split(self._commands[str(source)])
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(copy)
        # Warnings are no errors here, because an author may ignore them. Code that every current
        # compiler refuses is no mutant.
        made = subprocess.run(
            [*words, "-Wno-error", *REFUSED, "-g0", "-iquote", str(source.parent)],
            cwd=self.build,
            capture_output=True,
        )
        return out if made.returncode == 0 else None

    def linked(self, mutant: Mutant, made: Path) -> bool:
        """Link `shim`, with the launcher next to it. One of the two contains the object."""
        for program in (self.shim, self._launcher):
            program.unlink(missing_ok=True)
        if mutant.file.startswith("reference/backend/launch/"):
            # A copy, because the shim finds the launcher next to its real file.
            shutil.copy(self.build / "reference" / "boxspec-ref", self.shim)
            words, out = self._link("boxspec-launch"), self._launcher
            replaced = f"{Path(mutant.file).relative_to('reference')}.o"
            words = [str(made) if word.endswith(replaced) else word for word in words]
        else:
            shutil.copy(self.build / "reference" / "boxspec-launch", self._launcher)
            words, out = self._link("boxspec-ref"), self.shim
            # An object that is named before the library replaces the library's own.
            words.insert(words.index("-o"), str(made))
        words[words.index("-o") + 1] = str(out)
        return subprocess.run(words, cwd=self.build, capture_output=True).returncode == 0

    def _link(self, program: str) -> list[str]:
        text = subprocess.run(
            ["ninja", "-C", self.build, "-t", "commands", f"reference/{program}"],
            capture_output=True,
            text=True,
            check=True,
        )
        link = text.stdout.splitlines()[-1].removeprefix(": && ").removesuffix(" && :")
        return shlex.split(link)
