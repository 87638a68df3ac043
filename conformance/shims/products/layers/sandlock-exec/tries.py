"""Show without the kit how a Process of sandlock behaves.

Usage: tries.py ID... prints one line for each ID.
"""

import os
import select
import signal
import sys
import tempfile
import threading
from pathlib import Path

from sandlock import Sandbox, StdioMode

# Time limit for events that must happen.
EVENTUALLY_S = 60
# If a call takes this long, it probably waits for a process that this program keeps running.
LONG_S = 3


def popen(line, stdin=StdioMode.INHERIT):
    sandbox = Sandbox(fs_readable=["/"], fs_writable=["/"])
    return sandbox.popen(["/bin/sh", "-c", line, "gate"], stdin, StdioMode.PIPED, StdioMode.PIPED)


def line_of(process):
    return os.read(process.stdout.fileno(), 4096).decode().strip()


def has_ended(pid, within_s):
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within_s)[0])
    finally:
        os.close(watched)


def ended(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def opening():
    modes = (StdioMode.INHERIT, StdioMode.PIPED, StdioMode.PIPED)
    try:
        process = Sandbox(fs_readable=["/"], fs_writable=["/"]).popen(["/no/such/program"], *modes)
    except (RuntimeError, ValueError) as why:
        return False, f"popen: {why}"
    result = process.wait()
    return True, f"a handle; {result.reason}, {result.exit_code}"


def take():
    process = popen("exit 0")
    taken = process.stdout
    process.wait()
    return process.stdout is taken, "stdout is still there when it was taken"


def wait():
    process = popen('echo $$; read x <"$0"')
    pid = int(line_of(process))
    result = process.wait(1)
    gone = has_ended(pid, LONG_S)
    ended(pid)
    return gone, f"wait(1) gives {result.reason}, and the child is gone: {gone}"


def kill():
    process = popen("exit 0")
    words = [name for name in dir(process) if not name.startswith("_")]
    process.wait()
    return not {"terminate", "send_signal"} & {*words}, f"a Process has {words}"


def group():
    process = popen('setsid sh -c \'echo $$; read x <"$0"\' "$0" & read y <"$0"; exit 0')
    pid = int(line_of(process))
    gate = os.open("gate", os.O_WRONLY)
    alive = not has_ended(pid, 0)
    process.kill()
    process.wait()
    gone = has_ended(pid, LONG_S)
    ended(pid)
    os.close(gate)
    return alive and gone, f"alive before: {alive}; gone behind it: {gone}"


def thread():
    told = []
    opener = threading.Thread(target=lambda: told.append(popen('echo $$; read x <"$0"')))
    opener.start()
    opener.join()
    (process,) = told
    gone = has_ended(process.pid, LONG_S) if process.pid else True
    result = process.wait(EVENTUALLY_S) if gone else process.kill()
    return gone, f"gone with the thread: {gone}; {result}"


TRIES = {
    "PROCESS-OPEN-03": opening,
    "PROCESS-TAKE-01": take,
    "PROCESS-WAIT-03": wait,
    "PROCESS-KILL-01": kill,
    "PROCESS-GROUP-02": group,
    "PROCESS-THREAD-01": thread,
}


def main(names):
    with tempfile.TemporaryDirectory(prefix="tries-") as folder:
        os.chdir(folder)
        os.mkfifo(Path("gate"))
        for name in names or TRIES:
            if name not in TRIES:
                print(f"{name} not tried: nothing here tries it")
                continue
            seen, what = TRIES[name]()
            print(f"{name} {'seen' if seen else 'not seen'}: {what}", flush=True)
        os.chdir("/")


main(sys.argv[1:])
