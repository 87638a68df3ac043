"""Read the vectors of fixtures/vectors, check their fields, and group them by requirement.

The variable BOXSPEC_VECTORS names another folder with vector files, for vectors that are not in the
checkout yet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.judge.requires import Requires
from boxspec.places import ROOT
from boxspec.subject.client.b64 import raw, unb64
from contracts.shared import documents

FOLDER = Path(os.environ.get("BOXSPEC_VECTORS") or ROOT / "fixtures" / "vectors")

# The capabilities that each kind of vector needs.
CAPABILITIES = {
    "normalize": ("path",),
    "glob": ("glob",),
    "glob-refused": ("glob",),
    "load": ("policy.load",),
    "resolve": ("policy",),
    "check": ("policy",),
    "explain": ("policy", "policy.explain"),
    "audit": ("policy", "policy.audit"),
    "resolved": ("policy", "policy.resolved"),
}


@dataclass(frozen=True, eq=False)
class Vector:
    """One question with its expected answer. `fields` is the unchanged entry of the file."""

    id: str
    requirements: tuple[str, ...]
    kind: str
    why: str
    fields: Mapping[str, Any]

    @property
    def counterpart(self) -> str | None:
        return self.fields.get("counterpart")

    @property
    def small(self) -> bool:
        """True if no part of the vector is a repeated text."""
        holders = (self.fields, self.fields.get("policy", {}))
        keys = [key for held in holders for key in (*held, *held.get("workspace", ()))]
        return not any("repeat" in key for key in keys)

    @property
    def capabilities(self) -> frozenset[str]:
        """Return the capabilities that a shim must declare for this vector."""
        needed = {*CAPABILITIES[self.kind]}
        needed.update(filter(None, (load()[name].capability for name in self.requirements)))
        if self.fields.get("case") == "fold":
            needed.add("policy.fold")
        if self.fields.get("follow") == "parent":
            needed.add("policy.resolved.parent")
        formats = _formats(self.fields)
        if "yaml" in formats:
            needed.add("policy.yaml")
        # If only the meaning of a policy matters, the policy may be sent in another format. A
        # policy whose text has problems must be sent unchanged.
        if "json" in formats and load()[self.requirements[0]].topic == "POLICY-FILE":
            needed.add("policy.json")
        return frozenset(needed)

    def word(self, name: str) -> bytes:
        """Return the bytes of the field `name`, `name_b64` or `name_repeat`. The last one is
        repeated."""
        fields = self.fields
        if f"{name}_b64" in fields:
            return unb64(fields[f"{name}_b64"])
        if f"{name}_repeat" in fields:
            return repeated(fields[f"{name}_repeat"]).encode()
        return raw(fields[name])

    @property
    def policy_or_file(self) -> documents.Policy:
        return self.policy if "policy" in self.fields else policy_in(self.fields)

    @property
    def policy(self) -> documents.Policy:
        given = self.fields["policy"]
        if "spec" in given:
            return documents.policy(given["spec"], given.get("workspace_spec"))
        return policy_in(given)


def repeated(parts: Mapping[str, Any]) -> str:
    head, tail = parts.get("head", ""), parts.get("tail", "")
    return str(head + parts["unit"] * parts["times"] + tail)


def policy_in(given: Mapping[str, Any]) -> documents.Policy:
    """Return the fields of a request that contain the file, and the file of the workspace if there
    is one."""
    if "text_b64" in given:
        made = documents.policy_file(unb64(given["text_b64"]), given["format"])
    else:
        text = repeated(given["repeat"]) if "repeat" in given else given["text"]
        made = {"format": given["format"], "text": text}
    if "workspace" in given:
        made["workspace"] = policy_in(given["workspace"])
    return made


def _formats(fields: Mapping[str, Any]) -> set[str]:
    holders = [fields, fields.get("policy", {})]
    holders += [holder.get("workspace", {}) for holder in holders]
    return {holder["format"] for holder in holders if "format" in holder}


def _wrong(path: Path, problem: str) -> UsageError:
    return UsageError(str(path), problem, "see vector.schema.json in the same folder")


def _entry(path: Path, entry: Any) -> Vector:
    try:
        names = tuple(entry.get("requirements") or [entry["requirement"]])
        made = Vector(entry["id"], names, entry["kind"], entry["why"], entry)
    except (AttributeError, KeyError, TypeError) as why:
        raise _wrong(path, f"bad entry {entry!r:.80}: {why}") from None
    unknown = [name for name in names if name not in load()]
    if unknown or made.kind not in CAPABILITIES:
        raise _wrong(path, f"{made.id}: {unknown[0] if unknown else made.kind} is not known")
    return made


@cache
def every() -> dict[str, Vector]:
    """Return all vectors by id, in the order of the files."""
    found: dict[str, Vector] = {}
    for path in sorted(FOLDER.glob("*.json")):
        if path.name.endswith(".schema.json"):
            continue
        try:
            entries = json.loads(path.read_bytes())["vectors"]
        except (ValueError, KeyError, TypeError) as why:
            raise _wrong(path, f"is not a file of vectors: {why}") from None
        for entry in entries:
            made = _entry(path, entry)
            if made.id in found:
                raise _wrong(path, f"{made.id} twice")
            found[made.id] = made
    return found


@dataclass(frozen=True, eq=False)
class Group:
    """The vectors with the same requirements. They are one case of the suite."""

    requirements: tuple[str, ...]
    vectors: tuple[Vector, ...]


@cache
def groups(topic: str) -> list[Group]:
    found: dict[tuple[str, ...], list[Vector]] = {}
    for vector in every().values():
        if load()[vector.requirements[0]].topic == topic:
            found.setdefault(vector.requirements, []).append(vector)
    return [Group(names, tuple(vectors)) for names, vectors in found.items()]


def vectors(topic: str) -> Callable[[Any], Any]:
    """Parametrise a test `(case, group)` over the vectors of a topic. Each requirement is one
    case."""
    import pytest

    cases = [
        pytest.param(
            group,
            id=" ".join(group.requirements),
            marks=pytest.mark.requires(Requires(group.requirements)),
        )
        for group in groups(topic)
    ]
    return pytest.mark.parametrize("group", cases)
