"""Policies as the protocol takes them: the text around a `spec`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]
Policy = dict[str, Any]


def text(spec: Spec, name: str = "test") -> str:
    """The JSON text of a version 2 policy."""
    document = {
        "schemaVersion": 2,
        "kind": "Policy",
        "metadata": {"name": name},
        "spec": spec,
    }
    return json.dumps(document, ensure_ascii=False)


def policy(spec: Spec, workspace: Spec | None = None) -> Policy:
    """The `policy` of a request; `workspace` is the spec of the second file."""
    made: Policy = {"text": text(spec), "format": "json"}
    if workspace is not None:
        made["workspace"] = {"text": text(workspace, "ws"), "format": "json"}
    return made


def one_profile(
    read: Sequence[str] = ("**",),
    modify: Sequence[str] = ("**",),
    deny_read: Sequence[str] = (),
    deny_modify: Sequence[str] = (),
) -> Policy:
    """A policy with the profile `p`."""
    return policy(
        {
            "denyRead": list(deny_read),
            "denyModify": list(deny_modify),
            "fsProfiles": {"p": {"read": list(read), "modify": list(modify)}},
        }
    )
