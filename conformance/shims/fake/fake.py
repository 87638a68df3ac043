#!/usr/bin/env python3
"""Shims that are wrong on purpose, one way each: `fake.py NAME run REQUEST RESPONSE | serve`.

The class name in words is the NAME: `AlwaysYes` is `always-yes`. With `@run` behind it the fake is
honest in serve mode and wrong in run mode only. `honest`, `split-lines`, `literal`, `only-globs`,
`compiling` and `only-texts` are right.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

from compiling import Compiling
from compiling import Refused as NotToday
from honest import Honest, Message
from literal import Literal, Refused

RESULT = {
    "success": True,
    "stdout": "",
    "stderr": "",
    "exit_code": 0,
    "duration_ms": 1,
    "output": None,
}


def wait_for_ever() -> None:
    while True:
        signal.pause()


class AlwaysYes(Honest):
    """Every program succeeds."""

    def execute(self, request: Message) -> Message:
        return {"result": dict(RESULT)}


class AlwaysNo(Honest):
    """No program can be started."""

    def execute(self, request: Message) -> Message:
        return {"error": {"kind": "execution", "message": "failed to spawn: no"}}


class KnowsEverything(Honest):
    """Every operation is known, also one that nobody has thought of."""

    def answer(self, message: Message, serving: bool) -> Message:
        answer = super().answer(message, serving)
        return {"result": {}} if "unsupported" in answer else answer


class Echo(Honest):
    """The request is the answer."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return json.dumps(message).encode()


class Garbage(Honest):
    """No JSON, and no UTF-8 either."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return b"\x00\xff{nothing that parses"


class SplitLines(Honest):
    """Right, but each piece is written when the one before it has been read."""

    def deliver(self, line: bytes) -> None:
        data = line + b"\n"
        for start in range(0, len(data), 61):
            os.write(1, data[start : start + 61])
            self.wait_until_read()

    @staticmethod
    def wait_until_read() -> None:
        while struct.unpack("i", fcntl.ioctl(1, termios.FIONREAD, b"\0\0\0\0"))[0]:
            os.sched_yield()


class WrongId(Honest):
    """The id of another request."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return super().encode({"id": f"stale-{message['id']}"}, answer)


class Late(Honest):
    """In serve each answer waits for the next request, or for the end."""

    held: bytes | None = None

    def deliver(self, line: bytes) -> None:
        if self.held is not None:
            super().deliver(self.held)
        self.held = line

    def end(self) -> None:
        if self.held is not None:
            super().deliver(self.held)


class DoubleAnswer(Honest):
    """In serve each answer comes twice."""

    def deliver(self, line: bytes) -> None:
        super().deliver(line + b"\n" + line)


class Hang(Honest):
    """Reads the request and does nothing."""

    def answer(self, message: Message, serving: bool) -> Message:
        wait_for_ever()
        return {}


class StopsItsGroup(Honest):
    """Stops all processes of its group in place of an answer, as ^Z at a terminal would."""

    def answer(self, message: Message, serving: bool) -> Message:
        os.killpg(0, signal.SIGSTOP)
        return super().answer(message, serving)


class RefusesWhatWaits(Honest):
    """Runs nothing that would wait for somebody."""

    def execute(self, request: Message) -> Message:
        if request["program"].endswith("/gate"):
            return {"error": {"kind": "execution", "message": "failed to spawn: not this one"}}
        return super().execute(request)


class Crash(Honest):
    """Dies of SIGSEGV at the first request."""

    def answer(self, message: Message, serving: bool) -> Message:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
        return {}


class HugeLine(Honest):
    """100 MB in one line."""

    def encode(self, message: Message, answer: Message) -> bytes:
        # Put together as bytes: to encode that much would take longer than a client waits.
        line = super().encode(message, answer)
        return b'{"padding":"' + b"x" * 100_000_000 + b'",' + line.partition(b"{")[2]


class MillionsOfValues(Honest):
    """A line within the limit that is large when it has been read."""

    def encode(self, message: Message, answer: Message) -> bytes:
        line = super().encode(message, answer)
        return b'{"padding":[' + b"{}," * 5_000_000 + b"0]," + line.partition(b"{")[2]


class PrettyPrints(Honest):
    """An answer of several lines."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return json.dumps({"id": message["id"], **answer}, indent=1).encode()


class LogsToStdout(Honest):
    """Tells on stdout that it has started."""

    def begin(self) -> None:
        os.write(1, b"starting\n")


class ResponseIsFifo(Honest):
    """RESPONSE is a fifo, in which nobody writes."""

    def place(self, line: bytes, path: str) -> None:
        os.mkfifo(path)


class ResponseIsFolder(Honest):
    """RESPONSE is a folder."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).mkdir()


class ResponseIsEndless(Honest):
    """RESPONSE is a link to /dev/zero."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).symlink_to("/dev/zero")


class ResponseIsLink(Honest):
    """RESPONSE is a link to the right answer."""

    def place(self, line: bytes, path: str) -> None:
        Path(f"{path}.real").write_bytes(line)
        Path(path).symlink_to(f"{path}.real")


class ResponseIsAnotherName(Honest):
    """RESPONSE is a second name of the right answer."""

    def place(self, line: bytes, path: str) -> None:
        Path(f"{path}.real").write_bytes(line)
        Path(path).hardlink_to(f"{path}.real")


class ResponseIsLoop(Honest):
    """RESPONSE is a link to itself."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).symlink_to(path)


class TellsForEver(Honest):
    """In serve stderr never ends, and no answer comes."""

    def deliver(self, line: bytes) -> None:
        # A kit that gives it a file gets no more than this.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            while True:
                os.write(2, b"tells for ever\n" * 4096)
        wait_for_ever()


class TellsForEverInARun(Honest):
    """In run mode stderr never ends."""

    def place(self, line: bytes, path: str) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 29, 1 << 29))
        with contextlib.suppress(OSError):
            while True:
                os.write(2, b"tells for ever\n" * 4096)
        super().place(line, path)


class ClosesStdout(Honest):
    """In serve stdout is closed in place of an answer; the process stays."""

    def deliver(self, line: bytes) -> None:
        os.close(1)
        wait_for_ever()


class IgnoresSigterm(Honest):
    """Answers rightly, stays after bye, and SIGTERM does not move it."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def serve(self) -> None:
        super().serve()
        wait_for_ever()


class LeaksAChild(Honest):
    """Leaves a process behind, out of its group, at the end."""

    def end(self) -> None:
        null = subprocess.DEVNULL
        subprocess.Popen(
            ["sleep", "600"], stdin=null, stdout=null, stderr=null, start_new_session=True
        )


class HalfLine(Honest):
    """Stops in the middle of an answer."""

    def encode(self, message: Message, answer: Message) -> bytes:
        line = super().encode(message, answer)
        return line[: len(line) // 2]

    def deliver(self, line: bytes) -> None:
        os.write(1, line)
        os._exit(0)


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


class HelloThenDies(Honest):
    """Says hello, and leaves at whatever comes after it."""

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] != "hello":
            os._exit(1)
        return super().answer(message, serving)


class OnlyGlobs(Literal):
    """Right, and knows nothing of policies."""

    capabilities = ("glob",)


class PolicyYes(Literal):
    """Every path may be read and modified."""

    capabilities = ("policy", "policy.load", "policy.json")

    def checked(self, spec: Message, check: Message) -> Message:
        return {"allowed": True, "path": check["path"], "matched_rule": "**"}


class PolicyNo(Literal):
    """No path may be read or modified."""

    capabilities = ("policy", "policy.load", "policy.json")

    def checked(self, spec: Message, check: Message) -> Message:
        return {"allowed": False, "path": check["path"], "matched_rule": "[]"}


class PolicyRefuses(Literal):
    """No file is a policy."""

    capabilities = ("policy", "policy.load", "policy.json")

    def read(self, source: Message) -> Message:
        raise Refused("no")


class GlobYes(Literal):
    """Every glob matches everything."""

    capabilities = ("glob",)

    def matched(self, pattern: str, path: str) -> Message:
        return {"match": True}


class GlobNo(Literal):
    """No glob matches anything."""

    capabilities = ("glob",)

    def matched(self, pattern: str, path: str) -> Message:
        return {"match": False}


class PolicyOfAnotherDay(Literal):
    """Answers the same question in two ways."""

    turn = 0

    def checked(self, spec: Message, check: Message) -> Message:
        self.turn += 1
        return {**super().checked(spec, check), "matched_rule": f"rule {self.turn}"}


class UndeclaredYaml(Literal):
    """Reads YAML, as far as it is JSON, without saying so in hello."""

    def needed_for(self, message: Message) -> str | None:
        capability = super().needed_for(message)
        return "policy.json" if capability == "policy.yaml" else capability


class DeclaredExplain(Literal):
    """Says in hello that it explains, and does not."""

    capabilities = ("path", "glob", "policy", "policy.load", "policy.json", "policy.explain")

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] == "policy.explain":
            return {"unsupported": {"capability": "policy.explain", "why": "not today"}}
        return super().answer(message, serving)


class OnlyTexts(Compiling):
    """Right, and wraps nothing."""

    capabilities = ("sbpl",)


class SbplYes(Compiling):
    """The text allows all."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(allow default)\n"


class SbplNo(Compiling):
    """The text allows nothing."""

    def text(self, rules: Message, root: str) -> str:
        return "(version 1)\n(deny default)\n"


class SbplRefuses(Compiling):
    """No setup can be compiled."""

    def text(self, rules: Message, root: str) -> str:
        raise NotToday("invalid_input", "no")


class SbplOfAnotherDay(Compiling):
    """Answers the same request with two texts."""

    turn = 0

    def text(self, rules: Message, root: str) -> str:
        self.turn += 1
        return f"{super().text(rules, root)}; {self.turn}\n"


class WrapYes(Compiling):
    """Makes a command of everything."""

    def wrapped(self, message: Message) -> Message:
        return {"argv": message["argv"], "wrapped": True, "warnings": []}


class WrapNo(Compiling):
    """Makes no command of anything."""

    def wrapped(self, message: Message) -> Message:
        raise NotToday("execution", "no")


class DeclaredWrap(Compiling):
    """Says in hello that it wraps, and does not."""

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] == "sbpl.wrap":
            return {"unsupported": {"capability": "sbpl.wrap", "why": "not today"}}
        return super().answer(message, serving)


class UndeclaredFold(Compiling):
    """Folds, or says nothing of what it does not: takes a case that it has not declared."""

    def answer(self, message: Message, serving: bool) -> Message:
        return super().answer({**message, "case": "sensitive"}, serving)


def fakes() -> dict[str, type[Honest]]:
    kinds: list[type[Honest]] = [Honest, *Honest.__subclasses__()]
    kinds += [*Literal.__subclasses__(), *Compiling.__subclasses__()]
    return {re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in kinds}


if __name__ == "__main__":
    name, at, _ = sys.argv[1].partition("@")
    spared = at and sys.argv[2] == "serve"
    fakes()["honest" if spared else name]().main(sys.argv[2:])
