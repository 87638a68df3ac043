"""Run one program to its end, within a time limit. Your own function replaces this file."""

import os
import signal
import subprocess
import threading

GRACE_S = 5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending:
    """Ends the process group of the program by SIGTERM, and by SIGKILL after the grace period.

    why: the first reason: `Timeout`, or the name of a signal to this process. None: not ended.
    """

    def __init__(self):
        self.why, self._child, self._kill = None, None, None

    def begin(self, child):
        self._child = child
        if self.why is not None:
            self._terminate()

    def end(self, why):
        if self.why is None:
            self.why = why
            if self._child is not None:
                self._terminate()

    def _terminate(self):
        self._send(signal.SIGTERM)
        self._kill = threading.Timer(GRACE_S, self._send, [signal.SIGKILL])
        self._kill.daemon = True
        self._kill.start()

    def _send(self, number):
        try:
            os.killpg(self._child.pid, number)
        except ProcessLookupError:
            pass

    def close(self):
        if self._kill is not None:
            self._kill.cancel()
        self._send(signal.SIGKILL)


def run(program, given, timeout_ms, **options):
    """Return the exit status, stdout, stderr, and the reason of an early end or None.

    Raise OSError if the program cannot be started.
    """
    ending = Ending()
    for number in SIGNALS:
        signal.signal(number, lambda number, _: ending.end(signal.Signals(number).name))
    limit_s = min(timeout_ms / 1000, threading.TIMEOUT_MAX)
    limit = threading.Timer(limit_s, ending.end, ["Timeout"])
    limit.daemon = True
    child = subprocess.Popen(
        [program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        **options,
    )
    ending.begin(child)
    limit.start()
    out, err = child.communicate(given)
    limit.cancel()
    ending.close()
    return child.returncode, out, err, ending.why
