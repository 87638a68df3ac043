"""A run of the suite against a peer, and what came of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.peers.declared import Peer
from boxspec.peers.installing import state
from boxspec.places import COMMAND, ROOT, scratch
from boxspec.printable import one_line
from boxspec.report.result import Result, read

# After SIGTERM a run sweeps what it has started.
SWEEP_S = 60


@dataclass(frozen=True)
class Asked:
    """What a matrix is of. contracts, topics: empty for all that a peer names. jobs: long tests at
    once, None for what the machine has."""

    contracts: Sequence[str] = ()
    topics: Sequence[str] = ()
    limit_s: float = 1800
    jobs: int | None = None


@dataclass(frozen=True)
class Judged:
    """result: None where there is none, and then `why` says why."""

    peer: Peer
    version: str = ""
    result: Result | None = None
    why: str = ""

    def repro(self, requirement: str) -> str:
        return shlex.join([COMMAND, "repro", "--shim", self.peer.shim(), requirement])


def judged(peer: Peer, asked: Asked, results: Path) -> Judged:
    """One peer, within about the limit; its result is left in the folder `results`."""
    found = state(peer)
    if found.why:
        return Judged(peer, why=found.why)
    file = results / f"{peer.word}.json"
    file.unlink(missing_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="boxspec-peers-", dir=scratch()))
    # Some cases run as another user.
    folder.chmod(0o755)
    try:
        why = _run(_words(peer, asked, file), folder, asked.limit_s)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not file.exists():
        return Judged(peer, found.version, why=why or "no score")
    return Judged(peer, found.version, read(str(file)), why)


def kept(peer: Peer, results: Path) -> Judged:
    """As `judged` left it in `results`; nothing is run."""
    file = results / f"{peer.word}.json"
    if not file.exists():
        return Judged(peer, why=state(peer).why or "no result")
    result = read(str(file))
    version = str(result.plain["target"]["implementation"].get("version", ""))
    return Judged(peer, version, result)


def contracts_of(peer: Peer, asked: Asked) -> list[str]:
    return [name for name in peer.contracts if not asked.contracts or name in asked.contracts]


def topics_of(peer: Peer, asked: Asked) -> list[str]:
    """Empty for all; UsageError where it names other ones than are asked for."""
    if not asked.topics or not peer.topics:
        return list(asked.topics or peer.topics)
    found = [name for name in asked.topics if name in peer.topics]
    if not found:
        raise UsageError(peer.word, "is not judged by these topics", f"it has {peer.topics}")
    return found


def _words(peer: Peer, asked: Asked, file: Path) -> list[str]:
    words = ["run", "--shim", peer.shim(), "--profile", "all", "--json", str(file.absolute())]
    for name in contracts_of(peer, asked):
        words += ["--contract", name]
    for name in topics_of(peer, asked):
        words += ["--topic", name]
    return [*words, "-j", str(asked.jobs)] if asked.jobs else words


def _run(words: Sequence[str], folder: Path, limit_s: float) -> str:
    """Why the result is not whole, or nothing."""
    run = subprocess.Popen(
        [sys.executable, "-P", "-m", "boxspec", *words],
        cwd=ROOT,
        # What a failing case keeps is kept by the command of its cell.
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT / "conformance")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    try:
        _, said = run.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        _end(run)
        return f"the run did not end within {limit_s:g} s"
    except BaseException:
        _end(run)
        raise
    if run.returncode == 2:
        lines = said.decode("utf-8", "replace").strip().splitlines() or ["no word"]
        told = [line for line in lines if line.startswith("boxspec: ")] or lines
        return f"no score: {one_line(told[0])}"
    return ""


def _end(run: subprocess.Popen[bytes]) -> None:
    run.terminate()
    try:
        run.communicate(timeout=SWEEP_S)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
