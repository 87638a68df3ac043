"""Fakes that say what is not so: of programs, of themselves, of what they can do."""

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
    """Every program succeeds."""

    def execute(self, request: Message) -> Message:
        return {"result": dict(RESULT)}


class AlwaysNo(Honest):
    """No program can be started."""

    def execute(self, request: Message) -> Message:
        return {"error": {"kind": "execution", "message": "failed to spawn: no"}}


class RefusesWhatWaits(Honest):
    """Runs nothing that would wait for somebody."""

    def execute(self, request: Message) -> Message:
        if request["program"].endswith("/gate"):
            return {"error": {"kind": "execution", "message": "failed to spawn: not this one"}}
        return super().execute(request)


class KnowsEverything(Honest):
    """Every operation is known, also one that nobody has thought of."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        return {"result": {}} if "unsupported" in answer else answer


class LiesAboutPid(Honest):
    """Claims to be pid 1."""

    def hello(self, message: Message) -> Message:
        return {**super().hello(message), "pid": 1}


class WrongNonce(Honest):
    """Says hello to somebody else."""

    def hello(self, message: Message) -> Message:
        return {**super().hello(message), "nonce": "somebody else's"}


class UndeclaredCapabilityAnswers(Honest):
    """Ignores what it does not know: takes a request that needs an undeclared capability."""

    def needed(self, message: Message) -> str | None:
        return None


class UndeclaredCapabilityIsAnError(Honest):
    """Refuses a field of a capability that it does not declare as if no page knew the field."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        if message["op"] == "exec.run" and "unsupported" in answer:
            name = answer["unsupported"]["capability"]
            return {"error": {"kind": "invalid_input", "message": f"no {name} here"}}
        return answer


class UndeclaredCapabilityByAnotherName(Honest):
    """Answers `unsupported` with a name of its own."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        if "unsupported" in answer:
            answer["unsupported"]["capability"] = "that"
        return answer
