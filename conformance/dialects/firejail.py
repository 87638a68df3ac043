"""firejail: a profile.

Written for firejail 0.9.72, from firejail-profile(5) (as of 2026-11). Commands are carried out in
their order; globs are expanded when the sandbox starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from boxspec.verify.known_secrets import PRIVATE_FOLDERS, SECRET_FILES
from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects.entries import NO_ROW, covers, of_now

NAMES = ("firejail",)
WRITTEN_FOR = "firejail 0.9.72, 2026-11"
PATHS = {"blacklist": "deny-read", "blacklist-nolog": "deny-read", "read-only": "deny-write"}
ALLOWS = ("read-write", "whitelist", "whitelist-ro", "noblacklist", "nowhitelist")
LIMITS = {
    "rlimit-nofile": "open-files",
    "rlimit-fsize": "file-size",
    "rlimit-nproc": "processes",
    "rlimit-as": "memory",
}
# Commands with an effect that no expectation can name.
_OTHERS = """apparmor bind caps caps.drop caps.keep cgroup cpu dbus-system
    dbus-system.call dbus-system.own dbus-system.talk dbus-user dbus-user.broadcast dbus-user.call
    dbus-user.own dbus-user.see dbus-user.talk deterministic-exit-code deterministic-shutdown
    disable-mnt dns defaultgw env hostname hosts-file iprange ip ip6 ipc-namespace
    join-or-start keep-config-pulse keep-shell-rc mac machine-id
    memory-deny-write-execute mkdir mkfile mtu name net netfilter netfilter6 netlock netmask
    netns nice no3d noautopulse nodbus nodvd noexec nogroups noinput nonewprivs noprinters noroot
    nosound notpm notv nou2f novideo oom overlay overlay-named overlay-tmpfs private-bin
    private-cache private-cwd private-dev private-etc private-lib private-opt
    private-srv private-tmp protocol quiet restrict-namespaces rlimit-cpu rlimit-sigpending
    seccomp seccomp.32 seccomp.32.drop seccomp.32.keep seccomp.block-secondary seccomp.drop
    seccomp.keep shell tab timeout tmpfs tracelog veth-name x11
    xephyr-screen"""
INSTALLED = Path("/etc/firejail")
# Commands that open what firejail closes by default.
OPENS = {
    "allow-debuggers": "programs can trace each other",
    "allusers": "the home directories of other users are there",
    "keep-dev-shm": "the shared memory of the host is there",
    "keep-fd": "open files of the caller stay open",
    "keep-var-tmp": "/var/tmp of the host is there",
    "writable-etc": "root can change /etc",
    "writable-run-user": "sockets of the user's services are there",
    "writable-var": "files of /var can be changed",
    "writable-var-log": "logs of the host can be changed",
}
OTHERS = frozenset(_OTHERS.split())
MACRO = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Command:
    """One line: a command and its words. condition: a condition before the command, such as
    ?HAS_NET."""

    line: int
    name: str
    value: str
    condition: str = ""


def read(text: str, where: Where) -> list[Entry]:
    commands = list(_commands(text))
    ignored = [each.value for each in commands if each.name == "ignore"]
    made: list[Entry] = []
    for number, command in enumerate(commands):
        for entry in _meaning(command, commands[:number], commands[number + 1 :], where):
            whole = f"{command.name} {command.value}".strip()
            named = [each for each in ignored if whole == each or whole.startswith(f"{each} ")]
            if command.name != "ignore" and named:
                entry = replace(entry, meaning=Meaning.DEAD, why=f"`ignore {named[0]}` disables it")
            elif command.condition:
                why = f"only if {command.condition} holds: {entry.why}"
                entry = replace(entry, meaning=Meaning.NARROWER, why=why)
            made.append(entry)
    return made


def _commands(text: str) -> Iterator[Command]:
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.partition("#")[0].strip()
        condition = ""
        if plain.startswith("?"):
            condition, _, plain = plain.partition(":")
            plain = plain.strip()
        if plain:
            name, _, value = plain.partition(" ")
            yield Command(number, name, value.strip(), condition)


def _path(value: str) -> str | None:
    """Return the path in the words of a rule; None if it has a macro other than ${HOME}."""
    value = re.sub(r"^\$\{HOME\}", "~", value)
    return None if MACRO.search(value) else value


def _meaning(
    command: Command, earlier: list[Command], later: list[Command], where: Where
) -> Iterator[Entry]:
    name, value = command.name, command.value

    def made(meaning: Meaning, why: str, *rules: tuple[str, str]) -> Entry:
        return Entry(command.line, name, value, meaning, why, rules)

    if name in PATHS or name in ALLOWS:
        yield _on_path(command, earlier, later, where)
    elif name == "net" and value == "none":
        yield made(Meaning.ENFORCED, "no network but a loopback of its own", ("no-network", ""))
    elif name in ("private", "private-home"):
        yield _new_home(command)
    elif name == "protocol" and not {*value.replace(" ", "").split(",")} & {"inet", "inet6"}:
        yield made(Meaning.ENFORCED, "no TCP or UDP socket can be made", ("no-network", ""))
    elif name == "rmenv":
        yield made(Meaning.ENFORCED, "no program gets it", ("deny-env", value))
    elif name in LIMITS:
        limit = f"{LIMITS[name]}={value}"
        right = value.isdecimal()
        why = "no program uses more" if right else "is not a number"
        rules = [("limit", limit)] if right else []
        yield made(Meaning.ENFORCED if right else Meaning.DEAD, why, *rules)
    elif name == "include":
        yield _on_include(command, where)
    elif name == "ignore":
        yield made(Meaning.WIDER, "turns the command off, also in included profiles")
    elif name == "net":
        why = "a network of its own with this interface of the host; `none` closes the network"
        yield made(Meaning.WIDER, why)
    elif name in OPENS:
        yield made(Meaning.WIDER, OPENS[name])
    elif name in OTHERS:
        yield made(Meaning.ENFORCED, NO_ROW)
    else:
        yield made(Meaning.UNKNOWN, "firejail-profile(5) names no such command")


def _new_home(command: Command) -> Entry:
    """Explain `private` and `private-home`: inside, the home directory is another one."""

    def made(meaning: Meaning, why: str, *rules: tuple[str, str]) -> Entry:
        return Entry(command.line, command.name, command.value, meaning, why, rules)

    hidden = ("deny-read", "~/.ssh")
    if command.name == "private-home":
        copied = [each.strip().rstrip("/") for each in command.value.split(",")]
        secret = [each for each in copied if each in PRIVATE_FOLDERS or each in SECRET_FILES]
        if secret:
            why = f"the home directory is new, and {secret[0]} is copied to it"
            return made(Meaning.WIDER, why, *([hidden] if ".ssh" not in copied else []))
        return made(Meaning.ENFORCED, "the home directory has only copies of these files", hidden)
    path = _path(command.value)
    if path and path.rstrip("/") == "~":
        return made(Meaning.WIDER, "names the home directory itself: nothing of it is hidden")
    what = f"is new, and {command.value} is in its place" if command.value else "is new"
    return made(Meaning.ENFORCED, f"the home directory {what}", hidden)


def _matches(pattern: str | None, path: str) -> bool:
    """True if a path matches a glob, in which * matches no slash."""
    parts, names = (pattern or "").split("/"), path.split("/")
    same = len(parts) == len(names)
    return same and all(fnmatchcase(name, part) for part, name in zip(parts, names, strict=True))


def _on_include(command: Command, where: Where) -> Entry:
    folders = (where.file.parent, where.home / ".config/firejail", INSTALLED)
    name = command.value

    def made(meaning: Meaning, why: str) -> Entry:
        return Entry(command.line, command.name, name, meaning, why)

    try:
        found = any((folder / name).exists() for folder in folders)
    except (OSError, ValueError):
        found = False
    # A file .local is optional. A macro is a folder that firejail chooses.
    is_sure = INSTALLED.is_dir() and not name.endswith(".local") and "$" not in name
    if not found and is_sure:
        return made(Meaning.DEAD, "no such profile is here: firejail does not start")
    return made(Meaning.NOT_TESTABLE, "the included profile is not read here")


def _exception(command: Command, path: str, earlier: list[Command], later: list[Command]) -> Entry:
    """noblacklist: an exception from the blacklist commands that follow."""
    before = [each for each in earlier if each.name == "blacklist" and _path(each.value) == path]
    after = [each for each in later if each.name in ("blacklist", "include")]
    if before and not after:
        why = f"excepts nothing: the blacklist in line {before[0].line} comes before it"
        return Entry(command.line, command.name, command.value, Meaning.DEAD, why)
    why = "an exception from other commands"
    return Entry(command.line, command.name, command.value, Meaning.NOT_TESTABLE, why)


def _whitelist(command: Command, path: str, others: list[Command]) -> Entry:
    """Explain `whitelist`: inside, the home directory contains only the paths of these commands."""
    if path in ("~", "~/"):
        why = "names all of the home directory: nothing of it is hidden"
        return Entry(command.line, command.name, command.value, Meaning.WIDER, why)
    shown = [_path(each.value) for each in others if each.name.startswith("whitelist")]
    hides = not any(covers(each, "~/.ssh") for each in (path, *shown) if each)
    rules = (("deny-read", "~/.ssh"),) if hides else ()
    why = "of the home directory only the paths of whitelist commands are there"
    return Entry(command.line, command.name, command.value, Meaning.ENFORCED, why, rules)


def _on_path(command: Command, earlier: list[Command], later: list[Command], where: Where) -> Entry:
    name, value = command.name, command.value

    def made(meaning: Meaning, why: str, *rules: tuple[str, str]) -> Entry:
        return Entry(command.line, name, value, meaning, why, rules)

    path = _path(value)
    if re.search(r"\s(/|~/|\$\{\w+\})", value):
        return made(Meaning.DEAD, "a command takes one path: write one line for each")
    if value.startswith(("'", '"')):
        return made(Meaning.DEAD, "the quotes are a part of the path: leave them out")
    if path is None:
        return made(Meaning.NOT_TESTABLE, "a folder that firejail chooses")
    if not path.startswith(("/", "~")):
        return made(Meaning.DEAD, "is not an absolute path: write ${HOME}/… or /…")
    if name == "noblacklist":
        return _exception(command, path, earlier, later)
    private = next((each for each in [*earlier, *later] if each.name == "private"), None)
    if name in ("whitelist", "whitelist-ro") and covers("~", path) and private:
        return made(Meaning.DEAD, f"`private` in line {private.line} gives a new home directory")
    if name in ("whitelist", "whitelist-ro") and covers("~", path):
        return _whitelist(command, path, [*earlier, *later])
    if name in ALLOWS:
        rules = [("allow-write", path)] if name == "read-write" and not is_glob(path) else []
        why = "an exception from other commands"
        for each in later if name == "read-write" else []:
            target = _path(each.value)
            if each.name == "read-only" and target and covers(target, path):
                return made(Meaning.DEAD, f"read-only in line {each.line} undoes it", *rules)
        return made(Meaning.ENFORCED if rules else Meaning.NOT_TESTABLE, why, *rules)
    rule = (PATHS[name], path)
    if rule[0] == "deny-read":
        for each in earlier:
            if each.name == "noblacklist" and _matches(_path(each.value), path):
                return made(Meaning.DEAD, f"noblacklist in line {each.line} excepts it", rule)
    else:
        for each in later:
            target = _path(each.value)
            if each.name == "read-write" and target and covers(target, path):
                return made(Meaning.DEAD, f"read-write in line {each.line} undoes it", rule)
            if each.name == "read-write" and target and covers(path, target):
                why = f"without {each.value}, by read-write in line {each.line}"
                return made(Meaning.NARROWER, why, rule)
    if is_glob(path):
        why = "the matches at the start are covered, later files are not"
        if "**" in path:
            why = f"** is * in glob(7): one folder deep; {why}"
        return made(Meaning.NARROWER, why, rule)
    now = of_now(path, where)
    if now.startswith("nothing"):
        return made(Meaning.NARROWER, f"{now}; a path that is made later is not covered", rule)
    what = "no program reads it" if rule[0] == "deny-read" else "no program changes it"
    return made(Meaning.ENFORCED, f"{what}; {now}".rstrip("; "), rule)
