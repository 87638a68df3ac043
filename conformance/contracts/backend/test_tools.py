"""Tools that developers and their agents often use. Each must work inside as it does outside."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from boxspec.api import HostLacks, Verdict, expect, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scene import PATH
from contracts.shared.requests import ExecRequest

WITHIN_S = 60.0
# Time limit for the work of a tool. It is long enough for a build under a tracer.
WORKS_MS = 45_000
MAIN = '#include <stdio.h>\nint main(void) { return puts("built") < 0; }\n'
PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(tiny C)
add_executable(tiny main.c)
enable_testing()
add_test(NAME tiny COMMAND tiny)
"""
PYTHON = (
    "import subprocess, sys, tempfile, threading; t = threading.Thread(target=print); t.start();"
    ' t.join(); f = tempfile.NamedTemporaryFile(); f.write(b"x"); f.flush();'
    ' subprocess.run([sys.executable, "-c", "pass"], check=True)'
)
NODE = "const fs = require('fs'); fs.writeFileSync('n', 'x'); fs.renameSync('n', 'm')"

# Shell scripts that exit with 0 only if the tool has done its work.
TOOLS = {
    "git": "git init -q . && git config user.name a && git config user.email a@b && git add main.c"
    " && git commit -q -m one && git branch two && git checkout -q two && git log --oneline"
    " | grep one && git gc -q && git fsck",
    "tar": "mkdir -m 750 d && cp main.c d && tar czf a.tgz d && rm -r d && tar xzpf a.tgz"
    " && test -f d/main.c",
    "cp": "touch -d 2001-02-03 main.c && chmod 640 main.c && cp -p main.c copy"
    " && test ! copy -nt main.c && ls -l copy | grep ^-rw-r-----",
    "gcc": "gcc -O1 -o built main.c && ./built | grep built",
    "cmake": "cmake -S . -B build && cmake --build build && ctest --test-dir build",
    "python3": f"python3 -c '{PYTHON}'",
    "node": f'node -e "{NODE}"',
}


@requires("BACKEND-ALLOW-04", overlap=3.0, needs=["BACKEND-CONTEXT-01"])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_does_its_work(case: BackendCase, tool: str) -> None:
    control(tool)
    with made_ground() as ground:
        fill(ground.ws)
        words: ExecRequest = {"program": "/bin/sh", "args": ["-c", TOOLS[tool]]}
        words |= {"env": [("PATH", PATH)], "timeout_ms": WORKS_MS}
        session = case.backend.run(
            [words],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            within_s=WITHIN_S,
        )
        answer = session.only
        shown = {"stdout": answer.stdout[-400:], "stderr": answer.stderr[-400:]}
        expect(
            f"exit code of {tool} and its steps",
            answer.result["exit_code"],
            0,
            shown,
            Verdict.OVERREFUSED,
        )


def fill(folder: Path) -> None:
    (folder / "main.c").write_text(MAIN)
    (folder / "CMakeLists.txt").write_text(PROJECT)


def control(tool: str) -> None:
    """Raise HostLacks if the tool does not work on this host without a sandbox."""
    with made_ground() as ground:
        fill(ground.ws)
        env = {"PATH": PATH, "HOME": str(ground.home), "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
        done = subprocess.run(
            ["/bin/sh", "-c", TOOLS[tool]],
            cwd=ground.ws,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN_S,
            check=False,
        )
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        raise HostLacks(
            "working escape attempts", f"{tool} does not work here without a sandbox: {why[-1:]}"
        )
