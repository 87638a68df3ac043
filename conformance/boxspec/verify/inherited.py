"""Secrets that the command itself hands to a program: by an open descriptor, by a pipe,
or by a variable.

Without the command no program has them, so these attempts have no control. They only add leaks to a
row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.paths import Place
from boxspec.verify.row import Attempt, Target
from boxspec.verify.scene import Scene


@dataclass(frozen=True)
class Inherited(Target):
    """Files that a program can use without opening them. A folder stands for the decoys below it.

    writes: True if a program must not write them; False if it must not read them.
    """

    places: tuple[Place, ...]
    writes: bool = False

    def attempts(self, scene: Scene) -> list[Attempt]:
        paths = [scene.path(each) for each in self.places if each.base != "/"]
        files = [file for path in paths for file in scene.decoys_below(path) or [path]]
        known = {scene.shown(path): path for path in files if not scene.keeps(path)}
        opened = _opened(known, "write" if self.writes else "read")
        made = [Attempt("r_open_files", "the descriptors that the command left open", {}, opened)]
        if not self.writes:
            tokens = {shown: scene.decoy(path) for shown, path in known.items()}
            shown = "the content of a file in a variable"
            made.append(Attempt("e_environ", shown, {}, _given(tokens)))
            shown = "the content of a file in a pipe or a file without a name"
            made.append(Attempt("r_streams", shown, {}, _piped(tokens)))
            if not scene.real:
                by_token = {scene.decoy(path): path for path in known.values()}
                made.append(_copies(scene, by_token))
        return made


@dataclass(frozen=True)
class PipedVariables(Target):
    """The values of variables that the command passes by a pipe, instead of by the environment."""

    names: tuple[str, ...]

    def attempts(self, scene: Scene) -> list[Attempt]:
        tokens = {f"the variable {name}": scene.variable(name) for name in self.names}
        shown = "the value of a variable in a pipe or a file without a name"
        made = [Attempt("r_streams", shown, {}, _piped(tokens))]
        if not scene.real:
            made.append(_written(scene, tokens))
        return made


def _opened(paths: dict[str, Path], access: str) -> Callable[[ProbeResult], list[str]]:
    """Return an effect for each of these files that is open in the program."""

    def effects(result: ProbeResult) -> list[str]:
        found = []
        for shown, path in paths.items():
            if path.is_file():
                is_open = f"{access} file {path.stat().st_dev}:{path.stat().st_ino}"
                how = "a descriptor that the command left open"
                found += [f"{shown} can be {_DONE[access]} ({how})"] * (is_open in result.leaked)
        return found

    return effects


_DONE = {"read": "read", "write": "written"}


def _copies(scene: Scene, files: Mapping[str, Path]) -> Attempt:
    """Return an attempt that finds copies of these files, by secret. It is made once for all
    rows."""

    def effects(result: ProbeResult) -> list[str]:
        found: dict[str, None] = {}
        for token, _, path in (each.split(" ", 2) for each in result.leaked):
            known = files.get(token)
            # Plans and reports of the kit have secrets too.
            is_other = known and known.exists() and path != str(known)
            if known and is_other and not scene.is_named_by_the_kit(path):
                shown = scene.shown(Path(path))
                found[f"{scene.shown(known)} was read (it is also at {shown})"] = None
        return [*found]

    return Attempt("r_copies", "copies of the file", scene.searched, effects, id=scene.search)


def _written(scene: Scene, tokens: dict[str, str]) -> Attempt:
    """Return the same attempt for variables that the command writes to files, such as a log."""
    scene.searched["words"] = " ".join([str(scene.searched["words"]), *tokens.values()])

    def effects(result: ProbeResult) -> list[str]:
        found = (each.split(" ", 2) for each in result.leaked)
        paths = {token: path for token, _, path in found if not scene.is_named_by_the_kit(path)}
        return [
            f"{shown} was read (the command has written it to {scene.shown(Path(paths[token]))})"
            for shown, token in tokens.items()
            if token in paths
        ]

    return Attempt("r_copies", "copies of the variable", scene.searched, effects, id=scene.search)


def _piped(tokens: dict[str, str]) -> Callable[[ProbeResult], list[str]]:
    """Return an effect for each of these secrets that the program can read from a descriptor."""

    def effects(result: ProbeResult) -> list[str]:
        how = "the command passes it by a pipe or an open file"
        given = [shown for shown, token in tokens.items() if any(token in t for t in result.leaked)]
        return [f"{shown} was read ({how})" for shown in given]

    return effects


def _given(tokens: dict[str, str]) -> Callable[[ProbeResult], list[str]]:
    """Return an effect for each of these secrets that is in a variable of the program."""

    def effects(result: ProbeResult) -> list[str]:
        found = {
            each.partition("=")[0]: shown
            for each in result.leaked
            for shown, token in tokens.items()
            if token in each
        }
        return [f"{shown} was read (the variable {name} has it)" for name, shown in found.items()]

    return effects
