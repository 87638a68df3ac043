"""sandbox-runtime (srt): the file of --settings, or ~/.srt-settings.json.

Written for @anthropic-ai/sandbox-runtime 0.0.5x on Linux, from the README of its repository (as of
2026-11): "Configuration", "Path Syntax (Linux)", "Unix Socket Settings". A file with an error is
refused as a whole, and srt then runs with its defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects.entries import (
    ALL_OF_HOME,
    MATCHES_MOST,
    NO_LIST,
    NO_SWITCH,
    NO_TEXT,
    boolean,
    covers,
    document,
    has_home,
    many,
    not_json,
    noted,
    of_now,
    only_for_a_shell,
    texts,
    unknown,
    without_subtree,
)
from dialects.reading_json import Node

NAMES = ("srt", "sandbox-runtime")
WRITTEN_FOR = "sandbox-runtime 0.0.5x, 2026-11"
FILESYSTEM = ("denyRead", "allowRead", "allowWrite", "denyWrite", "allowGitConfig")
NETWORK = (
    *("allowedDomains", "deniedDomains", "deniedDomainReasons", "allowUnixSockets"),
    *("allowAllUnixSockets", "allowLocalBinding", "httpProxyPort", "socksProxyPort", "mitmProxy"),
    *("parentProxy", "tlsTerminate", "allowMachLookup"),
)
OTHERS = (
    *("ignoreViolations", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "ripgrep"),
    *("allowAppleEvents", "mandatoryDenySearchDepth", "allowPty", "seccomp", "credentials"),
    *("windows", "javaAgentJarPath", "binShell", "$schema", "git", "bwrapPath", "socatPath"),
)
# Keys of a secret that count only with the mode "mask".
SECRET = (
    *("injectHosts", "extract", "onExtractNoMatch", "decode", "maskClaims", "maskDuplicates"),
    "sigv4",
)
NOTES = {
    "enableWeakerNestedSandbox": (
        Meaning.WIDER,
        "the sandbox has no /proc and user namespace of its own: weaker than usual",
    ),
    "enableWeakerNetworkIsolation": (Meaning.WIDER, "services of the system can be reached"),
    "allowAppleEvents": (Meaning.NOT_TESTABLE, "is for macOS"),
    "allowPty": (Meaning.NOT_TESTABLE, "is for macOS"),
}
FILE_NOTES = {
    "allowGitConfig": (Meaning.WIDER, ".git/config can be written: git runs programs it names"),
}
NETWORK_NOTES = {
    "allowLocalBinding": (Meaning.NOT_TESTABLE, "is for macOS"),
    "allowMachLookup": (Meaning.NOT_TESTABLE, "is for macOS"),
    "httpProxyPort": (Meaning.NOT_TESTABLE, "a proxy of yours decides about domains"),
    "socksProxyPort": (Meaning.NOT_TESTABLE, "a proxy of yours decides about domains"),
    "mitmProxy": (Meaning.NOT_TESTABLE, "a proxy of yours sees the requests"),
    "parentProxy": (Meaning.NOT_TESTABLE, "the proxy that reaches the internet"),
}
NO_DOMAIN = "is not a domain: write example.org or *.example.org"
HERE = ("localhost", "127.0.0.1", "[::1]", "*")
NEEDED = (
    *("network.allowedDomains", "network.deniedDomains"),
    *("filesystem.denyRead", "filesystem.allowWrite", "filesystem.denyWrite"),
)
WRONG = (NO_DOMAIN, NO_LIST, NO_TEXT, NO_SWITCH)
# The default settings deny no read and let no folder be written.
LOST = ("filesystem.denyRead", "filesystem.allowRead", "filesystem.allowWrite")


def read(text: str, where: Where) -> list[Entry]:
    found = document(text)
    if isinstance(found, Entry):
        return [found]
    made = _entries(found, where)
    refused = not_json(text) or _refused(found, made)
    if refused is None:
        return made
    why = f"srt refuses the file for line {refused.line}, and its defaults have no such rule"
    lost = [
        replace(each, meaning=Meaning.DEAD, why=why) if each.key in LOST else each for each in made
    ]
    return [refused, *lost] if refused not in made else lost


def _refused(found: Node, made: list[Entry]) -> Entry | None:
    """Return the entry for which srt refuses the whole file, or None."""
    for path in NEEDED:
        group, _, name = path.partition(".")
        holder = found.get(group)
        if holder is None or holder.get(name) is None:
            line = holder.line if holder else found.line
            return Entry(line, path, "(not set)", Meaning.DEAD, "is missing, and srt needs it")
    return next((each for each in made if each.why in WRONG), None)


def _entries(found: Node, where: Where) -> list[Entry]:
    made = [*unknown(found, ("filesystem", "network", *OTHERS))]
    made += noted(found, NOTES)
    filesystem, network = found.get("filesystem"), found.get("network")
    if filesystem is not None:
        made += unknown(filesystem, FILESYSTEM, "filesystem")
        made += rules_of_files(filesystem, where, "filesystem")
    made += [*unknown(network, NETWORK, "network")] if network is not None else []
    made += rules_of_network(network, found.line, "network")
    made += credentials(found.get("credentials"), "credentials")
    return made


def rules_of_files(node: Node, where: Where, key: str) -> list[Entry]:
    """Return the entries of the four lists of paths, and of the other keys."""
    made = [*noted(node, FILE_NOTES, key)]
    lists: dict[str, list[Node]] = {}
    for name in FILESYSTEM[:4]:
        lists[name], wrong = texts(node.get(name), f"{key}.{name}")
        made += wrong
    values = {name: [each.value for each in nodes] for name, nodes in lists.items()}
    for each in lists["denyRead"]:
        made.append(_deny_read(each, values, where, key))
    for each in lists["denyWrite"]:
        made.append(_deny_write(each, where, key))
    for each in lists["allowWrite"]:
        made.append(_allow_write(each, values, where, key))
    for each in lists["allowRead"]:
        why = "is read again inside a denied folder"
        made.append(Entry(each.line, f"{key}.allowRead", each.value, Meaning.ENFORCED, why))
    return made


def _deny_read(node: Node, values: dict[str, list[str]], where: Where, key: str) -> Entry:
    path = node.value
    rules = (("deny-read", path),)

    def made(meaning: Meaning, *whys: str) -> Entry:
        why = "; ".join(each for each in whys if each)
        return Entry(node.line, f"{key}.denyRead", path, meaning, why, rules)

    if shell := only_for_a_shell(path):
        return made(Meaning.DEAD, shell)
    if path in values["allowRead"]:
        return made(Meaning.DEAD, "allowRead names the same path and takes precedence")
    folder = without_subtree(path)
    again = [each for each in values["allowRead"] if covers(folder, each)]
    if is_glob(folder):
        number = many(path, where)
        if number > MATCHES_MOST:
            why = f"more than {MATCHES_MOST} files match: each is a word of the launcher's command"
            return made(Meaning.NARROWER, why, "the command may be too long to start")
        return made(Meaning.NARROWER, "the matches at the start are hidden, later files are not")
    now = of_now(folder, where)
    if again:
        return made(Meaning.NARROWER, f"allowRead opens {again[0]} again", now)
    if now.startswith("nothing"):
        return made(Meaning.NARROWER, now, "a path that is made after the start is not hidden")
    both = "denyWrite names it too: versions that mounted it again made it readable"
    writes = any(covers(each, path) for each in values["allowWrite"])
    vanish = "a write there succeeds inside and vanishes, because an empty folder hides it"
    return made(
        Meaning.ENFORCED,
        "no program reads it",
        now,
        both if path in values["denyWrite"] else vanish if writes else "",
    )


def _deny_write(node: Node, where: Where, key: str) -> Entry:
    path, rules = node.value, (("deny-write", node.value),)
    name = f"{key}.denyWrite"
    if shell := only_for_a_shell(path):
        return Entry(node.line, name, path, Meaning.DEAD, shell, rules)
    if is_glob(without_subtree(path)):
        why = "globs are skipped here on Linux: name the paths"
        return Entry(node.line, name, path, Meaning.DEAD, why, rules)
    now = of_now(without_subtree(path), where)
    why = "; ".join(each for each in ("no program changes it", now) if each)
    return Entry(node.line, name, path, Meaning.ENFORCED, why, rules)


def _allow_write(node: Node, values: dict[str, list[str]], where: Where, key: str) -> Entry:
    path, name = node.value, f"{key}.allowWrite"
    if shell := only_for_a_shell(path):
        return Entry(node.line, name, path, Meaning.DEAD, shell)
    if is_glob(without_subtree(path)):
        why = "globs are skipped here on Linux: name the folder"
        return Entry(node.line, name, path, Meaning.DEAD, why)
    folder = without_subtree(path)
    over = [each for each in values["denyWrite"] if covers(without_subtree(each), folder)]
    if over:
        why = f"denyWrite of {over[0]} takes precedence"
        return Entry(node.line, name, path, Meaning.DEAD, why)
    if has_home(folder, where):
        return Entry(node.line, name, path, Meaning.WIDER, ALL_OF_HOME)
    inside = [each for each in values["denyWrite"] if covers(folder, each)]
    meaning = Meaning.NARROWER if inside else Meaning.ENFORCED
    why = f"can be written, without {inside[0]}" if inside else "can be written"
    return Entry(node.line, name, path, meaning, why, (("allow-write", path),))


def credentials(node: Node | None, key: str) -> Iterator[Entry]:
    """Yield an entry for each variable and file that the programs do not get."""
    kinds = {"envVars": ("name", "deny-env"), "files": ("path", "deny-read")}
    yield from unknown(node, (*kinds, "allowPlaintextInject"), key) if node else ()
    for part, (name, kind) in kinds.items():
        found = node.get(part) if node else None
        if found is not None and not isinstance(found.value, list):
            yield Entry(found.line, f"{key}.{part}", found.shown, Meaning.DEAD, NO_LIST)
        for each in found.value if found is not None and isinstance(found.value, list) else ():
            yield from unknown(each, (name, "mode", *SECRET), f"{key}.{part}")
            value, mode = each.get(name), each.get("mode")
            meaning, why = Meaning.DEAD, f"needs a {name}, and a mode: deny or mask"
            rules: tuple[tuple[str, str], ...] = ()
            if value is None or not isinstance(value.value, str) or not value.value:
                value = each
            elif mode is not None and mode.value == "deny":
                meaning, why = Meaning.ENFORCED, "no program gets it"
                rules = ((kind, value.value),)
            elif mode is not None and mode.value == "mask":
                meaning, why = Meaning.NOT_TESTABLE, "programs get a placeholder in its place"
            shown = value.value if isinstance(value.value, str) else value.shown
            yield Entry(each.line, f"{key}.{part}", shown, meaning, why, rules)


def is_domain(word: str) -> bool:
    """True if a word is a domain that the settings may name."""
    host = _split(word)[0]
    name = host.removeprefix("*.")
    if "*" in name or any(mark in name for mark in ("://", "/", " ")):
        return False
    return host in HERE or host.startswith("[") or "." in name.strip(".")


def _split(word: str) -> tuple[str, str]:
    """Return the domain and the port of an entry; the port is "" for every port."""
    found = re.fullmatch(r"(.+):(\d+)", word)
    return (found[1], found[2]) if found else (word, "")


def _has_domain(wide: str, narrow: str) -> bool:
    """True if an entry matches all domains and ports that another one matches."""
    (name, port), (other, its_port) = _split(wide.lower()), _split(narrow.lower())
    same = other == name or name == "*" or (name.startswith("*.") and other.endswith(name[1:]))
    return same and port in ("", its_port)


def rules_of_network(node: Node | None, line: int, key: str) -> Iterator[Entry]:
    """Yield the entries of the network. A missing list allows no domain."""
    yield from noted(node, NETWORK_NOTES, key)
    known = {name: node.get(name) if node else None for name in NETWORK}
    allowed, wrong = texts(known["allowedDomains"], f"{key}.allowedDomains")
    yield from wrong
    for each in [each for each in allowed if not is_domain(each.value)]:
        allowed.remove(each)
        yield Entry(each.line, f"{key}.allowedDomains", each.value, Meaning.DEAD, NO_DOMAIN)
    denied, wrong_denied = texts(known["deniedDomains"], f"{key}.deniedDomains")
    for each in [*allowed]:
        over = [other.value for other in denied if _has_domain(other.value, each.value)]
        if over:
            allowed.remove(each)
            why = f"deniedDomains has {over[0]}, which takes precedence"
            yield Entry(each.line, f"{key}.allowedDomains", each.value, Meaning.DEAD, why)
    local = any(each.value.rsplit(":", 1)[0] in HERE or each.value in HERE for each in allowed)
    rules = () if local else (("no-network", ""),)
    listed = known["allowedDomains"]
    at = listed.line if listed else line
    why = "services of this machine are not reached, except by the proxies for allowed domains"
    shown = ", ".join(each.value for each in allowed) or "(no domain)"
    meaning = Meaning.NOT_TESTABLE if local else Meaning.ENFORCED
    yield Entry(at, f"{key}.allowedDomains", shown, meaning, why, rules)
    yield from wrong_denied
    for each in denied:
        right = is_domain(each.value) or _split(each.value)[0] == "*"
        why = "a domain of the internet: the kit reaches this machine only" if right else NO_DOMAIN
        meaning = Meaning.NOT_TESTABLE if right else Meaning.DEAD
        yield Entry(each.line, f"{key}.deniedDomains", each.value, meaning, why)
    sockets, wrong = texts(known["allowUnixSockets"], f"{key}.allowUnixSockets")
    yield from wrong
    for each in sockets:
        why = "is ignored on Linux: a filter of system calls does not see paths"
        yield Entry(each.line, f"{key}.allowUnixSockets", each.value, Meaning.DEAD, why)
    every, wrong = boolean(known["allowAllUnixSockets"], f"{key}.allowAllUnixSockets")
    yield from wrong
    if every:
        why = "Unix sockets are not filtered at all"
        line = known["allowAllUnixSockets"].line  # type: ignore[union-attr]
        yield Entry(line, f"{key}.allowAllUnixSockets", "true", Meaning.WIDER, why)
