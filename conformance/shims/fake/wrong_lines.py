"""Fakes that know the right answer but write it wrongly: to stdout, to stderr, or to RESPONSE."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
from pathlib import Path

from honest import Honest, Message
from wrong_lives import wait_for_ever


class Echo(Honest):
    """Answers with the request."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return json.dumps(message).encode()


class Garbage(Honest):
    """Answers with bytes that are neither JSON nor UTF-8."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return b"\x00\xff{nothing that parses"


class WrongId(Honest):
    """Answers with the id of another request."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return super().encode({"id": f"stale-{message['id']}"}, answer)


class Late(Honest):
    """In serve mode each answer waits for the next request, or for the end."""

    held: bytes | None = None

    def deliver(self, line: bytes) -> None:
        if self.held is not None:
            super().deliver(self.held)
        self.held = line

    def end(self) -> None:
        if self.held is not None:
            super().deliver(self.held)


class DoubleAnswer(Honest):
    """In serve mode each answer is written twice."""

    def deliver(self, line: bytes) -> None:
        super().deliver(line + b"\n" + line)


class HalfLine(Honest):
    """Stops in the middle of an answer."""

    def encode(self, message: Message, answer: Message) -> bytes:
        line = super().encode(message, answer)
        return line[: len(line) // 2]

    def deliver(self, line: bytes) -> None:
        os.write(1, line)
        os._exit(0)


class HugeLine(Honest):
    """Answers with 100 MB in one line."""

    def encode(self, message: Message, answer: Message) -> bytes:
        # The line is composed of bytes, because encoding 100 MB would take longer than a client
        # waits.
        line = super().encode(message, answer)
        return b'{"padding":"' + b"x" * 100_000_000 + b'",' + line.partition(b"{")[2]


class MillionsOfValues(Honest):
    """Answers with a line within the limit that takes much memory once it is parsed."""

    def encode(self, message: Message, answer: Message) -> bytes:
        line = super().encode(message, answer)
        return b'{"padding":[' + b"{}," * 5_000_000 + b"0]," + line.partition(b"{")[2]


class PrettyPrints(Honest):
    """Answers with several lines."""

    def encode(self, message: Message, answer: Message) -> bytes:
        return json.dumps({"id": message["id"], **answer}, indent=1).encode()


class LogsToStdout(Honest):
    """Prints a line to stdout when it starts."""

    def begin(self) -> None:
        os.write(1, b"starting\n")


class ClosesStdout(Honest):
    """In serve mode, closes stdout instead of answering. The process continues."""

    def deliver(self, line: bytes) -> None:
        os.close(1)
        wait_for_ever()


class TellsForEver(Honest):
    """In serve mode, writes to stderr without end and never answers."""

    def deliver(self, line: bytes) -> None:
        # The kit may use a file as stderr, so limit its size.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            while True:
                os.write(2, b"tells for ever\n" * 4096)
        wait_for_ever()


class TellsForEverInARun(Honest):
    """In run mode, writes to stderr without end."""

    def place(self, line: bytes, path: str) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 29, 1 << 29))
        with contextlib.suppress(OSError):
            while True:
                os.write(2, b"tells for ever\n" * 4096)
        super().place(line, path)


class ResponseIsFifo(Honest):
    """Makes RESPONSE a fifo without a writer."""

    def place(self, line: bytes, path: str) -> None:
        os.mkfifo(path)


class ResponseIsFolder(Honest):
    """Makes RESPONSE a folder."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).mkdir()


class ResponseIsEndless(Honest):
    """Makes RESPONSE a link to /dev/zero."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).symlink_to("/dev/zero")


class LimitIsEndless(Honest):
    """Declares that its lines may have any length, and writes one that takes no space on a disk."""

    def hello(self, message: Message) -> Message:
        return {**super().hello(message), "limits": {"max_line_bytes": 10**12}}

    def place(self, line: bytes, path: str) -> None:
        super().place(line, path)
        if b'"hello"' not in line and b'"nonce"' not in line:
            os.truncate(path, 12 << 30)


class ResponseIsLink(Honest):
    """Makes RESPONSE a link to the right answer."""

    def place(self, line: bytes, path: str) -> None:
        Path(f"{path}.real").write_bytes(line)
        Path(path).symlink_to(f"{path}.real")


class ResponseIsAnotherName(Honest):
    """Makes RESPONSE a second name of the right answer."""

    def place(self, line: bytes, path: str) -> None:
        Path(f"{path}.real").write_bytes(line)
        Path(path).hardlink_to(f"{path}.real")


class ResponseIsLoop(Honest):
    """Makes RESPONSE a link to itself."""

    def place(self, line: bytes, path: str) -> None:
        Path(path).symlink_to(path)
