"""A small compiler of profiles, for literal rules and `P/**`. Its wrap ignores provider flags."""

from __future__ import annotations

from honest import Honest, Message

WRAPPER = "/usr/bin/sandbox-exec"
OPS = {"sbpl.compile": "sbpl", "sbpl.wrap": "sbpl.wrap"}
SCRATCH = ("/private/tmp", "/private/var/folders", "/dev")
BROAD = ("file-read*", "process*", "signal", "network*", "sysctl*")


class Refused(Exception):
    """Raised for a request that is refused, with the kind and the message of the error."""

    def answer(self) -> Message:
        kind, message = self.args
        return {"error": {"kind": kind, "message": message}}


def subpath(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{escaped}")'


class Compiling(Honest):
    """A correct shim for a part of the contract sbpl."""

    capabilities: tuple[str, ...] = ("sbpl", "sbpl.wrap")

    def answer(self, message: Message, serving: bool) -> Message:
        op = message["op"]
        capability = "sbpl.fold" if message.get("case") == "fold" else OPS.get(op)
        if capability is None and not op.startswith("exec."):
            return super().answer(message, serving)
        if capability not in self.capabilities:
            return {"unsupported": {"capability": capability or "exec", "why": "not declared"}}
        try:
            if op == "sbpl.compile":
                return {"result": {"text": self.text(message["rules"], message["root"])}}
            return {"result": self.wrapped(message)}
        except Refused as why:
            return why.answer()

    def text(self, rules: Message, root: str) -> str:
        clauses = ["(version 1)", "(deny default)"]
        clauses += [f"(allow {name})" for name in BROAD]
        clauses += [f"(allow file-write* {subpath(place)})" for place in SCRATCH]
        clauses.append(f"(deny file-write* {subpath(root)})")
        for rule in rules.get("modify", []):
            place = f"{root}/{rule.removesuffix('/**')}"
            clauses.append(f"(allow file-write* {subpath(place)})")
        return "".join(f"{clause}\n" for clause in clauses)

    def wrapped(self, message: Message) -> Message:
        argv = message["argv"]
        if not argv or not message["file"].startswith("/"):
            raise Refused("invalid_input", "a program and an absolute file are needed")
        if message.get("wrapper") == "present":
            return {
                "argv": [WRAPPER, "-f", message["file"], *argv],
                "wrapped": True,
                "warnings": [],
            }
        if message.get("allow_fallback"):
            return {"argv": argv, "wrapped": False, "warnings": ["there is no sandbox"]}
        raise Refused("execution", f"{WRAPPER} is not there")


class OnlyTexts(Compiling):
    """A correct shim that does not wrap commands."""

    capabilities = ("sbpl",)
