"""Read the expectations of a user from options or a file, and make the rows that check them."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import tomllib
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.verify.below import files_below, new_files_below
from boxspec.verify.errors import UntestableError
from boxspec.verify.inherited import Inherited, PipedVariables
from boxspec.verify.known_secrets import SECRET_FILES
from boxspec.verify.limits import limit_of
from boxspec.verify.linking import Link
from boxspec.verify.paths import (
    Place,
    examples,
    expect_no_file_above,
    folders_above,
    is_folder,
    is_glob,
    link_target,
    place_of,
)
from boxspec.verify.proxies import Proxies
from boxspec.verify.reaching import INTERNET, Services
from boxspec.verify.reading import (
    Environments,
    OpenHostFile,
    ReadFile,
    ReadFolder,
    ReadLateFile,
    Variable,
)
from boxspec.verify.row import Row, Target
from boxspec.verify.rule import PATHS, Rule
from boxspec.verify.scene import NOTHING_THERE
from boxspec.verify.working import MayReach, MayWrite
from boxspec.verify.writing import (
    NewFile,
    NewHostFile,
    OpenHostFileToWrite,
    WriteFile,
    WriteFolder,
    WriteLateFile,
)

# The kinds of rules that take a value, each with a weight. Leaks with a greater weight are listed
# first.
KINDS = {
    "deny-read": 100,
    "deny-write": 90,
    "deny-env": 80,
    "allow-write": 40,
    "allow-host": 30,
    "limit": 45,
}
NO_NETWORK = "no-network"
DENIES = frozenset({"deny-read", "deny-write"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


@dataclass(frozen=True)
class Settings:
    """The content of a verify.toml."""

    rules: tuple[Rule, ...] = ()
    command: tuple[str, ...] = ()
    defaults: bool | None = None
    root: str = ""
    real_home: bool = False


def read_settings(path: Path) -> Settings:
    """Read a verify.toml; raise a UsageError that names the first entry of a wrong type."""
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except OSError as why:
        raise UsageError(str(path), f"cannot be read: {why.strerror}", "name a file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise UsageError(
            str(path), f"is not valid TOML: {why}", "see conformance/verify.md"
        ) from None
    known = {*KINDS, NO_NETWORK, "command", "defaults", "root", "real-home"}
    for name in raw:
        if name not in known:
            raise UsageError.unknown(str(path), "key", name, known, "conformance/verify.md")
    rules = []
    for kind in KINDS:
        for value in _words(path, kind, raw.get(kind, [])):
            rules.append(Rule(kind, value, f"{path.name}:{_line(text, value)}"))
    for name in (NO_NETWORK, "defaults", "real-home"):
        if not isinstance(raw.get(name, False), bool):
            raise UsageError(str(path), f"{name} is not true or false", "write it without quotes")
    if raw.get(NO_NETWORK):
        rules.append(Rule(NO_NETWORK, "", f"{path.name}:{_line(text, NO_NETWORK)}"))
    command = tuple(_words(path, "command", raw.get("command", [])))
    root = raw.get("root", "")
    if not isinstance(root, str):
        raise UsageError(str(path), "root is not a string", 'write root = "."')
    real = raw.get("real-home", False)
    return Settings(tuple(rules), command, raw.get("defaults"), root, real)


def is_value(value: object) -> bool:
    """True if a rule may have this value: a text of one line."""
    return isinstance(value, str) and value != "" and not {"\n", "\0"} & {*value}


def _words(path: Path, name: str, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise UsageError(str(path), f"{name} is not a list", f'write {name} = ["…"]')
    for number, each in enumerate(value, 1):
        if not is_value(each):
            problem = f"entry {number} of {name} is not a string of one line: {each!r}"
            raise UsageError(str(path), problem, "put it in quotes")
    return value


def _line(text: str, value: str) -> int:
    """Return the number of the first line with this value, or 1."""
    wanted = re.compile(rf"(?:^|[\"']){re.escape(value)}(?:[\"']|\s*=)")
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if wanted.search(line)), 1)


def rows_of(rules: Iterable[Rule], home: Path, cwd: Path) -> list[Row]:
    """Return a row for each rule, for a caller with this home and working directory."""
    shown = [rule.as_shown(home, cwd) for rule in rules]
    places = [Place("~", name) for name in SECRET_FILES]
    for rule in shown:
        with contextlib.suppress(UntestableError):
            places += [place_of(rule.value, home, cwd)] if rule.kind in PATHS else []
    folders = folders_above(places)
    return [_row_of(rule, home, cwd, folders) for rule in shown]


def _row_of(rule: Rule, home: Path, cwd: Path, folders: Container[Place]) -> Row:
    what = f"{rule.kind.replace('-', ' ')} {rule.value}".strip()
    allowed = rule.kind.startswith("allow-")
    row = Row(rule.id, what, KINDS.get(rule.kind, 70), rule.origin, rule.words, allowed=allowed)
    try:
        if rule.kind in PATHS:
            expect_no_file_above(place_of(rule.value, home, cwd), home, cwd)
        targets = tuple(_targets(rule, home, cwd, folders))
        absent = _absent(rule, home, cwd, folders)
    except UntestableError as why:
        return replace(row, cannot=str(why))
    if absent is None:
        return replace(row, targets=targets)
    place, target = absent
    return replace(row, targets=targets, absent=(place,), absent_targets=(target,))


def _absent(
    rule: Rule, home: Path, cwd: Path, folders: Container[Place]
) -> tuple[Place, Target] | None:
    """Return the place of a rule, and the target for a start in which the place does not exist.

    Return None for a rule with a glob.
    """
    if rule.kind not in DENIES:
        return None
    place = place_of(rule.value, home, cwd)
    if place.base == "/" or not place.rest or is_glob(place.rest):
        return None
    bare = Place(place.base, place.rest.rstrip("/"))
    if rule.kind == "deny-write":
        return bare, NewFile(bare)
    if is_folder(place, home, cwd, folders):
        return bare, ReadLateFile(Place(bare.base, f"{bare.rest}/{secrets.token_hex(4)}"))
    return bare, ReadLateFile(bare)


def _targets(rule: Rule, home: Path, cwd: Path, folders: Container[Place]) -> list[Target]:
    if rule.kind == NO_NETWORK:
        return [Services(tuple(INTERNET)), Proxies()]
    if rule.kind == "limit":
        return [limit_of(rule.value)]
    if rule.kind == "deny-env":
        if "=" in rule.value:
            raise UntestableError("the name of a variable has no =")
        return [Variable(rule.value), PipedVariables((rule.value,)), Environments(rule.value)]
    if rule.kind == "allow-host":
        return [MayReach(_port(rule.value))]
    made: list[Target] = []
    place = place_of(rule.value, home, cwd)
    found = examples(place)
    for each in found:
        folder = each.rest.endswith("/")
        if each == place:
            folder = is_folder(each, home, cwd, folders)
        made += _on_path(rule.kind, each, folder)
        if folder and each.base != "/":
            made += _below(rule.kind, each, home, cwd)
        target = link_target(each, home, cwd)
        if target is not None and rule.kind in DENIES:
            link, real, rest = target
            through = folder or link.rest != each.rest.rstrip("/")
            made += [Link(link, real, through), *_on_path(rule.kind, rest, folder)]
    if rule.kind in DENIES and is_glob(place.rest) and place.base != "/":
        # The rule also denies files that do not exist yet. But the example of a glob such as **/x
        # has no random name, so this file exists already.
        late = (ReadLateFile,) if rule.kind == "deny-read" else (WriteLateFile, NewFile)
        made += [target(each) for target in late for each in examples(place) if each not in found]
    return made


def _below(kind: str, place: Place, home: Path, cwd: Path) -> list[Target]:
    """Return the targets below a denied folder, because a command may open a part of it again."""
    if kind == "deny-read":
        return [ReadFile(each) for each in files_below(place, home, cwd)]
    if kind == "deny-write":
        return [NewFile(each) for each in new_files_below(place, home, cwd)]
    return []


def _on_path(kind: str, place: Place, folder: bool) -> list[Target]:
    if place.base == "/":
        return [_on_host(kind, Path("/") / place.rest)]
    if kind == "allow-write":
        return [MayWrite(place, folder)]
    inherited = Inherited((place,), writes=kind == "deny-write")
    if kind == "deny-read":
        return [ReadFolder(place) if folder else ReadFile(place, thorough=True), inherited]
    return [WriteFolder(place) if folder else WriteFile(place), inherited]


def _on_host(kind: str, path: Path) -> Target:
    """Return the target for a path outside the workspace and the home directory.

    An attempt only opens this file of the host, and never reads or writes it.
    """
    # Unlike Path.exists, this is False for a path that is too long.
    if not os.path.exists(path):  # noqa: PTH110
        raise UntestableError(NOTHING_THERE)
    if kind == "deny-read":
        if not os.access(path, os.R_OK):
            raise UntestableError("the caller cannot read it without the command either")
        return OpenHostFile(path)
    if not os.access(path, os.W_OK):
        raise UntestableError("the caller cannot write it without the command either")
    if path.is_dir():
        return NewHostFile(path)
    if kind == "allow-write":
        raise UntestableError("the kit writes only its own files, not those of the host")
    return OpenHostFileToWrite(path)


def _port(value: str) -> int:
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536 or not host:
        raise UsageError(f"--allow-host {value}", "is not a HOST:PORT", "write 127.0.0.1:8080")
    if host not in LOOPBACK:
        raise UntestableError("the kit connects to this machine only: 127.0.0.1")
    return int(port)
