"""Codex: config.toml, with sandbox modes and permission profiles.

Written for Codex 0.13x on Linux, from its documentation "Configuration" and "Permissions" (as of
2026-11). sandbox_mode and permission profiles do not compose: with the first the second is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects.codex_files import read_files
from dialects.codex_permissions import profiles_of
from dialects.codex_requirements import Requirements, is_requirements, requirements_in
from dialects.codex_types import MODES, mistyped, unless_refused
from dialects.entries import ALL_OF_HOME, NO_SUCH_KEY, has_home, only_for_a_shell
from dialects.reading_toml import line_of, shown, tables

NAMES = ("codex",)
WRITTEN_FOR = "Codex 0.13x, 2026-11"
WORKSPACE = ("writable_roots", "network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp")
VARIABLES = (
    *("inherit", "exclude", "include_only", "set", "ignore_default_excludes"),
    "experimental_use_profile",
)
# Folders that stay read-only in a writable root.
KEPT = (".git", ".codex", ".agents")
NO_PROFILE = (
    "Codex 0.134 and later starts no program for this key: write the profile to"
    " NAME.config.toml beside this file, and pass --profile NAME"
)
# Settings without a meaning for the sandbox.
OTHERS = frozenset(
    {
        *("model", "model_provider", "model_providers", "model_reasoning_effort", "features"),
        *("approval_policy", "profile", "profiles", "mcp_servers", "projects", "tui", "history"),
        *("notify", "model_verbosity", "model_reasoning_summary", "review_model", "tools"),
        *("web_search", "personality", "file_opener", "hide_agent_reasoning", "otel", "skills"),
        *("analytics", "feedback", "project_doc_max_bytes", "project_doc_fallback_filenames"),
        *("cli_auth_credentials_store", "check_for_update_on_startup", "oss_provider", "hooks"),
        *("model_context_window", "disable_response_storage", "preferred_auth_method", "agents"),
        *("approvals_reviewer", "allow_login_shell", "plugins", "memories", "service_tier"),
    }
)
KNOWN = OTHERS | {
    *("sandbox_mode", "sandbox_workspace_write", "shell_environment_policy"),
    *("default_permissions", "permissions"),
}


def read(text: str, where: Where) -> list[Entry]:
    if is_requirements(where):
        limits = requirements_in(text, where)
        return limits.entries if isinstance(limits, Requirements) else [limits]
    found = tables(text)
    if isinstance(found, Entry):
        return [found]
    return unless_refused(text, found, _entries(text, found, where))


def read_all(files: Sequence[tuple[str, Where]]) -> list[list[Entry]]:
    return read_files(files, _entries)


def _entries(text: str, found: dict[str, Any], where: Where) -> list[Entry]:
    made = [
        Entry(line_of(text, name), name, shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        for name, value in found.items()
        if name not in KNOWN
    ]
    mode, chosen = found.get("sandbox_mode"), found.get("profile")
    if chosen is not None:
        made.append(
            Entry(line_of(text, "profile"), "profile", shown(chosen), Meaning.DEAD, NO_PROFILE)
        )
    profiles = found.get("profiles", {})
    known = isinstance(profiles, Mapping) and isinstance(chosen, str)
    profile = profiles.get(chosen) if known else None
    own = profile.get("sandbox_mode") if isinstance(profile, Mapping) else None
    if mode is not None and own is not None:
        line, why = line_of(text, "sandbox_mode"), f"the chosen profile {chosen} has another one"
        made.append(Entry(line, "sandbox_mode", shown(mode), Meaning.DEAD, why))
    else:
        made += _mode(text, "sandbox_mode", mode)
    made += _modes_of_profiles(text, profiles, chosen)
    mode = mode if own is None else own
    made += _workspace(text, found.get("sandbox_workspace_write", {}), mode, where)
    if found.get("approval_policy") == "never":
        line, why = line_of(text, "approval_policy"), "only the sandbox confines a program"
        made.append(Entry(line, "approval_policy", "never", Meaning.NOT_TESTABLE, why))
    made += _variables(text, found.get("shell_environment_policy", {}))
    made += profiles_of(text, found, mode)
    return made


def _modes_of_profiles(text: str, profiles: object, chosen: object) -> Iterator[Entry]:
    """Yield the entries of the older profiles, each of which replaces keys of the file."""
    if not isinstance(profiles, Mapping):
        yield mistyped(text, "profiles", profiles, "no table")
        return
    for name, profile in profiles.items():
        if not isinstance(profile, Mapping):
            yield mistyped(text, f"profiles.{name}", profile, "no table")
            continue
        if "sandbox_mode" not in profile:
            continue
        key = f"profiles.{name}.sandbox_mode"
        if name == chosen:
            yield from _mode(text, key, profile["sandbox_mode"])
        else:
            why = f"counts only with --profile {name}, and only before Codex 0.134"
            line = line_of(text, f"profiles.{name}", "sandbox_mode")
            yield Entry(line, key, shown(profile["sandbox_mode"]), Meaning.NOT_TESTABLE, why)


def _mode(text: str, key: str, mode: object) -> Iterator[Entry]:
    if mode is None:
        return
    line = line_of(text, *key.rsplit(".", 1))
    if mode not in MODES:
        yield mistyped(text, key, mode, f"none of {', '.join(MODES)}")
    elif mode == "danger-full-access":
        yield Entry(line, key, str(mode), Meaning.WIDER, "there is no sandbox at all")
    elif mode == "read-only":
        denied = (("deny-write", "notes.txt"), ("deny-write", "~/.bashrc"), ("no-network", ""))
        why = "no file can be written, no network"
        yield Entry(line, key, str(mode), Meaning.ENFORCED, why, denied)
    else:
        kept = tuple(("deny-write", f"{name}/") for name in KEPT)
        rules = (("allow-write", "src/"), ("deny-write", "~/.bashrc"), *kept)
        why = f"the workspace can be written, without {', '.join(KEPT)}"
        yield Entry(line, key, str(mode), Meaning.ENFORCED, why, rules)


def _workspace(text: str, table: object, mode: object, where: Where) -> Iterator[Entry]:
    key = "sandbox_workspace_write"
    if not isinstance(table, Mapping):
        yield mistyped(text, key, table, "no table")
        return
    active = mode == "workspace-write"
    off = f"has no effect without sandbox_mode = {MODES[1]!r}"
    for name, value in table.items():
        line = line_of(text, key, name)
        if name not in WORKSPACE:
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        elif name == "writable_roots":
            for each in value if isinstance(value, list) else [value]:
                line = line_of(text, key, str(each))
                yield _writable(line, f"{key}.{name}", each, "" if active else off, where)
        elif not isinstance(value, bool):
            yield mistyped(text, f"{key}.{name}", value, "neither true nor false")
        elif not active:
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.DEAD, off)
        elif name == "network_access" and value:
            why = "each program reaches all of the network, also services of this machine"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.WIDER, why)
        elif name == "network_access":
            rules = (("no-network", ""),)
            why = "no program reaches the network"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.ENFORCED, why, rules)
        else:
            why = "the temporary folder of the session"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.NOT_TESTABLE, why)
    if active and "network_access" not in table:
        why = "not set: no program reaches the network"
        rules = (("no-network", ""),)
        line = line_of(text, "sandbox_mode")
        yield Entry(line, f"{key}.network_access", "(not set)", Meaning.ENFORCED, why, rules)


def _writable(line: int, key: str, value: object, off: str, where: Where) -> Entry:
    if not isinstance(value, str) or not value:
        why = "is not a string; the whole file may be refused for it"
        return Entry(line, key, shown(value), Meaning.DEAD, why)
    if off:
        return Entry(line, key, value, Meaning.DEAD, off)
    if is_glob(value):
        return Entry(line, key, value, Meaning.DEAD, "a root is a folder, not a glob")
    rules = (("allow-write", value.rstrip("/") + "/"),)
    if shell := only_for_a_shell(value):
        return Entry(line, key, value, Meaning.DEAD, shell, rules)
    if not value.startswith(("/", "~")):
        why = f"is relative to the folder of the settings, {where.file.parent}: write it from / on"
        return Entry(line, key, value, Meaning.DEAD, why, rules)
    if has_home(value, where):
        return Entry(line, key, value, Meaning.WIDER, ALL_OF_HOME)
    return Entry(line, key, value, Meaning.ENFORCED, "can be written", rules)


def _variables(text: str, table: object) -> Iterator[Entry]:
    key = "shell_environment_policy"
    if not isinstance(table, Mapping):
        yield mistyped(text, key, table, "no table")
        return
    for name, value in table.items():
        line = line_of(text, key, name)
        if name not in VARIABLES:
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        elif name == "exclude":
            for each in value if isinstance(value, list) else [value]:
                line = line_of(text, key, str(each))
                yield _excluded(line, f"{key}.{name}", each, table.get("set"))
        elif name == "inherit" and value in ("none", "core"):
            given = table.get("set")
            named = isinstance(given, Mapping) and "GITHUB_TOKEN" in given
            rules = () if named else (("deny-env", "GITHUB_TOKEN"),)
            few = ", only a few such as HOME and PATH" if value == "core" else ""
            why = f"no variable of yours is given to programs{few}"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.ENFORCED, why, rules)
        elif name == "ignore_default_excludes" and value is True:
            why = "variables named KEY, SECRET or TOKEN are given to programs too"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.WIDER, why)
        else:
            why = "the variables that Codex itself gives to programs"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.NOT_TESTABLE, why)


def _excluded(line: int, key: str, value: object, given: object) -> Entry:
    if not isinstance(value, str) or not value:
        return Entry(line, key, shown(value), Meaning.DEAD, "is not a string")
    again = (
        [each for each in given if fnmatch(each.upper(), value.upper())]
        if isinstance(given, Mapping)
        else []
    )
    if again:
        why = f"`set` comes later and gives {again[0]}"
        return Entry(line, key, value, Meaning.NARROWER, why)
    name = value.replace("*", "X").replace("?", "X")
    why = "a variable with such a name is not given to programs"
    rules = (("deny-env", name),) if name.replace("_", "").isalnum() else ()
    return Entry(line, key, value, Meaning.ENFORCED, why, rules)
