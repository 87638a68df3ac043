"""Codex: config.toml, with sandbox modes and permission profiles.

Written for Codex 0.13x on Linux, from its documentation "Configuration" and "Permissions" (as of
2026-11). sandbox_mode and permission profiles do not compose: with the first the second is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects.codex_types import MODES, unless_refused
from dialects.entries import ALL_OF_HOME, NO_SUCH_KEY, covers, has_home, only_for_a_shell
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
ROOTS = ":workspace_roots"
ACCESS = ("read", "write", "deny", "none")
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
    found = tables(text)
    if isinstance(found, Entry):
        return [found]
    return unless_refused(text, found, _entries(text, found, where))


def _entries(text: str, found: dict[str, Any], where: Where) -> list[Entry]:
    made = [
        Entry(line_of(text, name), name, shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        for name, value in found.items()
        if name not in KNOWN
    ]
    mode, chosen = found.get("sandbox_mode"), found.get("profile")
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
    made += _profiles(text, found, mode)
    return made


def _wrong(text: str, key: str, value: object, wanted: str) -> Entry:
    line = line_of(text, key.rpartition(".")[2])
    return Entry(line, key, shown(value), Meaning.DEAD, f"is {wanted}")


def _modes_of_profiles(text: str, profiles: object, chosen: object) -> Iterator[Entry]:
    """Yield the entries of the older profiles, each of which replaces keys of the file."""
    if not isinstance(profiles, Mapping):
        yield _wrong(text, "profiles", profiles, "no table")
        return
    for name, profile in profiles.items():
        if not isinstance(profile, Mapping):
            yield _wrong(text, f"profiles.{name}", profile, "no table")
            continue
        if "sandbox_mode" not in profile:
            continue
        key = f"profiles.{name}.sandbox_mode"
        if name == chosen:
            yield from _mode(text, key, profile["sandbox_mode"])
        else:
            why = f"counts only with --profile {name}"
            line = line_of(text, f"profiles.{name}", "sandbox_mode")
            yield Entry(line, key, shown(profile["sandbox_mode"]), Meaning.NOT_TESTABLE, why)


def _mode(text: str, key: str, mode: object) -> Iterator[Entry]:
    if mode is None:
        return
    line = line_of(text, *key.rsplit(".", 1))
    if mode not in MODES:
        yield _wrong(text, key, mode, f"none of {', '.join(MODES)}")
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
        yield _wrong(text, key, table, "no table")
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
            yield _wrong(text, f"{key}.{name}", value, "neither true nor false")
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
        yield _wrong(text, key, table, "no table")
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


def _profiles(text: str, found: Mapping[str, Any], mode: object) -> Iterator[Entry]:
    profiles, chosen = found.get("permissions", {}), found.get("default_permissions")
    if not isinstance(profiles, Mapping):
        yield _wrong(text, "permissions", profiles, "no table")
        return
    ignored = "sandbox_mode is set, so permission profiles are ignored"
    built_in = _is_built_in(chosen)
    if chosen is not None and (mode is not None or not (built_in or _is_in(profiles, chosen))):
        line = line_of(text, "default_permissions")
        why = f"the file has no profile {shown(chosen)}" if mode is None else ignored
        yield Entry(line, "default_permissions", shown(chosen), Meaning.DEAD, why)
    proxy = found.get("features")
    proxied = isinstance(proxy, Mapping) and proxy.get("network_proxy") is True
    chain = _chain(profiles, chosen)
    for name, profile in profiles.items():
        why = ""
        if mode is not None:
            why = ignored
        elif name not in chain:
            why = f"default_permissions does not choose the profile {name}"
        children = [profiles[each] for each in chain[: chain.index(name)]] if not why else []
        parent = profile.get("extends") if isinstance(profile, Mapping) else None
        if parent is not None and not (_is_in(profiles, parent) or _is_built_in(parent)):
            line, key = line_of(text, name, "extends"), f"permissions.{name}.extends"
            gone = f"there is no such profile: Codex refuses the file, and {name} with it"
            yield Entry(line, key, shown(parent), Meaning.DEAD, gone)
        for entry in _profile(text, name, profile, why, proxied):
            over = next((each for each in children if _replaces(each, entry)), None)
            why_not = "a profile that extends this one has the same path, and counts"
            yield replace(entry, meaning=Meaning.DEAD, why=why_not) if over else entry


def _is_built_in(name: object) -> bool:
    return isinstance(name, str) and name.startswith(":")


def _chain(profiles: Mapping[str, Any], chosen: object) -> list[str]:
    """Return the chosen profile and those that it extends, each after its child."""
    made: list[str] = []
    while isinstance(chosen, str) and chosen in profiles and chosen not in made:
        made.append(chosen)
        profile = profiles[chosen]
        chosen = profile.get("extends") if isinstance(profile, Mapping) else None
    return made


def _replaces(child: object, entry: Entry) -> bool:
    """True if a child has another access for the path of an entry of its parent."""
    files = child.get("filesystem") if isinstance(child, Mapping) else None
    if not isinstance(files, Mapping) or ".filesystem" not in entry.key:
        return False
    base, path = entry.key.partition(".filesystem")[2].lstrip("."), entry.value.partition(" = ")[0]
    table = files.get(base) if base else files
    short = path.removeprefix(f"{base}/") if base != ROOTS else path
    return isinstance(table, Mapping) and short in table


def _is_in(table: Mapping[str, Any], name: object) -> bool:
    return isinstance(name, str) and name in table


def _profile(text: str, name: str, profile: object, off: str, proxied: bool) -> Iterator[Entry]:
    key = f"permissions.{name}"
    if not isinstance(profile, Mapping):
        yield _wrong(text, key, profile, "no table")
        return
    for part, value in profile.items():
        line = line_of(text, name, part)
        if part == "filesystem" and isinstance(value, Mapping):
            again = _readable(value)
            for path, access in value.items():
                yield from _path(text, f"{key}.filesystem", path, access, off, again)
        elif part == "network" and isinstance(value, Mapping):
            yield from _network(text, f"{key}.network", value, off, proxied)
        elif part not in ("extends", "description", "workspace_roots", "filesystem", "network"):
            yield Entry(line, f"{key}.{part}", shown(value), Meaning.UNKNOWN, NO_SUCH_KEY)
        elif part in ("filesystem", "network"):
            yield Entry(line, f"{key}.{part}", shown(value), Meaning.DEAD, "is not a table")


def _readable(table: Mapping[str, Any]) -> list[str]:
    """Return the paths that a profile lets programs read."""
    made = [path for path, access in table.items() if access in ("read", "write")]
    for base, inside in table.items():
        start = "" if base == ROOTS else f"{base}/"
        if isinstance(inside, Mapping):
            made += [f"{start}{path}" for path in _readable(inside)]
    return made


def _path(
    text: str, key: str, path: str, access: object, off: str, again: list[str]
) -> Iterator[Entry]:
    if isinstance(access, Mapping):
        for inside, each in access.items():
            base = "" if path == ROOTS else f"{path}/"
            yield from _path(text, f"{key}.{path}", f"{base}{inside}", each, off, again)
        return
    line = line_of(text, "filesystem", path.rpartition("/")[2] or path)
    if path == "glob_scan_max_depth":
        why = "how deep globs are expanded; deeper matches are not denied"
        yield Entry(line, key, f"{path} = {shown(access)}", Meaning.NARROWER, why)
        return
    value = f"{path} = {shown(access)}"
    if access not in ACCESS:
        yield Entry(line, key, value, Meaning.DEAD, f"the access is not one of {', '.join(ACCESS)}")
        return
    kinds = {"deny": "deny-read", "none": "deny-read", "read": "deny-write", "write": "allow-write"}
    rules = () if path.startswith(":") else ((kinds[str(access)], path),)
    if off:
        yield Entry(line, key, value, Meaning.DEAD, off, rules if access == "deny" else ())
    elif path.startswith(":"):
        yield Entry(line, key, value, Meaning.NOT_TESTABLE, "a set of folders that Codex chooses")
    elif shell := only_for_a_shell(path):
        yield Entry(line, key, value, Meaning.DEAD, shell, rules)
    elif key.endswith(ROOTS) and (path.startswith("/") or ".." in path.split("/")):
        why = f"a path below {ROOTS} cannot leave it: Codex refuses the file"
        yield Entry(line, key, value, Meaning.DEAD, why, rules)
    elif not path.startswith(("/", "~")) and not key.endswith(ROOTS):
        why = f"is not an absolute path: write it below {ROOTS}, or from / or ~ on"
        yield Entry(line, key, value, Meaning.DEAD, why, rules)
    elif path.rstrip("/") in ("~", "") and access == "write":
        yield Entry(line, key, value, Meaning.WIDER, ALL_OF_HOME)
    elif is_glob(path) and access not in ("deny", "none"):
        yield Entry(line, key, value, Meaning.DEAD, "only deny takes globs")
    elif is_glob(path):
        why = "the matches at the start are denied, later files are not"
        yield Entry(line, key, value, Meaning.NARROWER, why, rules)
    elif inside := [each for each in again if covers(path, each) and access in ("deny", "none")]:
        why = f"{inside[0]} can be read again, because the more specific path counts"
        yield Entry(line, key, value, Meaning.NARROWER, why, rules)
    else:
        yield Entry(line, key, value, Meaning.ENFORCED, f"{access} for each program", rules)


def _network(
    text: str, key: str, table: Mapping[str, Any], off: str, proxied: bool
) -> Iterator[Entry]:
    enabled = table.get("enabled")
    for name, value in table.items():
        line = line_of(text, "network", name)
        if name == "enabled" and not isinstance(value, bool):
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.DEAD, "is not true or false")
        elif name == "enabled" and off:
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.DEAD, off)
        elif name == "enabled" and not value:
            why, rules = "no program reaches the network", (("no-network", ""),)
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.ENFORCED, why, rules)
        elif name == "enabled":
            why = "each program may connect" + (
                "" if proxied else ", also to services of this host"
            )
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.WIDER, why)
        elif name == "domains" and isinstance(value, Mapping):
            for domain, action in value.items():
                at = line_of(text, "domains", domain)
                shows = f"{domain} = {shown(action)}"
                yield _domain(at, f"{key}.domains", shows, off, enabled is True and not proxied)
        else:
            why = "the proxy of Codex decides"
            yield Entry(line, f"{key}.{name}", shown(value), Meaning.NOT_TESTABLE, why)


def _domain(line: int, key: str, value: str, off: str, direct: bool) -> Entry:
    if off or direct:
        why = off or "without features.network_proxy = true no proxy enforces domain rules"
        return Entry(line, key, value, Meaning.DEAD, why)
    why = "a domain of the internet: the kit reaches this machine only"
    return Entry(line, key, value, Meaning.NOT_TESTABLE, why)
