"""A small policy engine for literal rules, `**` and `P/**`: a shim without exec."""

from __future__ import annotations

import json
from typing import Any

from honest import Honest, Message

OPS = {
    "path.normalize": "path",
    "glob.match": "glob",
    "policy.load": "policy.load",
    "policy.resolve": "policy",
    "policy.check": "policy",
    "policy.check_resolved": "policy.resolved",
    "policy.explain": "policy.explain",
    "policy.audit": "policy.audit",
}


class Refused(Exception):
    """Raised for a request that is answered by an error of kind invalid_input."""

    def answer(self) -> Message:
        return {"error": {"kind": "invalid_input", "message": str(self)}}


def normal(path: str) -> str:
    """Return the normal form: `a/./b//c/` becomes `a/b/c`."""
    segments = [part for part in path.split("/") if part not in ("", ".")]
    if not path or path.startswith("/") or ".." in segments:
        raise Refused(f"not a path inside: {path!r}")
    return "/".join(segments) or "."


def covers(rule: str, path: str) -> bool:
    folder = rule.removesuffix("/**")
    return rule in ("**", path) or (folder != rule and f"{path}/".startswith(f"{folder}/"))


class Literal(Honest):
    """A correct shim for a part of the contract policy: without YAML, and without wildcards within
    a name."""

    capabilities: tuple[str, ...] = ("path", "glob", "policy", "policy.load", "policy.json")

    def answer(self, message: Message, serving: bool) -> Message:
        op = message["op"]
        capability = self.needed_for(message)
        if capability in self.capabilities:
            try:
                return {"result": self.perform(op, message)}
            except Refused as why:
                return why.answer()
        if capability is not None or op.startswith("exec."):
            return {"unsupported": {"capability": capability or "exec", "why": "not declared"}}
        return super().answer(message, serving)

    def needed_for(self, message: Message) -> str | None:
        if message.get("case", "sensitive") == "fold":
            return "policy.fold"
        if "yaml" in (message.get("format"), message.get("policy", {}).get("format")):
            return "policy.yaml"
        return OPS.get(message["op"])

    def perform(self, op: str, message: Message) -> Message:
        if op == "path.normalize":
            return {"items": [self.normalized(path) for path in message["paths"]]}
        if op == "glob.match":
            return {"items": [self.matched(message["pattern"], path) for path in message["paths"]]}
        if op == "policy.load":
            return {"name": self.read(message)["metadata"]["name"], "warnings": []}
        spec = self.read(message["policy"])["spec"]
        if op == "policy.resolve":
            return self.resolved(spec, message.get("profile", "unrestricted"))
        return {"checks": [self.checked(spec, check) for check in message["checks"]]}

    def normalized(self, path: str) -> Message:
        try:
            return {"path": normal(path)}
        except Refused as why:
            return why.answer()

    def matched(self, pattern: str, path: str) -> Message:
        return {"match": covers(pattern, path)}

    def read(self, source: Message) -> Any:
        try:
            document = json.loads(source["text"])
            if document["schemaVersion"] != 2 or not document["metadata"]["name"]:
                raise Refused("not version 2")
        except (ValueError, KeyError, TypeError) as why:
            raise Refused(f"not a policy: {why}") from None
        return document

    def resolved(self, spec: Message, name: str) -> Message:
        profile = spec.get("fsProfiles", {}).get(name)
        if profile is None and name != "unrestricted":
            raise Refused(f"no profile {name}")
        lists = profile or {"read": ["**"], "modify": ["**"]}
        return {
            "profile": name,
            "profile_origin": "defined" if profile else "synthesized",
            "read": [*lists["read"], *("!" + rule for rule in spec.get("denyRead", []))],
            "modify": [*lists["modify"], *("!" + rule for rule in spec.get("denyModify", []))],
        }

    def checked(self, spec: Message, check: Message) -> Message:
        try:
            path = normal(check["path"])
            rules = self.resolved(spec, check.get("profile", "unrestricted"))[check["op"]]
        except Refused as why:
            return why.answer()
        met = [rule for rule in rules if covers(rule.removeprefix("!"), path)]
        none = "[]" if all(rule[0] == "!" for rule in rules) else "<no matching rule>"
        return {
            "allowed": bool(met) and not met[-1].startswith("!"),
            "path": path,
            "matched_rule": met[-1].removeprefix("!") if met else none,
        }


class OnlyGlobs(Literal):
    """A correct shim without policies."""

    capabilities = ("glob",)
