"""requirements.toml of Codex: limits of an administrator, which no other file can change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects.codex_types import MODES, mistyped
from dialects.entries import NO_SUCH_KEY, only_for_a_shell
from dialects.reading_toml import line_of, shown, tables

READ_ONLY, FULL = MODES[0], MODES[2]
MODES_ALLOWED, DENY_READ = "allowed_sandbox_modes", "deny_read"
# Requirements without a meaning for a sandbox of files and network, or about other requirements.
OTHERS = frozenset(
    {
        *("allowed_approval_policies", "allowed_approvals_reviewers", "allowed_web_search_modes"),
        *("allowed_permission_profiles", "default_permissions", "features", "feature_requirements"),
        *("mcp_servers", "hooks", "rules", "models", "remote_sandbox_config", "enforce_residency"),
        *("experimental_network", "guardian_policy_config", "plugins", "apps", "marketplaces"),
    }
)
NOTHING_WRITTEN = (("deny-write", "notes.txt"), ("deny-write", "~/.bashrc"), ("no-network", ""))


def is_requirements(where: Where) -> bool:
    return where.file.name == "requirements.toml"


@dataclass(frozen=True)
class Requirements:
    """The limits of one file.

    modes: the modes that it allows; None if it allows each one.
    denies: the line of the first path that cannot be read; 0 if there is none.
    """

    name: str
    entries: list[Entry]
    modes: tuple[str, ...] | None
    line_of_modes: int
    denies: int

    def limited(self, entry: Entry) -> Entry:
        """Return an entry of another file, dead if the limits do not allow it."""
        if entry.meaning is Meaning.DEAD or not entry.key.endswith("sandbox_mode"):
            return entry
        if self.modes is not None and entry.value not in self.modes:
            allowed = ", ".join(self.modes)
            why = f"{self.name}:{self.line_of_modes} allows only {allowed}, and Codex uses that"
            return replace(entry, meaning=Meaning.DEAD, why=why, rules=())
        if entry.value == FULL and self.denies:
            why = f"{self.name}:{self.denies} denies reading, so the sandbox stays on"
            return replace(entry, meaning=Meaning.DEAD, why=why, rules=())
        return entry


def requirements_in(text: str, where: Where) -> Requirements | Entry:
    """Return the limits in a file, or one entry that names the problem of its text."""
    found = tables(text)
    if isinstance(found, Entry):
        return found
    entries = [
        Entry(line_of(text, name), name, shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        for name, value in found.items()
        if name not in (*OTHERS, MODES_ALLOWED, "permissions")
    ]
    modes = found.get(MODES_ALLOWED)
    good = modes if isinstance(modes, list) else None
    entries += [] if modes is None else [_modes(text, modes)]
    permissions = found.get("permissions")
    files = permissions.get("filesystem") if isinstance(permissions, Mapping) else None
    paths = files.get(DENY_READ) if isinstance(files, Mapping) else None
    denied = [*_denied(text, paths, where)]
    held = [each.line for each in denied if each.meaning is not Meaning.DEAD]
    return Requirements(
        where.file.name,
        [*entries, *denied],
        None if good is None else tuple(map(str, good)),
        line_of(text, MODES_ALLOWED),
        min(held, default=0),
    )


def _modes(text: str, modes: Any) -> Entry:
    line = line_of(text, MODES_ALLOWED)
    if not isinstance(modes, list) or not all(isinstance(each, str) for each in modes):
        return mistyped(text, MODES_ALLOWED, modes, "no list of strings")
    unknown = [each for each in modes if each not in (*MODES, "external-sandbox")]
    if unknown:
        why = f"{unknown[0]} is none of {', '.join(MODES)}"
        return Entry(line, MODES_ALLOWED, shown(modes), Meaning.DEAD, why)
    if [*modes] == [READ_ONLY]:
        why = "no file can be written, no network"
        return Entry(line, MODES_ALLOWED, shown(modes), Meaning.ENFORCED, why, NOTHING_WRITTEN)
    if FULL in modes:
        why = "a program may run without a sandbox"
        return Entry(line, MODES_ALLOWED, shown(modes), Meaning.WIDER, why)
    why = "no program runs without a sandbox"
    rules = (("deny-write", "~/.bashrc"),)
    return Entry(line, MODES_ALLOWED, shown(modes), Meaning.ENFORCED, why, rules)


def _denied(text: str, paths: Any, where: Where) -> Iterator[Entry]:
    key = f"permissions.filesystem.{DENY_READ}"
    if paths is not None and not isinstance(paths, list):
        yield mistyped(text, key, paths, "no list")
        return
    for path in paths or ():
        line = line_of(text, DENY_READ, str(path))
        if not isinstance(path, str) or not path:
            yield Entry(line, key, shown(path), Meaning.DEAD, "is not a string")
            continue
        # A relative path belongs to the folder of the file.
        full = path if path.startswith(("/", "~")) else str(where.file.parent / path)
        rules = (("deny-read", full),)
        if shell := only_for_a_shell(path):
            yield Entry(line, key, path, Meaning.DEAD, shell, rules)
        elif is_glob(path):
            why = "the matches at the start are denied, later files are not"
            yield Entry(line, key, path, Meaning.NARROWER, why, rules)
        else:
            yield Entry(line, key, path, Meaning.ENFORCED, "cannot be read, in each mode", rules)
