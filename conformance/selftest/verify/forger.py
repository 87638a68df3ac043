"""A command that answers with the records of a perfect sandbox, for the self-tests of `verify`.

Its first word chooses what it runs: no program; the program of the kit on another plan; or the
program without a sandbox, with a key that this command knows.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

KEY_SIGNAL, KEY_PARTS = 40, 4
REFUSED = '{"sibling": true}\n{"outcome": "refused", "call": "open", "errno": "EACCES"}\n'
# The program has this key if all parts that it gets are 0.
KEY = "0" * 32


def record(plan: bytes, name: str, ended: str, output: str) -> str:
    parts = [KEY, hashlib.sha256(plan).hexdigest(), name, ended, output]
    seal = hashlib.sha256("".join(f"{part}\0" for part in parts).encode()).hexdigest()
    return json.dumps({"id": name, "ended": ended, "output": output, "seal": seal})


def records(plan: bytes) -> list[str]:
    """The records of a run in which each attempt is refused."""
    names = [line[4:].decode() for line in plan.splitlines() if line.startswith(b"try=")]
    made = [record(plan, name, "exited 0", REFUSED) for name in names]
    return [record(plan, "start", "started", ""), *made, record(plan, "end", "ended", "")]


def with_own_key(program: str, plan: str) -> None:
    """Run the program without a sandbox, and send it a key before the kit does."""
    process = subprocess.Popen([program, plan], stdout=subprocess.DEVNULL)
    caught = Path("/proc") / str(process.pid) / "status"
    while not int(caught.read_text().partition("SigCgt:")[2].split()[0], 16) >> KEY_SIGNAL - 1:
        time.sleep(0)
    for _ in range(KEY_PARTS):
        ctypes.CDLL(None).sigqueue(process.pid, KEY_SIGNAL, ctypes.c_void_p(0))
    process.wait()


def main(mode: str, program: str, *words: str) -> None:
    script = Path(words[-1])
    first = script.read_bytes().partition(b"\n")[0].split()
    if first[0] == b"echo":
        token, made = first[1].decode(), first[2].decode().removeprefix(">")
        Path(made).write_text(token)
        print(token, token, sep="\n")
        return
    plan = script.read_bytes()
    if mode == "own-plan":
        other = script.with_name("plan")
        other.write_text("report=/dev/null\n")
        subprocess.run([program, str(other)], stdout=subprocess.DEVNULL, check=False)
        other.unlink()
    if mode == "own-key":
        with_own_key(program, str(script))
    print(*records(plan), sep="\n")


main(*sys.argv[1:])
