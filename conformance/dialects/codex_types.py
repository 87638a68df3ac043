"""The types of the keys in config.toml of Codex. Codex starts no program if one value has another
type. Each kind of error below was tried with Codex 0.171."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from boxspec.verify.meaning import Entry, Meaning
from dialects.reading_toml import line_of, shown

MODES = ("read-only", "workspace-write", "danger-full-access")
TEXT, SWITCH, TEXTS = "a string", "true or false", "a list of strings"
# A key named * stands for each key of a table.
ANY = "*"
TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("model", "model_provider", "profile", "default_permissions"), TEXT),
    "sandbox_mode": MODES,
    "notify": TEXTS,
    "sandbox_workspace_write": {
        "writable_roots": TEXTS,
        **dict.fromkeys(("network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp"), SWITCH),
    },
    "shell_environment_policy": {
        "inherit": ("all", "core", "none"),
        **dict.fromkeys(("exclude", "include_only"), TEXTS),
        **dict.fromkeys(("ignore_default_excludes", "experimental_use_profile"), SWITCH),
        "set": {ANY: TEXT},
    },
    "mcp_servers": {ANY: {"command": TEXT, "args": TEXTS, "env": {ANY: TEXT}, "url": TEXT}},
    "history": {"persistence": ("save-all", "none")},
}
POLICIES = ("untrusted", "on-failure", "on-request", "granular", "never")


def mistyped(text: str, key: str, value: object, wanted: str) -> Entry:
    line = line_of(text, key.rpartition(".")[2])
    return Entry(line, key, shown(value), Meaning.DEAD, f"is {wanted}")


def refusal(text: str, found: Mapping[str, Any]) -> Entry | None:
    """Return an entry for the first value for which Codex refuses the file."""
    wrong = _wrong_type(found)
    if wrong is None:
        return None
    path, value, wanted = wrong
    line, key = line_of(text, *path), ".".join(path)
    why = f"is not {wanted}: Codex starts no program, and no rule of the file counts"
    return Entry(line, key, shown(value), Meaning.DEAD, why)


def unless_refused(text: str, found: Mapping[str, Any], made: list[Entry]) -> list[Entry]:
    """Return the entries of a file, all of them dead if Codex refuses the file."""
    first = refusal(text, found)
    if first is None:
        return made
    problem = first.why.partition(":")[0]
    off = f"{first.key} in line {first.line} {problem}, so Codex starts no program"
    others = [each for each in made if (each.key, each.value) != (first.key, first.value)]
    return [
        first,
        *(
            each if each.meaning is Meaning.DEAD else replace(each, meaning=Meaning.DEAD, why=off)
            for each in others
        ),
    ]


def _wrong_type(found: Mapping[str, Any]) -> tuple[tuple[str, ...], Any, str] | None:
    """Return the first key with a value of a wrong type, the value, and the right type."""
    policy = found.get("approval_policy", POLICIES[0])
    if policy not in POLICIES and not isinstance(policy, Mapping):
        return ("approval_policy",), policy, f"one of {', '.join(POLICIES)}"
    return _wrong(found, TYPES, ())


def _wrong(
    found: Mapping[str, Any], types: Mapping[str, Any], at: tuple[str, ...]
) -> tuple[tuple[str, ...], Any, str] | None:
    for name, value in found.items():
        wanted, path = types.get(name, types.get(ANY)), (*at, name)
        if isinstance(wanted, Mapping):
            if not isinstance(value, Mapping):
                return path, value, "a table"
            if below := _wrong(value, wanted, path):
                return below
        elif isinstance(wanted, tuple) and value not in wanted:
            return path, value, f"one of {', '.join(wanted)}"
        elif isinstance(wanted, str) and not _is(value, wanted):
            return path, value, wanted
    return None


def _is(value: Any, wanted: str) -> bool:
    if wanted == TEXTS:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, bool if wanted == SWITCH else str)
