"""Run the program `report` inside, which prints its directory, environment and descriptors."""

from __future__ import annotations

import base64
import json
from typing import Any, Unpack

from boxspec.judge.verdict import Failure, Verdict
from boxspec.programs import programs
from contracts.backend.answers import ObservedSession
from contracts.backend.client import BackendCase, SessionOptions
from contracts.backend.ground import Ground
from contracts.shared.files import program_at
from contracts.shared.requests import ExecRequest


def report(
    case: BackendCase,
    ground: Ground,
    *,
    call: ExecRequest | None = None,
    **options: Unpack[SessionOptions],
) -> dict[str, Any]:
    """Run `report` in a session of this run's backend, on this ground."""
    program = program_at(ground.ws / "report", programs.report)
    request: ExecRequest = {"program": str(program), "args": ["-", "--out"]}
    given: SessionOptions = {"root": ground.ws, "profile": "repo-write"}
    given["on_unavailable"] = "degrade"
    session = case.backend.run([request | (call or {})], **(given | options))
    return reported(session)


def reported(session: ObservedSession) -> dict[str, Any]:
    session.need_enforcement()
    answer = session.only
    try:
        found: dict[str, Any] = json.loads(answer.stdout)
    except ValueError:
        raise Failure(
            "a program runs inside",
            "its report",
            repr(answer.stdout[:200]),
            {"stderr": answer.stderr[:400]},
            Verdict.OVERREFUSED,
            symptom="no program runs inside",
        ) from None
    return found


def environment(found: dict[str, Any]) -> dict[str, str]:
    pairs = [base64.b64decode(each).decode() for each in found["env_b64"]]
    return dict(pair.split("=", 1) for pair in pairs)


def arguments(found: dict[str, Any]) -> list[str]:
    """Return the words that the program got. Its own name is the first word."""
    return [base64.b64decode(each).decode() for each in found["argv_b64"]]
