"""Show without the kit how a Popen behaves: tries.py ID... prints one line for each ID."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

# If a call takes this long, it probably waits for a process that this program keeps running. This
# is proven if the call returns after the process is released.
LONG_S = 3
HOLDER = 'read x <"$0" & echo $!; '


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def started(line):
    """Start a group of two processes.

    Return the Popen, and the pid of the second process, which waits at a fifo.
    """
    process = subprocess.Popen(
        ["/bin/sh", "-c", line, "gate"], stdout=subprocess.PIPE, process_group=0
    )
    return process, int(process.stdout.readline())


def take():
    process = subprocess.Popen(["/bin/true"], stdout=subprocess.PIPE)
    taken = process.stdout
    process.wait()
    return process.stdout is taken, "stdout is still there when it was taken"


def wait():
    process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    try:
        return False, f"cat ended with {process.wait(LONG_S)}"
    except subprocess.TimeoutExpired:
        process.stdin.close()
        return True, f"cat goes on for {LONG_S} s, and ends with {process.wait()} at a close"


def kill():
    process, member = started(HOLDER + "wait")
    process.terminate()
    process.wait()
    return is_alive(member), f"terminate() ended {process.returncode}, the member lives on"


def group():
    process, member = started(HOLDER + "exit 0")
    process.wait()
    return is_alive(member), "the leader has ended and was waited for, the member lives on"


def drop():
    process = subprocess.Popen(["/bin/sh", "-c", 'read x <"$0"', "gate"])
    pid = process.pid
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del process
        gc.collect()
    alive = is_alive(pid)
    os.kill(pid, signal.SIGKILL)
    return alive, f"it lives on, with {[str(each.category.__name__) for each in told]}"


TRIES = {
    "PROCESS-TAKE-01": take,
    "PROCESS-WAIT-04": wait,
    "PROCESS-KILL-02": kill,
    "PROCESS-GROUP-01": group,
    "PROCESS-DROP-01": drop,
}


def main(names):
    with tempfile.TemporaryDirectory(prefix="tries-") as folder:
        os.chdir(folder)
        os.mkfifo("gate")
        for name in names or TRIES:
            if name not in TRIES:
                print(f"{name} not tried: nothing here tries it")
                continue
            seen, what = TRIES[name]()
            print(f"{name} {'seen' if seen else 'not seen'}: {what}", flush=True)
        # Release each process that still waits at the fifo.
        os.close(os.open("gate", os.O_RDWR))
        os.chdir("/")


main(sys.argv[1:])
