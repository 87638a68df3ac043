"""Fakes that live too short or too long, or leave a child."""

from __future__ import annotations

import os
import resource
import signal
import subprocess

from honest import Honest, Message


def wait_for_ever() -> None:
    while True:
        signal.pause()


class Hang(Honest):
    """Reads the request and writes no answer."""

    def answer(self, message: Message, serving: bool) -> Message:
        wait_for_ever()
        return {}


class StopsItsGroup(Honest):
    """Stops all processes of its group instead of answering, as ^Z at a terminal would."""

    def answer(self, message: Message, serving: bool) -> Message:
        os.killpg(0, signal.SIGSTOP)
        return super().answer(message, serving)


class Crash(Honest):
    """Dies of SIGSEGV at the first request."""

    def answer(self, message: Message, serving: bool) -> Message:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
        return {}


class HelloThenDies(Honest):
    """Answers hello and exits at the next message."""

    def answer(self, message: Message, serving: bool) -> Message:
        if message["op"] != "hello":
            os._exit(1)
        return super().answer(message, serving)


class IgnoresSigterm(Honest):
    """Answers correctly, continues after bye, and ignores SIGTERM."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def serve(self) -> None:
        super().serve()
        wait_for_ever()


class LeaksAChild(Honest):
    """Leaves a process in another group when it ends."""

    def end(self) -> None:
        null = subprocess.DEVNULL
        subprocess.Popen(
            ["sleep", "600"], stdin=null, stdout=null, stderr=null, start_new_session=True
        )
