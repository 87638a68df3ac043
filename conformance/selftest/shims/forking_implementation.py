#!/usr/bin/env -S python3 -I -S
"""The Python implementation with processes between the shim and its children.

forking_implementation.py HOW -- WORDS. HOW is one of:
  supervisor  each run has its own process, which ends with the run
  server      a server starts these processes and stays until the shim ends
The shim does not forward signals, because only tests about
descendants of the caller use it.
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
    """Execute one run in a separate process.

    The channel is closed when that process has been reaped.
    """
    pid = os.fork()
    if pid == 0:
        # Close inherited descriptors: otherwise this process would keep the channel of another run
        # open.
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
