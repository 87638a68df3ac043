"""Make policies for requests: a policy file around a `spec`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from boxspec.subject.client.b64 import put_word

Spec = Mapping[str, Any]
Policy = dict[str, Any]


def text(spec: Spec, name: str = "test") -> str:
    """Return the JSON text of a version 2 policy."""
    document = {
        "schemaVersion": 2,
        "kind": "Policy",
        "metadata": {"name": name},
        "spec": spec,
    }
    return json.dumps(document, ensure_ascii=False)


def policy(spec: Spec, workspace: Spec | None = None) -> Policy:
    """Return the `policy` of a request. `workspace` is the spec of a second policy file."""
    made: Policy = {"text": text(spec), "format": "json"}
    if workspace is not None:
        made["workspace"] = {"text": text(workspace, "ws"), "format": "json"}
    return made


def policy_file(content: bytes, format_: str) -> Policy:
    """Return the `policy` of a request whose file has this content, encoded if it is not UTF-8."""
    made: Policy = {"format": format_}
    put_word(made, "text", content)
    return made


# Characters that a JSON string may contain without an escape, but a YAML string may not.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def as_yaml(given: Policy) -> Policy:
    """Return the policy in YAML, for a shim that reads only YAML.

    A text that is not JSON is not changed.
    """
    made = dict(given)
    if given["format"] == "json" and "text" in given:
        made["format"] = "yaml"
        made["text"] = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", given["text"])
    if "workspace" in given:
        made["workspace"] = as_yaml(given["workspace"])
    return made


def one_profile(
    read: Sequence[str] = ("**",),
    modify: Sequence[str] = ("**",),
    deny_read: Sequence[str] = (),
    deny_modify: Sequence[str] = (),
) -> Policy:
    """Return a policy with the profile `p`."""
    return policy(
        {
            "denyRead": list(deny_read),
            "denyModify": list(deny_modify),
            "fsProfiles": {"p": {"read": list(read), "modify": list(modify)}},
        }
    )
