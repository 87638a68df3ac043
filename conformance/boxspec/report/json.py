"""The result tree as JSON (schemas/result.json)."""

from __future__ import annotations

import json

from boxspec.judge.results import Tree


def render(tree: Tree) -> str:
    return json.dumps(tree.to_json(), indent=2, ensure_ascii=True) + "\n"
