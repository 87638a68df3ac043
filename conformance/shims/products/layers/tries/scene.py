"""The scene of a try: a caller that runs, what it is told, and who is alive beside it."""

import json
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path

# A library that waits for something which does not come. What ends a wait proves why it waited.
LONG_S = 3
# For what must come.
EVENTUALLY_S = 60
CALLER = []
# The words in front of a caller who has no rights.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
TRIES = {}


class NotTried(Exception):
    """Why it shows nothing."""


def tries(*names):
    def keep(function):
        for name in names:
            TRIES[name] = function
        return function

    return keep


class Call:
    """A caller that runs, in a folder of its own with a fifo `gate`."""

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
        """None where the caller died before it could tell."""
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
    """The words in front of a caller whose calls of this kind end with EPERM; `trace` tells of
    them."""
    found = shutil.which("strace")
    if found is None:
        raise NotTried("there is no strace")
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:error=EPERM"]
    return [found, *more, "-qq", "-o", "trace", *inject]


def opened(fifo):
    """The fifo, when somebody reads it: its closing lets that one go on."""
    done = select.poll()
    for _ in range(EVENTUALLY_S * 100):
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            done.poll(10)
    raise NotTried("nobody came to the fifo")


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
