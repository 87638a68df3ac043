#!/usr/bin/env -S python3 -I -S
"""The twin with processes between itself and its children: forking_implementation.py HOW -- WORDS

supervisor  each run is that of another process, which ends with it
server      these are started by a server, which stays until the shim ends

Signals to the shim are not passed on: it is for questions about what a caller has below itself.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "shims", "python"))

import exec.run as run
import exec.signals as signals
from errors import Failed
from protocol import main

run_here = run.Run.result


def supervise(channel: socket.socket) -> None:
    """One run in a process of its own; the channel ends when that one has been collected."""
    pid = os.fork()
    if pid == 0:
        # The channel of another run would not end while it is open here.
        os.closerange(3, channel.fileno())
        os.closerange(channel.fileno() + 1, 4096)
        with channel.makefile("rb") as asked:
            answer = answered(*pickle.load(asked))
        channel.sendall(pickle.dumps(answer))
        os._exit(0)
    os.waitpid(pid, 0)
    channel.close()


def answered(request: Any, clock: int, mask: Any) -> object:
    signals.handlers = signals.Handlers()
    try:
        return run_here(run.Run(request, signals.handlers.acquire(), clock, mask))
    except Failed as failure:
        return failure.kind, failure.message


Hand = Callable[[socket.socket], object]


def supervisor() -> Hand:
    return lambda channel: threading.Thread(target=supervise, args=[channel]).start()


def server() -> Hand:
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        hand = supervisor()
        while (got := socket.recv_fds(theirs, 1, 1))[0]:
            hand(socket.socket(fileno=got[1][0]))
        os._exit(0)
    theirs.close()

    def pass_on(channel: socket.socket) -> None:
        with channel:
            socket.send_fds(ours, [b"."], [channel.fileno()])

    return pass_on


def use(hand: Hand) -> None:
    def result(self: Any) -> Any:
        ours, theirs = socket.socketpair()
        hand(theirs)
        with ours:
            ours.sendall(pickle.dumps((self.request, self.clock, self.caller_mask)))
            ours.shutdown(socket.SHUT_WR)
            with ours.makefile("rb") as told:
                answer = pickle.loads(told.read())
        if isinstance(answer, tuple):
            raise Failed(*answer)
        return answer

    run.Run.result = result  # type: ignore[method-assign]


if __name__ == "__main__":
    how = sys.argv[1]
    del sys.argv[1:3]
    if sys.argv[1] == "run":
        use({"supervisor": supervisor, "server": server}[how]())
    os._exit(main())
