"""Build the driver with the flags of the release preset, and each peer whose toolchain is
installed.

The build folder is separate. So the figures belong to the current sources, and no other build
changes.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.figures import CouldNotRun

EXEC = Path(__file__).resolve().parent.parent
ROOT = EXEC.parents[2]


@dataclass(frozen=True)
class Peer:
    name: str
    argv: tuple[str, ...]  # empty if the toolchain is missing


def _quietly(argv: Sequence[str | Path], what: str) -> None:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise CouldNotRun(f"{what} failed:\n{tail}")


def driver(folder: Path) -> Path:
    for tool in ("cmake", "ninja"):
        if shutil.which(tool) is None:
            raise CouldNotRun(f"no {tool}; ci/setup installs it")
    _quietly(["cmake", "--preset", "release", "-B", folder, "-DBOXSPEC_TESTS=OFF"], "cmake")
    _quietly(["cmake", "--build", folder, "--target", "boxspec-bench-exec"], "the build")
    return folder / "reference/bench/boxspec-bench-exec"


def _compiled(name: str, tool: str, options: Sequence[str], source: str, folder: Path) -> Peer:
    if shutil.which(tool) is None:
        return Peer(name, ())
    into = folder / "peers" / Path(source).stem
    into.parent.mkdir(parents=True, exist_ok=True)
    _quietly([tool, *options, "-o", into, EXEC / "peers" / source], f"{tool} for {source}")
    return Peer(name, (os.fspath(into),))


def peers(folder: Path) -> list[Peer]:
    node = shutil.which("node")
    script = os.fspath(EXEC / "peers" / "node_peer.js")
    return [
        Peer("Python subprocess.run", (sys.executable, os.fspath(EXEC / "peers/python_peer.py"))),
        Peer("Node child_process.execFile", (node, script) if node else ()),
        _compiled("Go os/exec", "go", ["build"], "go_peer.go", folder),
        _compiled("Rust std::process", "rustc", ["-O"], "rust_peer.rs", folder),
    ]
