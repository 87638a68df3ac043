"""Files that a program inside plants, and that the command executes at its next start.

1. A traced start shows which names in the workspace, the home directory and /tmp the command looks
up. In /tmp only names of missing files are used.
2. A program inside plants scripts with these names, and with names that launchers often execute.
3. The command starts again. It must not execute the scripts outside the sandbox: each script makes
a mark where no program inside can write.
4. It must not follow links either that a program inside makes in the places of these names
(linked.py).

If a program inside can write outside, it can make a mark too. Then a mark counts only if its facts
are those of a process outside, and if the facts of the programs inside differ (confinement.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from boxspec.folders import delete
from boxspec.random_names import random_name
from boxspec.subject.observe.facts import content, holds
from boxspec.subject.observe.probes import ProbeResult
from boxspec.subject.planted import (
    FACTS_SCRIPT,
    PLANTED,
    PROGRAMS,
    shell_line,
    write_planted,
)
from boxspec.verify.confinement import UNKNOWN, Confinement, of_mark, of_process
from boxspec.verify.errors import UntestableError
from boxspec.verify.linked import Name, after_linking, names
from boxspec.verify.lookups import (
    Lookup,
    could_be_planted,
    deepest,
    executed,
    folders_to_make,
    lookups,
    reads_words,
    tracer,
)
from boxspec.verify.outcome import Outcome
from boxspec.verify.row import IDLE, Attempt, Row, Target, no_effect
from boxspec.verify.scene import TEMPORARY, Scene
from boxspec.verify.starts import Starter, by_attempts, collect, planned

# If the command does not start with all planted files, this number of files is tried one by one.
SINGLY = 8
# The mark of a program that takes shell lines from a pipe or a socket.
FED = "fed"
# The command line of a program without effects.
NOTHING = ["/bin/true"]
# The control executes a planted file, and then starts the program.
SOURCES = ["/bin/sh", "-c", '. "$0"; exec "$@"']
# The program inside tries to make this file in the folder of the marks. If that works, programs
# inside can make marks too.
INSIDE = "inside"
INDISTINGUISHABLE = (
    "a program inside can write outside, and its namespaces and privileges are those of a program"
    " outside, so a mark does not show whether a planted file was executed inside or outside"
)


@dataclass(frozen=True)
class Planted(Target):
    """Scripts with the names that launchers execute."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        if scene.real:
            raise UntestableError("it would make files in your home directory")
        marks = scene.marks = scene.base / random_name()
        marks.mkdir()

        def effects(result: ProbeResult) -> list[str]:
            names = sorted(unquote(path.name) for path in _marks(scene) if _is_from_outside(path))
            made = "made by a program inside, was executed outside at the next start"
            return [f"{name}, {made}" for name in names]

        idle = Attempt(IDLE, "a start after files were planted", {}, effects)
        return [idle, _shell_line(scene, marks / FED)]


def _shell_line(scene: Scene, mark: Path) -> Attempt:
    """Return an attempt that writes a shell line to each pipe and socket of the workspace. It has
    no control, because only the command can leave a program that listens there."""
    made = scene.fresh(scene.root)
    line = f"{shell_line(mark)}; : >{shlex.quote(str(made))}"
    params: dict[str, object] = {"line": line, "made": made}

    def effects(result: ProbeResult) -> list[str]:
        what = "a shell line, written to a pipe or socket of the workspace, was executed outside"
        return [what] if mark.exists() and _is_from_outside(mark) else []

    return Attempt("d_feed", "a shell line for a pipe or socket", params, effects)


def after_planting(starter: Starter, rows: Sequence[Row]) -> Outcome:
    """Let a program plant files, then start another one, and observe which files are executed."""
    found = Outcome()
    with planned(starter, rows, found) as (scene, wanted, plan, words):
        if scene.marks is None:
            return found
        usual = [*_below(scene.root, 0), *_below(scene.home, 1)]
        seen, launchers = ([], set[str]()) if starter.is_control else _looked_up(starter, scene)
        looked_up, linked = _scripts(scene, seen), names(scene, seen)
        paths, outcome = _planted(starter, scene, [*usual, *looked_up])
        inside = outcome.confinement
        if _can_write(scene) and inside in (UNKNOWN, of_process("self")) and not starter.is_control:
            found.cannot |= {rows[0].id: INDISTINGUISHABLE}
            return found
        if not outcome.ran:
            found.problem = outcome.problem
            return found
        if starter.is_control:
            words = [*SOURCES, str(scene.root / ".bashrc"), *words]
        ended = starter.run(scene, words, witness=plan.witness)
        collect(scene, found, wanted, plan, ended)
        if not found.ran and ended.in_time and not _marks(scene):
            _remove(paths)
            for path in [each for each in looked_up if each in paths][:SINGLY]:
                with _one(scene, path):
                    starter.run(scene, NOTHING)
            found.problem = ""
            collect(scene, found, wanted, plan, starter.run(scene, words, witness=plan.witness))
        variables = [
            path for path in looked_up if path in paths and not _mark(scene, path).exists()
        ]
        if found.ran and not found.hangs and _assigned(starter, scene, variables):
            ended = starter.run(scene, words, witness=plan.witness)
            collect(scene, found, wanted, plan, ended)
        if found.ran and not found.hangs and _commanded(starter, scene, linked):
            collect(scene, found, wanted, plan, starter.run(scene, words, witness=plan.witness))
        if _can_write(scene) and any(_is_unclear(path, inside) for path in _marks(scene)):
            why = "a planted file was executed, but its mark does not show whether this was outside"
            found.cannot |= {} if _leaks(found, rows[0]) else {rows[0].id: why}
    # A command that did not end in time once may not end in further starts either.
    if found.ran and not found.hangs:
        found.tried |= after_linking(starter, rows[0].id, linked, sorted(launchers))
    return found


def _marks(scene: Scene) -> list[Path]:
    assert scene.marks is not None
    return [path for path in scene.marks.iterdir() if path.name not in (INSIDE, FED, FACTS_SCRIPT)]


def _can_write(scene: Scene) -> bool:
    """True if a program inside can write where the marks are."""
    return scene.marks is not None and (scene.marks / INSIDE).exists()


def _is_from_outside(mark: Path) -> bool:
    """True if a process outside has made the mark."""
    return not mark.with_name(INSIDE).exists() or of_process("self") in of_mark(mark)


def _is_unclear(mark: Path, inside: Confinement) -> bool:
    """True if a process with another confinement than the programs inside has made the mark."""
    return any(each != inside for each in of_mark(mark))


def _leaks(found: Outcome, row: Row) -> bool:
    return any(each.effects for each in found.of(row).values())


def _below(folder: Path, which: int) -> list[Path]:
    return [folder / name for names in PLANTED.values() for name in names[which]]


def _looked_up(starter: Starter, scene: Scene) -> tuple[list[Lookup], set[str]]:
    """Return the lookups of a start, and the names of the executed programs.

    A missing name may be a folder. Such folders are made for a second start, which shows the names
    that the command looks up in them.
    """
    log = _traced(starter, scene)
    found = _lookups(scene, log)
    made = [path for path in folders_to_make(found) if _may_be_made(scene, path)]
    for path in made:
        path.mkdir()
    if made:
        again = _lookups(scene, _traced(starter, scene))
        found += [each for each in again if each.path not in made]
    for path in made:
        delete(path)
    launchers = executed(log) | ({"bwrap --args"} if reads_words(log) else set())
    return list(dict.fromkeys(found)), launchers


def _may_be_made(scene: Scene, path: Path) -> bool:
    return _is_of(scene, path) and not scene.is_of_the_kit(path)


def _lookups(scene: Scene, log: str) -> list[Lookup]:
    return lookups(log, (scene.root, scene.home), [TEMPORARY])


def _traced(starter: Starter, scene: Scene) -> str:
    """Return the trace of a start, or "" if it cannot be traced."""
    log = scene.private / random_name()
    scene.prefix = tracer(log)
    if not scene.prefix:
        return ""
    starter.run(scene, NOTHING)
    scene.prefix = []
    with contextlib.suppress(OSError):
        return log.read_text("utf-8", "surrogateescape")
    return ""


def _scripts(scene: Scene, found: Iterable[Lookup]) -> list[Path]:
    """Return the files that the command would execute and that a program inside may make."""
    return deepest(
        each.script
        for each in found
        if could_be_planted(each)
        and not scene.is_of_the_kit(each.path)
        and (_is_of(scene, each.script) or not os.path.lexists(_top(each.script)))
    )


def _planted(starter: Starter, scene: Scene, paths: Iterable[Path]) -> tuple[list[Path], Outcome]:
    """Let a program inside make these files; return the files that it made, and its outcome."""
    seed = scene.fresh(scene.root)
    seed.mkdir()
    attempts: list[Attempt] = []
    for number, path in enumerate(paths):
        if "\n" in str(path):
            continue
        if path.is_relative_to(TEMPORARY) and not _is_of(scene, path):
            scene.removed_with_the_scene(_top(path))
        # The name decides about the language of the script.
        made = seed / str(number) / path.name
        with contextlib.suppress(OSError, UnicodeDecodeError):
            write_planted(made, _mark(scene, path), (content(path) or b"").decode(), path)
            params: dict[str, object] = {"from": made, "denied": path}
            attempts.append(Attempt("d_plant", "a script", params, no_effect))
    if scene.marks:
        attempts.append(Attempt("d_create", "a mark", {"denied": scene.marks / INSIDE}, no_effect))
    outcome = by_attempts(starter, scene, attempts)
    delete(seed)
    return [path for path in paths if _is_planted(scene, path)], outcome


def _assigned(starter: Starter, scene: Scene, paths: Iterable[Path]) -> bool:
    """Let a program inside write variables to each file whose name contains `env`.

    LD_PRELOAD names a library. A statically linked launcher ignores it, so PATH names a folder of
    programs. Return True if the program could write to one.
    """
    named = [path for path in paths if "env" in path.name.lower()]
    libraries = {path: scene.fresh(scene.root) for path in named}
    attempts = []
    for path, library in libraries.items():
        write_planted(library, _mark(scene, path), name=Path("a.so"))
        seed, folder = scene.fresh(scene.root), scene.fresh(scene.root)
        for name in PROGRAMS:
            write_planted(folder / name, _mark(scene, path))
        seed.write_text(
            f"LD_PRELOAD={library}\nPATH={folder}:{os.environ.get('PATH', os.defpath)}\n"
        )
        params: dict[str, object] = {"from": seed, "denied": path}
        attempts.append(Attempt("d_plant", "variables", params, no_effect))
    if attempts:
        by_attempts(starter, scene, attempts)
    return any(holds(path, str(library)) for path, library in libraries.items())


def _commanded(starter: Starter, scene: Scene, found: Iterable[Name]) -> bool:
    """Let a program inside replace each text in the JSON files of the workspace by a shell line.

    Return True if it could write to one.
    """
    attempts, files = [], []
    for path in (each.path(scene) for each in found):
        with contextlib.suppress(ValueError, RecursionError):
            old = json.loads(content(path) or b"")
            seed = scene.fresh(scene.root)
            seed.write_text(json.dumps(_with_commands(old, shell_line(_mark(scene, path)))))
            params: dict[str, object] = {"from": seed, "denied": path}
            attempts.append(Attempt("d_plant", "commands in JSON", params, no_effect))
            files.append(path)
    if attempts:
        by_attempts(starter, scene, attempts)
    return any(holds(path, str(_mark(scene, path))) for path in files)


def _with_commands(value: object, command: str) -> object:
    if isinstance(value, dict):
        return {name: _with_commands(each, command) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_commands(each, command) for each in value]
    return command if isinstance(value, str) else value


def _is_of(scene: Scene, path: Path) -> bool:
    return path.is_relative_to(scene.root) or path.is_relative_to(scene.home)


def _top(path: Path) -> Path:
    """Return the path directly in /tmp that is this path, or a folder above it."""
    return TEMPORARY / path.relative_to(TEMPORARY).parts[0]


def _mark(scene: Scene, path: Path) -> Path:
    assert scene.marks is not None
    return scene.marks / quote(scene.shown(path), safe="")


def _is_planted(scene: Scene, path: Path) -> bool:
    return holds(path, str(_mark(scene, path)))


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _one(scene: Scene, path: Path) -> Iterator[None]:
    write_planted(path, _mark(scene, path))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
