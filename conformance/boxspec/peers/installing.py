"""What of a peer is here, and how the rest comes here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from boxspec.peers.declared import Peer, to_install
from boxspec.places import ROOT
from boxspec.printable import one_line

# The longest of them compile a library and all that it needs.
WITHIN_S = 1800
ASKED_S = 60


@dataclass(frozen=True)
class State:
    """version: empty where it cannot be judged here, and then `why` says why."""

    version: str = ""
    why: str = ""


def state(peer: Peer) -> State:
    if peer.not_judged:
        return State(why=f"not judged: {peer.not_judged}")
    missing = [name for name in peer.needs if shutil.which(name) is None]
    if missing:
        return State(why=f"there is no {', '.join(missing)}")
    if peer.install or peer.build:
        stamp = peer.stamp.read_text(encoding="utf-8") if peer.stamp.exists() else ""
        if stamp != peer.digest():
            said = "was changed since it was installed" if stamp else "not installed"
            if stamp.startswith("cannot "):
                said = stamp
            return State(why=f"{said}: {to_install(peer)}")
    try:
        return State(version=_printed(peer.argv(peer.version)))
    except Failed as why:
        return State(why=f"its version cannot be read: {why}")


def install(peer: Peer) -> State:
    """From nothing; what came of it is kept."""
    shutil.rmtree(peer.home, ignore_errors=True)
    peer.home.mkdir(parents=True)
    try:
        for words in commands(peer):
            print(one_line(f"+ {' '.join(words)}"), flush=True)
            called(words, WITHIN_S)
        peer.stamp.write_text(peer.digest(), encoding="utf-8")
    except Failed as why:
        peer.stamp.write_text(f"cannot be installed: {why}", encoding="utf-8")
    return state(peer)


def commands(peer: Peer) -> Iterator[list[str]]:
    for words in (*peer.install, *peer.build):
        yield peer.argv(words)


class Failed(Exception):
    """In one line."""


def _printed(words: Sequence[str]) -> str:
    lines = called(words, ASKED_S).splitlines()
    return one_line(lines[0].strip()) if lines else ""


def called(words: Sequence[str], within_s: float) -> str:
    """What it printed; Failed where it cannot be run, takes too long or exits otherwise than 0."""
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=within_s,
            check=False,
        )
    except OSError as why:
        raise Failed(f"{words[0]}: {why.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"{words[0]} does not end within {within_s:g} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        told = [line for line in said if "error" in line.lower()] or said or ["no word"]
        raise Failed(one_line(f"{words[0]}: {told[-1].strip()}"))
    return (done.stdout or done.stderr).decode("utf-8", "replace")
