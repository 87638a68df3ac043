"""Helpers of this folder: start a caller, read its answer, and find out which processes live."""

import json
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path

# If a library waits this long, it probably waits for a process that the try keeps running. This is
# proven if the wait ends after the process is released.
LONG_S = 3
# Time limit for events that must happen.
EVENTUALLY_S = 60
CALLER = []
# The first words of a command that runs a caller without privileges.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TRIES = {}


class NotTried(Exception):
    """Raised if the try was not possible. The message is the reason."""


def tries(*names):
    def keep(function):
        for name in names:
            TRIES[name] = function
        return function

    return keep


class Call:
    """A running caller. Its working directory is the folder of the try, which contains a fifo
    `gate`."""

    def __init__(self, argv, before=(), setup=None, environ=None, stdin=None, **asked):
        text = json.dumps({"argv": argv, **asked})
        self.run = subprocess.Popen(
            [*before, *CALLER, text],
            env=environ,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=setup,
            close_fds=False,
        )

    def answer(self, within_s=EVENTUALLY_S):
        """Return the caller's answer, or None if it died before it printed one."""
        out, err = self.run.communicate(timeout=within_s)
        self.said = err.decode("utf-8", "replace").strip()
        return json.loads(out) if out.strip() else None

    def is_back(self, within_s):
        try:
            self.run.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True


def call(argv, **more):
    told = Call(argv, **more)
    answer = told.answer()
    if answer is None:
        raise NotTried(f"the caller ended with {told.run.returncode}: {told.said[-200:]}")
    return answer


def shell(line, *words):
    return ["/bin/sh", "-c", line, *map(str, words)]


def script(name, text):
    file = Path(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return str(file.absolute())


def strace(call, *more):
    """Return the first words of a command in which this system call fails with EPERM.

    trace: True to log these calls, too.
    """
    found = shutil.which("strace")
    if found is None:
        raise NotTried("there is no strace")
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:error=EPERM"]
    return [found, *more, "-qq", "-o", "trace", *inject]


def opened(fifo):
    """Open a fifo once a process reads it. When the fifo is closed, that process continues."""
    done = select.poll()
    for _ in range(EVENTUALLY_S * 100):
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            done.poll(10)
    raise NotTried("no process opened the fifo")


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def ended(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def ignoring(*names):
    def setup():
        for name in names:
            signal.signal(name, signal.SIG_IGN)

    return setup


def ignored(status, number):
    (line,) = [line for line in status.splitlines() if line.startswith("SigIgn:")]
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
