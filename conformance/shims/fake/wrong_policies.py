"""Fakes that are based on the engine for literal rules."""

from __future__ import annotations

from honest import Message
from literal import Literal, Refused


class PolicyYes(Literal):
    """Answers that every path may be read and modified."""

    capabilities = ("policy", "policy.load", "policy.json")

    def checked(self, spec: Message, check: Message) -> Message:
        return {"allowed": True, "path": check["path"], "matched_rule": "**"}


class PolicyNo(Literal):
    """Answers that no path may be read or modified."""

    capabilities = ("policy", "policy.load", "policy.json")

    def checked(self, spec: Message, check: Message) -> Message:
        return {"allowed": False, "path": check["path"], "matched_rule": "[]"}


class PolicyRefuses(Literal):
    """Refuses every policy file."""

    capabilities = ("policy", "policy.load", "policy.json")

    def read(self, source: Message) -> Message:
        raise Refused("no")


class GlobYes(Literal):
    """Answers that every glob matches every path."""

    capabilities = ("glob",)

    def matched(self, pattern: str, path: str) -> Message:
        return {"match": True}


class GlobNo(Literal):
    """Answers that no glob matches any path."""

    capabilities = ("glob",)

    def matched(self, pattern: str, path: str) -> Message:
        return {"match": False}


class PolicyOfAnotherDay(Literal):
    """Gives two different answers to the same question."""

    turn = 0

    def checked(self, spec: Message, check: Message) -> Message:
        self.turn += 1
        return {**super().checked(spec, check), "matched_rule": f"rule {self.turn}"}


class UndeclaredYaml(Literal):
    """Accepts YAML without declaring it, as far as the YAML is also JSON."""

    def needed_for(self, message: Message) -> str | None:
        capability = super().needed_for(message)
        return "policy.json" if capability == "policy.yaml" else capability


class DeclaredExplain(Literal):
    """Declares that it explains, but does not."""

    capabilities = ("path", "glob", "policy", "policy.load", "policy.json", "policy.explain")

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] == "policy.explain":
            return {"unsupported": {"capability": "policy.explain", "why": "not today"}}
        return super().answer(message, serving)
