"""Read the planted faults of fuzz/planted, and build targets that contain one of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.fuzz.targets import FUZZ
from boxspec.places import ROOT

FOLDER = FUZZ / "planted"
HEAD = ("Fault", "Source", "Targets")
# The folder with the instrumented objects of the reference. The fuzz builds also contain the
# ordinary library.
FUZZED = "boxspec_fuzzed.dir"


@dataclass(frozen=True)
class Fault:
    """A patch of the reference that plants a fault. Its header lines describe it."""

    name: str
    patch: Path
    what: str
    source: str
    targets: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """Return the changed files, relative to the root."""
        return re.findall(r"^\+\+\+ b/(\S+)$", self.patch.read_text(), re.M)


def _read(path: Path) -> Fault:
    lines = path.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    head = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if tuple(head) != HEAD or not all(head.values()):
        raise HarnessError(f"{path} does not begin with {', '.join(HEAD)}")
    return Fault(path.stem, path, head["Fault"], head["Source"], tuple(head["Targets"].split()))


@cache
def every() -> dict[str, Fault]:
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.patch"))}


def named(name: str) -> Fault:
    if name not in every():
        raise UsageError.unknown(name, "planted fault", name, every(), "fuzz/planted/run --list")
    return every()[name]


# Copies -------------------------------------------------------------------------------------


def copy_patched(fault: Fault, folder: Path) -> list[Path]:
    """Copy the files of the patch to `folder`, and apply the patch to the copies."""
    for name in fault.files:
        if not (ROOT / name).is_file():
            raise HarnessError(f"{fault.name} does not apply: there is no {name}")
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    # Without this variable, git would treat the folder as a part of the checkout.
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(
        ["git", "apply", str(fault.patch)], cwd=folder, env=env, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise HarnessError(f"{fault.name} does not apply: {done.stderr.strip()}")
    return [folder / name for name in fault.files]


def _command(words: list[str], folder: Path, what: str) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise HarnessError(f"{what}:\n{done.stderr.strip()[-2000:]}")


class Tree:
    """A fuzz build. It gives compile commands, objects and link commands."""

    def __init__(self, preset: str) -> None:
        self.folder = ROOT / "build" / preset
        entries = json.loads((self.folder / "compile_commands.json").read_bytes())
        self._flags = {
            entry["file"]: shlex.split(entry["command"])
            for entry in entries
            if FUZZED in entry["command"]
        }

    def compile_argv(self, name: str, source: Path, out: Path) -> list[str]:
        """Return the command that compiles a patched copy of the source `name`.

        The command includes planted.h, which no other source sees.
        """
        try:
            words = list(self._flags[str(ROOT / name)])
        except KeyError:
            raise HarnessError(f"{self.folder} does not compile {name}") from None
        words[words.index("-o") + 1] = str(out)
        words[words.index("-c") + 1] = str(source)
        return [words[0], "-include", str(FOLDER / "planted.h"), *words[1:]]

    def link_argv(self, target: str, objects: list[Path], more: list[str], out: Path) -> list[str]:
        """Return the link command of a target in which `objects` replace objects of the archives.

        The linker uses them because they precede the archives.
        """
        done = subprocess.run(
            ["ninja", "-C", self.folder, "-t", "commands", f"fuzz/{target}"],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise HarnessError(f"{self.folder} has no {target}: {done.stderr.strip()}")
        line = done.stdout.splitlines()[-1].removeprefix(": && ").removesuffix(" && :")
        words = shlex.split(line)
        words[words.index("-o") + 1] = str(out)
        archives = next(at for at, word in enumerate(words) if word.endswith(".a"))
        return [*words[:archives], *map(str, objects), *words[archives:], *more]


SILENCED = ["-Wl,--wrap=LLVMFuzzerTestOneInput", "-Wl,--wrap=bs_fuzz_fail"]


def build(fault: Fault, tree: Tree, target: str, folder: Path, *, silent: bool) -> Path:
    """Build the target with the fault.

    silent: True for a control, in which the oracles of the target report no finding.
    """
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for name, source in zip(fault.files, copy_patched(fault, folder), strict=True):
        objects.append(folder / f"{source.stem}.o")
        argv = tree.compile_argv(name, source, objects[-1])
        _command(argv, tree.folder, f"{fault.name} does not compile")
    # The engine must not follow the counters of the marks, so these objects are not instrumented.
    for name in ["planted", *(["crash_only"] if silent else [])]:
        objects.append(folder / f"{name}.o")
        argv = ["cc", "-std=c17", "-O2", "-c", f"{FOLDER / name}.c", "-o", str(objects[-1])]
        _command(argv, FOLDER, f"{name}.c does not compile")
    out = folder / f"{target}{'-silent' if silent else ''}"
    argv = tree.link_argv(target, objects, SILENCED if silent else [], out)
    _command(argv, tree.folder, f"{fault.name} does not link")
    return out
