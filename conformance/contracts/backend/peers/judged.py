"""One backend of a matrix: what it claims, and a run of the probes that are asked of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boxspec.errors import NotConforming, ShimBroke
from boxspec.judge.verdict import Failure, Late
from boxspec.places import case_root, scratch
from boxspec.subject.case import Box
from boxspec.subject.client.command import shim_argv
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from contracts.backend.peers.cells import Cell, cell
from contracts.backend.probes import table

PROFILES = ("repo-write", "read-only", "no-network", "full-dev", "ci-only")

SWEEP_S = 30
# A probe that misses its own bound of time, on a machine that had no processor for it, is asked
# again: without claims there is no column.
TURNS = 3
# The exit statuses of a run that came to its end.
SCORED = (0, 1, 3, 4)


@dataclass(frozen=True)
class Candidate:
    """A backend that is asked. label: its column; shim, backend: as on the command line."""

    label: str
    shim: str
    backend: str
    control: bool = False


@dataclass
class Column:
    """What one backend came to. why: why it has no cells, or not all of them. claims: the answers
    of probe by profile. kit: who asked, as a result says it: its version and commit."""

    candidate: Candidate
    version: str = ""
    mechanism: str = ""
    why: str = ""
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    kit: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.candidate.label,
            "control": self.candidate.control,
            "shim": self.candidate.shim,
            "backend": self.candidate.backend,
            "version": self.version,
            "mechanism": self.mechanism,
            "why": self.why,
            "kit": self.kit,
            "claims": self.claims,
            "cells": [each.to_json() for each in self.cells],
        }

    def claim(self, aspect: str) -> str:
        """What was claimed of an aspect, the best over the profiles."""
        said = {
            each["aspects"].get(aspect, {"claim": "unavailable"})["claim"]
            for each in self.claims.values()
        }
        return next((word for word in ("fully", "partial") if word in said), "-")


def judged(
    candidate: Candidate, topics: Sequence[str], limit_s: float, results: Path | None = None
) -> Column:
    """Never longer than about `limit_s`; whatever the shim does, a column comes of it.

    results: a folder that keeps the result of the run, by the label of the candidate.
    """
    column = Column(candidate)
    for turn in range(TURNS):
        try:
            _claims(column)
            break
        except (NotConforming, ShimBroke, Failure, Late) as why:
            if turn == TURNS - 1 or not isinstance(why, Failure | Late):
                column.why = f"its claims cannot be asked: {why}"
                return column
    if column.claims["repo-write"]["overall"] == "unavailable":
        reasons = column.claims["repo-write"]["aspects"]["fs-write"].get("reasons", [])
        column.why = f"unavailable here: {'; '.join(reasons)}"
        return column
    _run(column, topics, limit_s, results)
    return column


def version(candidate: Candidate) -> str:
    """What it says of itself now; empty where it says nothing."""
    session = Session(shim_argv(candidate.shim), backend=candidate.backend)
    try:
        trust(session, contracts=[])
        return _version(session)
    except (NotConforming, ShimBroke):
        return ""
    finally:
        session.close()


def _version(session: Session) -> str:
    said = session.hello["implementation"]
    return f"{said['name']} {said['version']}"


def _claims(column: Column) -> None:
    session = Session(shim_argv(column.candidate.shim), backend=column.candidate.backend)
    try:
        trust(session, contracts=[])
        column.version = _version(session)
        box = Box(session, "matrix")
        try:
            column.mechanism = "+".join(box.backend.mechanism(column.candidate.backend))
            for profile in PROFILES:
                column.claims[profile] = box.backend.probe(profile).result
                if column.claims[profile]["overall"] == "unavailable":
                    break  # one that does not start is not waited for five times
        finally:
            box.close(keep=False)
    finally:
        session.close()


def _run(column: Column, topics: Sequence[str], limit_s: float, results: Path | None) -> None:
    folder = Path(tempfile.mkdtemp(prefix="boxspec-matrix-", dir=scratch()))
    # Abandoned ones are known by the pid that their name begins with.
    cases = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-matrix-", dir=case_root()))
    cases.chmod(0o755)
    out = folder / "result.json"
    candidate = column.candidate
    argv = [sys.executable, "-P", "-m", "boxspec", "run", "--shim", candidate.shim]
    argv += ["--backend", candidate.backend, "--contract", "backend", "--profile", "all"]
    argv += [word for topic in topics for word in ("--topic", topic)]
    argv += ["--json", str(out)]
    # What a failing case keeps is kept by the command of its cell.
    env = {**os.environ, "TMPDIR": str(folder), "BOXSPEC_CASE_ROOT": str(cases)}
    try:
        run = subprocess.Popen(
            argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0
        )
        try:
            _, said = run.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            column.why = f"the probes did not end within {limit_s:g} s: what was asked is below"
            said = _end(run)
        except BaseException:
            _end(run)
            raise
        if not out.exists():
            lines = said.decode("utf-8", "replace").strip().splitlines() or ["no word"]
            column.why = column.why or f"no score: {lines[0]}"
            return
        if run.returncode not in SCORED:
            column.why = column.why or "the run was broken off: what was asked is below"
        if results is not None:
            shutil.copyfile(out, results / f"{candidate.label.replace(':', '-')}.json")
        tree = json.loads(out.read_text(encoding="utf-8"))
        column.kit = tree["kit"]
        known = table()
        made = [cell(test, known, candidate.shim, candidate.backend) for test in tree["tests"]]
        column.cells = sorted(made, key=lambda each: each.test)
    finally:
        for each in (folder, cases):
            with contextlib.suppress(OSError):
                shutil.rmtree(each)


def _end(run: subprocess.Popen[bytes]) -> bytes:
    """It sweeps what it has started, and has some time for that."""
    run.terminate()
    try:
        return run.communicate(timeout=SWEEP_S)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        return run.communicate()[1]
