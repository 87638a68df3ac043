"""Permission profiles of Codex, in the tables `permissions` of config.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from boxspec.verify.meaning import Entry, Meaning
from boxspec.verify.paths import is_glob
from dialects.codex_types import mistyped
from dialects.entries import ALL_OF_HOME, NO_SUCH_KEY, covers, only_for_a_shell
from dialects.reading_toml import line_of, shown

ROOTS = ":workspace_roots"
ACCESS = ("read", "write", "deny", "none")


def profiles_of(text: str, found: Mapping[str, Any], mode: object) -> Iterator[Entry]:
    profiles, chosen = found.get("permissions", {}), found.get("default_permissions")
    if not isinstance(profiles, Mapping):
        yield mistyped(text, "permissions", profiles, "no table")
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
        yield mistyped(text, key, profile, "no table")
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
