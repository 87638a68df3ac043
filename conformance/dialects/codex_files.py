"""Several files of Codex that count together: config.toml of the system, the user, a profile and
the project, managed_config.toml, and requirements.toml.

Written from the documentation "Config basics" and "Managed configuration" (as of 2026-11). The
ranks, the joined tables and the refused files were tried with Codex 0.171. Of two files the one
with the higher rank decides about a key. Tables are joined, lists are not. requirements.toml limits
the result of all other files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boxspec.verify.meaning import Entry, Meaning, Where
from dialects.codex_requirements import Requirements, is_requirements, requirements_in
from dialects.codex_types import refusal
from dialects.reading_toml import line_of, shown, tables

Table = Mapping[str, Any]
Reader = Callable[[str, dict[str, Any], Where], list[Entry]]
SYSTEM, USER, PROFILE, PROJECT, MANAGED = range(5)
# Keys that Codex ignores in the file of a project.
NOT_IN_PROJECTS = ("profile", "profiles", "notify", "model_provider", "model_providers", "otel")
NOT_SET = "(not set)"


@dataclass(frozen=True)
class _File:
    text: str
    where: Where
    found: dict[str, Any]

    @property
    def rank(self) -> tuple[int, int]:
        """Return the rank. Of two files of projects the one in the deeper folder decides."""
        path = self.where.file
        if path.name == "managed_config.toml":
            return MANAGED, 0
        if path.name != "config.toml":
            return PROFILE, 0
        if path.parent.name != ".codex":
            return (SYSTEM if path.parent.name == "codex" else USER), 0
        return (USER, 0) if self.where.is_of_the_user else (PROJECT, len(path.parts))

    @property
    def is_of_a_project(self) -> bool:
        return self.rank[0] == PROJECT

    @property
    def counted(self) -> dict[str, Any]:
        left_out = NOT_IN_PROJECTS if self.is_of_a_project else ()
        return {name: value for name, value in self.found.items() if name not in left_out}

    def place(self, *words: str) -> str:
        return f"{self.where.file.name}:{line_of(self.text, *words)}"


def read_files(files: Sequence[tuple[str, Where]], read: Reader) -> list[list[Entry]]:
    """Return the entries of each file, with the effects of the other files."""
    made: dict[int, list[Entry]] = {}
    configs: dict[int, _File] = {}
    limits = [requirements_in(*each) for each in files if is_requirements(each[1])]
    required = next((each for each in limits if isinstance(each, Requirements)), None)
    broken: list[tuple[int, str]] = []
    for number, (text, where) in enumerate(files):
        found = tables(text)
        if isinstance(found, Entry):
            made[number] = [found]
            broken.append((number, f"{where.file.name}:{found.line} is not valid TOML"))
        elif not is_requirements(where):
            configs[number] = _File(text, where, found)
    projects = _untrusted(configs.values())
    counting = [each for each in configs.values() if each.where.file not in projects]
    wrong = [(each, refusal(each.text, each.counted)) for each in counting]
    for file, why in wrong:
        if why is not None:
            number = next(at for at, each in configs.items() if each is file)
            broken.append((number, f"{file.where.file.name}:{why.line} {why.key} {why.why}"))
    merged: dict[str, Any] = {}
    for each in sorted(counting, key=lambda file: file.rank):
        merged = _joined(merged, each.counted)
    for number, file in configs.items():
        own = read(file.text, file.found, file.where)
        if file.where.file in projects:
            made[number] = _dead(own, projects[file.where.file])
            continue
        together = read(file.text, merged, file.where)
        entries = [_in_all(each, together, file, counting) for each in own]
        made[number] = [*entries, *_about_trust(file, counting)]
        if required is not None:
            made[number] = [required.limited(each) for each in made[number]]
    for number, (text, where) in enumerate(files):
        if is_requirements(where) and number not in made:
            limit = requirements_in(text, where)
            made[number] = limit.entries if isinstance(limit, Requirements) else [limit]
    if broken:
        culprit, why_not = broken[0]
        for number, own in made.items():
            others = _dead(own, f"{why_not}, so Codex starts no program")
            made[number] = made[number] if number == culprit and len(own) == 1 else others
    return [made[number] for number in range(len(files))]


def _dead(entries: Sequence[Entry], why: str) -> list[Entry]:
    return [replace(each, meaning=Meaning.DEAD, why=why) for each in entries]


def _joined(lower: Table, higher: Table) -> dict[str, Any]:
    made = dict(lower)
    for name, value in higher.items():
        old = made.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            made[name] = _joined(old, value)
        else:
            made[name] = value
    return made


def _in_all(own: Entry, together: Sequence[Entry], file: _File, files: Sequence[_File]) -> Entry:
    """Return an entry of a file with its meaning in all files."""
    if file.is_of_a_project and own.key.partition(".")[0] in NOT_IN_PROJECTS:
        why = "Codex ignores this key in the file of a project"
        return replace(own, meaning=Meaning.DEAD, why=why)
    same = [each for each in together if (each.key, each.value) == (own.key, own.value)]
    if same:
        return replace(same[0], line=own.line)
    for other in sorted(files, key=lambda each: each.rank, reverse=True):
        value = _value(other.counted, own)
        if other is not file and value is not None:
            words = [*own.key.split("."), own.value.rpartition(" = ")[0]]
            why = f"{other.place(*words)} sets {shown(value)}, and counts"
            return replace(own, meaning=Meaning.DEAD, why=why)
    return replace(own, meaning=Meaning.DEAD, why="another file has a setting that counts instead")


def _value(found: object, entry: Entry) -> Any:
    """Return the value at the place of an entry, or None."""
    rest = entry.key
    while rest and isinstance(found, Mapping):
        name = next((each for each in found if f"{rest}.".startswith(f"{each}.")), None)
        if name is None:
            return None
        found, rest = found[name], rest.removeprefix(name).removeprefix(".")
    if isinstance(found, Mapping):
        path = entry.value.rpartition(" = ")[0]
        return found.get(path)
    return None if rest else found


def _untrusted(files: Collection[_File]) -> dict[Path, str]:
    """Return the files of projects that Codex does not read, each with the reason."""
    made: dict[Path, str] = {}
    for project in (each for each in files if each.is_of_a_project):
        for other in files:
            level, at = _trust(other, project)
            if level not in ("trusted", None):
                why = f"{other.place(at, 'trust_level')}: the project is not trusted"
                made[project.where.file] = f"{why}, so Codex does not read this file"
    return made


def _trust(file: _File, project: _File) -> tuple[object, str]:
    """Return the level of trust that a file gives to a project, and the path that it names."""
    table = file.found.get("projects")
    if file.is_of_a_project or not isinstance(table, Mapping):
        return None, ""
    folder = project.where.file.parent.parent
    for path in (folder, *folder.parents):
        named = table.get(str(path))
        if isinstance(named, Mapping) and "trust_level" in named:
            return named["trust_level"], str(path)
    return None, ""


def _about_trust(file: _File, files: Sequence[_File]) -> list[Entry]:
    users = [each for each in files if each.rank[0] == USER]
    if not file.is_of_a_project or not users or any(_trust(each, file)[0] for each in users):
        return []
    why = f"{users[0].where.file.name} names no trust_level of this project: Codex reads the file"
    why = f"{why} only after you have trusted the project"
    return [Entry(1, "projects", NOT_SET, Meaning.NOT_TESTABLE, why)]
