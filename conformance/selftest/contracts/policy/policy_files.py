"""A policy and a workspace policy, as requests contain them."""

from __future__ import annotations

import json

SPEC = {
    "denyRead": ["x"],
    "denyModify": ["s/**", "!s/c/**"],
    "fsProfiles": {"p": {"read": ["**"], "modify": ["src/**"]}},
}
TEXT = json.dumps(
    {"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "t"}, "spec": SPEC}, indent=1
)
POLICY = {"format": "json", "text": TEXT, "workspace": {"format": "json", "text": TEXT}}
