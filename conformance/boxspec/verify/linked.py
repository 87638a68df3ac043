"""Links and lists that a program inside makes, and that the next start of the command follows.

A command may show a folder of the workspace at another path. If a program inside can replace this
folder by a link, the next start shows the target of the link. A command may also read, from a file
of the workspace, the names of folders to show.

1. A program inside uses files outside. A file that it can use without a link proves nothing.
2. It replaces each name that the command looks up by a link to one of these files.
3. In the next start a program tries again, at each path where a mount may show the file.
4. The same with files that contain the path of a folder outside, instead of links.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from boxspec.folders import remove
from boxspec.subject.observe.facts import content, holds
from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.lookups import Lookup
from boxspec.verify.outcome import Key, Outcome, Tried
from boxspec.verify.reading import leaks
from boxspec.verify.row import Attempt, no_effect
from boxspec.verify.scene import Scene
from boxspec.verify.starts import Starter, by_attempts

# If the command does not start with all links, this number of links is tried one by one.
SINGLY = 4
NOT_YET, LINKED = "will replace", "replaced by a link to a folder outside"
# The texts that a program inside writes to a file: the path of a folder, or options with which a
# launcher shows the folder. `{}` stands for the path.
PATH = "filled with the path of a folder outside"
OPTIONS = "filled with options that show a folder outside"
# These options, by the name of the launcher, from its documentation.
SHOW = {
    "ai-jail": "--rw-map {}",
    "bwrap": "--bind {} {}",
    # For bubblewrap with --args, which reads words that end with null bytes.
    "bwrap --args": "--bind\0{}\0{}\0",
    "codex": '-csandbox_mode=workspace-write -csandbox_workspace_write.writable_roots=["{}"]',
    "docker": "--volume={}:{}",
    "podman": "--volume={}:{}",
    "firejail": "--noblacklist={} --read-write={}",
    "hakoniwa": "--bindmount-rw={}:{}",
    "landlock-restrict": "-rw {}",
    "landrun": "--rw {}",
    "minijail0": "-b {},{},1",
    "nono": "--allow {}",
    "nsjail": "--bindmount {}:{}",
    "proot": "--bind={}",
    "sandlock": "-w {}",
    "srt": '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem":'
    ' {"denyRead": [], "allowWrite": ["{}"], "denyWrite": []}}',
    "syd": "-mallow/all+{}/***",
    "systemd-nspawn": "--bind={}",
}
# A missing path with such a name is usually a file.
FILE = re.compile(r"(rc|env|config|\.\w+)$")


@dataclass(frozen=True)
class Name:
    """A path that the command looks up, relative to the workspace or the home directory."""

    in_root: bool
    rest: Path
    is_file: bool

    def path(self, scene: Scene) -> Path:
        return (scene.root if self.in_root else scene.home) / self.rest


@dataclass(frozen=True)
class Target:
    """A link to make, and the file outside that a program could use by it."""

    path: Path
    to: Path
    file: Path
    token: str


def names(scene: Scene, found: Iterable[Lookup]) -> list[Name]:
    """Return the paths that a program inside may replace. The scene must be that of the lookups."""
    made: dict[Name, None] = {}
    for path in (each.path for each in found):
        in_root = path.is_relative_to(scene.root)
        base = scene.root if in_root else scene.home
        below = path.is_relative_to(base) and not scene.root.is_relative_to(path)
        odd = scene.is_of_the_kit(path) or path.is_symlink() or "\n" in str(path)
        if path == base or not below or odd:
            continue
        is_file = path.is_file() if path.exists() else bool(FILE.search(path.name))
        made[Name(in_root, path.relative_to(base), is_file)] = None
    # If a folder is replaced, the paths below it are too.
    return [each for each in made if not any(_is_below(each, other) for other in made)]


def _is_below(name: Name, other: Name) -> bool:
    return name.in_root == other.in_root and other.rest in name.rest.parents


def after_linking(
    starter: Starter, row: str, found: Iterable[Name], launchers: Iterable[str]
) -> dict[Key, Tried]:
    """Return attempts that have an effect outside only by means of a link or list that a program
    inside has made.

    launchers: the names of the programs that the command executes.
    """
    found = list(found)
    if not found:
        return {}
    with starter.scene([]) as (scene, _, _):
        targets = [_target(scene, each) for each in found]
        before = [use for each in targets for use in _uses(scene, each, NOT_YET)]
        first = _made(starter, scene, [*before, *(_relink(each) for each in targets)])
        used = {each.shown for each in first.tried.values() if each.effects}
        linked = [each for each in targets if _is_linked(each)]
        outcomes = _next_starts(starter, scene, linked, used, LINKED)
        for each in linked:
            _restore(each)
        lists = [each for each in targets if not each.path.is_dir()]
        texts = [(PATH, "{}"), *((OPTIONS, SHOW[each]) for each in launchers if each in SHOW)]
        for how, text in texts if lists else ():
            old = {each.path: content(each.path) for each in lists}
            if how == OPTIONS:
                lists = [each for each in lists if not _is_json(old[each.path])]
            _made(starter, scene, [_list(scene, each, text, old[each.path]) for each in lists])
            made = [each for each in lists if holds(each.path, str(each.file.parent))]
            outcomes += _next_starts(starter, scene, made, used, how)
            # With this content the command may be unable to start the next program.
            for each in made:
                _put_back(each.path, old[each.path])
    tried = [each for outcome in outcomes for each in outcome.tried.values() if each.effects]
    # Without the command these attempts are not made, so they only add leaks. The numbers of other
    # attempts are positive.
    return {(row, -number): each for number, each in enumerate(tried, 1)}


def _next_starts(
    starter: Starter, scene: Scene, made: Iterable[Target], used: Iterable[str], how: str
) -> list[Outcome]:
    """Start a program that uses the targets of these names.

    used: the attempts that work without the names.
    """
    uses = {
        each: [use for use in _uses(scene, each, how) if use.shown not in used] for each in made
    }
    if not any(uses.values()):
        return []
    attempts = [use for each in uses.values() for use in each]
    second = _made(starter, scene, [*attempts, _copies(scene, uses, used)])
    if second.ran:
        return [second]
    # One of the names may stop the launcher.
    outcomes = []
    # The command may have removed a link.
    left = [each for each in uses if os.path.lexists(each.path)]
    hidden = {each: each.path.with_name(f"{each.path.name}~~") for each in left}
    for each, away in hidden.items():
        each.path.rename(away)
    for each in left[:SINGLY]:
        hidden[each].rename(each.path)
        outcomes.append(_made(starter, scene, uses[each]))
        if os.path.lexists(each.path):
            each.path.rename(hidden[each])
    for each, away in hidden.items():
        if os.path.lexists(away):
            away.rename(each.path)
    return outcomes


def _copies(scene: Scene, made: Iterable[Target], used: Iterable[str]) -> Attempt:
    """Return an attempt that finds copies of the files to which the links lead.

    used: the attempts that work without the links.
    """
    hidden = {each.token: each for each in made if f"{scene.shown(each.file)} read" not in used}

    def effects(result: ProbeResult) -> list[str]:
        found: dict[str, None] = {}
        for token, _, path in (each.split(" ", 2) for each in result.leaked):
            target = hidden.get(token)
            if target and not scene.is_named_by_the_kit(path):
                link = f"{scene.shown(target.path)}, which a program inside {LINKED},"
                copy = scene.shown(Path(path))
                found[f"{link} was copied to {copy} at the next start"] = None
        return [*found]

    return Attempt("r_copies", "copies of files behind links", scene.searched, effects)


def _restore(target: Target) -> None:
    """Remove a link, and put the old file or folder in its place again."""
    # The command may have put a folder in the place of the link.
    remove(target.path)
    old = target.path.with_name(f"{target.path.name}~")
    if os.path.lexists(old):
        old.rename(target.path)


def _put_back(path: Path, old: bytes | None) -> None:
    remove(path)
    if old is not None:
        path.write_bytes(old)


def _list(scene: Scene, target: Target, text: str, old: bytes | None) -> Attempt:
    """Return an attempt that writes the text to the file, or adds the folder to each list of texts
    if the file contains JSON."""
    seed = scene.fresh(scene.root)
    folder = str(target.file.parent)
    with contextlib.suppress(ValueError, RecursionError):
        text = json.dumps(with_more(json.loads(old or b""), "{}"))
    end = "" if text.endswith("\0") else "\n"
    seed.write_text(f"{text.replace('{}', folder)}{end}")
    params: dict[str, object] = {"from": seed, "denied": target.path}
    return Attempt("d_plant", "a list", params, no_effect)


def _is_json(text: bytes | None) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        return isinstance(json.loads(text or b""), dict | list)
    return False


def with_more(value: object, more: str) -> object:
    """Return the JSON value with one more text in each list of texts.

    Members whose names contain `den`, such as `denyRead`, stay unchanged: they list what is denied.
    """
    if isinstance(value, dict):
        return {
            name: each if "den" in name.lower() else with_more(each, more)
            for name, each in value.items()
        }
    if isinstance(value, list):
        is_of_texts = all(isinstance(each, str) for each in value)
        return [*value, more] if is_of_texts else [with_more(each, more) for each in value]
    return value


def _target(scene: Scene, name: Name) -> Target:
    folder = scene.outside_folder()
    file = folder / secrets.token_hex(8)
    return Target(name.path(scene), file if name.is_file else folder, file, scene.decoy(file))


def _relink(target: Target) -> Attempt:
    params: dict[str, object] = {"denied": target.path, "target": target.to}
    return Attempt("d_relink", "a link", params, no_effect)


def _is_linked(target: Target) -> bool:
    return target.path.is_symlink() and target.path.readlink() == target.to


def _uses(scene: Scene, target: Target, how: str) -> list[Attempt]:
    via = target.path if target.to == target.file else target.path / target.file.name
    # Before the link exists, `via` may be a file that the command needs, which must stay unchanged.
    via = via if how == LINKED else target.file
    found = target.file.stat()
    file = f"{found.st_dev}:{found.st_ino}"
    params: dict[str, object] = {"path": target.file, "via": via, "name": target.file.name}
    shown = scene.shown(target.file)
    link = f"{scene.shown(target.path)}, which a program inside {how},"
    read = leaks(target.token, f"{link} showed it at the next start")
    written = f"{link} let the next start write it"
    return [
        Attempt("r_linked", f"{shown} read", {**params, "file": file}, read),
        Attempt(
            "w_linked",
            f"{shown} written",
            {**params, "file": file},
            lambda result: [written] if scene.changes(target.file.parent) else [],
        ),
    ]


def _made(starter: Starter, scene: Scene, attempts: Iterable[Attempt]) -> Outcome:
    """Make these attempts in one start. An effect of an earlier start does not count again."""
    scene.settle()
    return by_attempts(starter, scene, attempts)
