"""Run the public suite of a contract on a mutant of the reference."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from making import ROOT

from boxspec.judge.requirements import load

BROKEN = ("fails", "escaped", "overrefused", "wrong-reason", "contradiction", "unproven")
# Time limit for a run. The kit limits every action of a shim itself, so this is for a mutant that
# escapes the kit's limits.
LONGEST_S = 1800
# A backend runs under each mechanism, and the supervision of exec is judged through its launcher.
BACKENDS = ("bubblewrap+seccomp", "landlock+seccomp")
INSIDE = "inside or test_kill.py"
RUNS = {
    "backend": [["--contract", "backend", "--backend", name] for name in BACKENDS]
    + [["--contract", "exec", "--backend", name, "-k", INSIDE] for name in BACKENDS]
}

# A changed line may remove any file, or signal any process. So the suite runs in a pid namespace
# and a mount namespace of its own, in which only the folder of the run can be written; /tmp,
# /var/tmp and a copy of /etc, which probes try to write, are folders in it.
CONFINED = """
set -e
mkdir -p -m 1777 "$1/tmp" "$1/var-tmp"
rm -rf "$1/etc"
cp -a /etc "$1/etc"
exec 9<"$1"
mount --bind "$1/etc" /etc
mount --bind "$1/tmp" /tmp
mount --bind "$1/var-tmp" /var/tmp
mkdir -p "$1"
mount --no-canonicalize --bind /proc/self/fd/9/. "$1"
mount -o remount,bind,ro /
exec 9<&-
shift
exec "$@"
"""
NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def judge(shim: Path, contract: str, work: Path, first: list[str]) -> dict[str, Any]:
    """Run the suite until a test fails; `first` names the topics that run before all others."""
    runs = RUNS.get(contract, [["--contract", contract]])
    known = {requirement.topic for requirement in load().values()}
    topics = [word for topic in first if topic in known for word in ("--topic", topic)]
    spent = 0.0
    outcome: dict[str, Any] = {}
    for options in [[*runs[0], *topics], *runs] if topics else runs:
        outcome = _run(shim, options, work)
        spent += outcome.pop("seconds", 0.0)
        if outcome["verdict"] != "survived":
            break
    return outcome | {"seconds": round(spent, 1)}


def judge_orders(shim: Path, contract: str, work: Path) -> dict[str, Any]:
    """Run the forced orders of events, and with them the suite of the contract."""
    return _run(shim, ["--contract", contract, "--orders"], work)


def late(tree: dict[str, Any]) -> list[str]:
    """Return the requirements of tests that were late in each attempt. On a busy machine a mutant
    that hangs is only reported as late. Such a mutant has not survived."""
    names = {
        name
        for test in tree["tests"]
        if test["verdict"] == "not-measured" and test["reason"].startswith("late ")
        for name in test["requirements"]
    }
    return sorted(names)


def _run(shim: Path, options: list[str], work: Path) -> dict[str, Any]:
    """Return the requirements that failed, or how else the run ended."""
    result = work / "result.json"
    result.unlink(missing_ok=True)
    words = [*NAMESPACES, "sh", "-c", CONFINED, "sh", str(work)]
    words += [sys.executable, "-P", "-m", "boxspec", "run", "--shim", shlex.quote(str(shim))]
    words += [*options, "--profile", "all", "-x", "--no-cache", "--json", str(result)]
    begun = time.monotonic()
    with subprocess.Popen(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(work), "BOXSPEC_CASE_ROOT": str(work)},
        start_new_session=True,
    ) as suite:
        try:
            _, errors = suite.communicate(timeout=LONGEST_S)
            status = suite.returncode
        except BaseException as why:
            os.killpg(suite.pid, signal.SIGKILL)
            if not isinstance(why, subprocess.TimeoutExpired):
                raise
            return {"verdict": "undecided", "by": f"no end after {LONGEST_S} s"}
    seconds = time.monotonic() - begun
    broken, too_late = [], []
    if result.exists():
        tree = json.loads(result.read_text(encoding="utf-8"))
        verdicts = {r["id"]: r["verdict"] for r in tree["requirements"]}
        broken = [name for name, verdict in verdicts.items() if verdict in BROKEN]
        too_late = late(tree)
        # A backend that no longer starts is reported as unavailable, and the other requirements do
        # not apply. This counts as a failure.
        if verdicts.get("BACKEND-WRITE-01") == "not-applicable":
            broken = ["claims nothing"]
    if broken or status == 1:
        return {"verdict": "killed", "by": broken[:3], "seconds": seconds}
    # An error of the kit proves nothing about the mutant.
    if status == 2 and b"not a conforming shim" in errors:
        return {"verdict": "killed", "by": ["not a conforming shim"], "seconds": seconds}
    if too_late:
        return {"verdict": "undecided", "by": f"late: {', '.join(too_late[:3])}"}
    # Exit status 3 is an incomplete run without a failure: some topics have no MUST, and some
    # attempts have no effect on this host.
    if status in (0, 3):
        return {"verdict": "survived", "seconds": seconds}
    return {"verdict": "undecided", "by": f"exit status {status}", "seconds": seconds}
