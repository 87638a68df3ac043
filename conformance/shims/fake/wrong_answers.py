"""Fakes whose answers are false: about programs, about themselves, or about their capabilities."""

from __future__ import annotations

from honest import Honest, Message

RESULT = {
    "success": True,
    "stdout": "",
    "stderr": "",
    "exit_code": 0,
    "duration_ms": 1,
    "output": None,
}


class AlwaysYes(Honest):
    """Answers that every program succeeds."""

    def execute(self, request: Message) -> Message:
        return {"result": dict(RESULT)}


class AlwaysNo(Honest):
    """Answers that no program can be started."""

    def execute(self, request: Message) -> Message:
        return {"error": {"kind": "execution", "message": "failed to spawn: no"}}


class RefusesWhatWaits(Honest):
    """Refuses every run that would wait for another process."""

    def execute(self, request: Message) -> Message:
        if request["program"].endswith("/gate"):
            return {"error": {"kind": "execution", "message": "failed to spawn: not this one"}}
        return super().execute(request)


class KnowsEverything(Honest):
    """Accepts every operation, even one that does not exist."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        return {"result": {}} if "unsupported" in answer else answer


class LiesAboutPid(Honest):
    """Claims to have pid 1."""

    def hello(self, message: Message) -> Message:
        return {**super().hello(message), "pid": 1}


class WrongNonce(Honest):
    """Answers hello with another nonce."""

    def hello(self, message: Message) -> Message:
        return {**super().hello(message), "nonce": "somebody else's"}


class UndeclaredCapabilityAnswers(Honest):
    """Ignores unknown fields, so it accepts a request that needs an undeclared capability."""

    def needed(self, message: Message) -> str | None:
        return None


class UndeclaredCapabilityIsAnError(Honest):
    """Treats a field of an undeclared capability as unknown, instead of answering `unsupported`."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        if message["op"] == "exec.run" and "unsupported" in answer:
            name = answer["unsupported"]["capability"]
            return {"error": {"kind": "invalid_input", "message": f"no {name} here"}}
        return answer


class UndeclaredCapabilityByAnotherName(Honest):
    """Answers `unsupported` with the name of a capability that does not exist."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        if "unsupported" in answer:
            answer["unsupported"]["capability"] = "that"
        return answer
