"""Read the list of escape probes, and the output of a probe."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from functools import cache

from boxspec.programs import programs


@dataclass(frozen=True)
class Probe:
    """One kind of attempt to escape.

    fixtures/probes/probe.h explains the words of `needs` and `judged`.
    accepts: the errnos of a genuine refusal.
    needs: the observers and files that the suite must prepare.
    judged: the observation that shows that the attempt succeeded.
    """

    name: str
    aspect: str
    tries: str
    accepts: frozenset[str]
    needs: frozenset[str]
    judged: str
    source: str


@cache
def table() -> dict[str, Probe]:
    """Return all probes that the program lists, by name."""
    listed = subprocess.run([programs.probe, "--list"], check=True, capture_output=True).stdout
    rows = [json.loads(line) for line in listed.splitlines()]
    return {row["name"]: _probe(row) for row in rows}


def _probe(row: dict[str, str]) -> Probe:
    accepts, needs = (frozenset(row[column].split()) for column in ("accepts", "needs"))
    return Probe(
        row["name"], row["aspect"], row["tries"], accepts, needs, row["judged"], row["source"]
    )


@dataclass
class ProbeResult:
    """The result that a probe printed about its attempt.

    sibling: True if the allowed counterpart worked.
    leaked: the texts that leaked.
    outcome: `did`, `refused` by the errno of a call, or `killed` by a signal. The outcomes
        `unable`, with the reason in `call`, and `nothing` do not count as evidence.
    """

    sibling: bool = False
    leaked: list[str] = field(default_factory=list)
    outcome: str = "nothing"
    call: str = ""
    errno: str = ""
    signal: str = ""

    @classmethod
    def of(cls, stdout: bytes) -> ProbeResult:
        """Read the JSON lines that the probe printed, and ignore all other lines."""
        made = cls()
        for line in stdout.decode("utf-8", "surrogateescape").splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if not isinstance(found, dict):
                continue
            made.sibling = made.sibling or found.get("sibling") is True
            if isinstance(found.get("leak"), str):
                made.leaked.append(found["leak"])
            if found.get("outcome") in ("did", "refused", "unable"):
                made.outcome = found["outcome"]
                made.call, made.errno = str(found.get("call", "")), str(found.get("errno", ""))
            # A signal does not replace an outcome, because it may have arrived after the attempt
            # ended.
            if found.get("outcome") == "killed" and made.outcome == "nothing":
                made.outcome, made.signal = "killed", str(found.get("signal", ""))
        return made

    @property
    def is_told(self) -> bool:
        """True if the outcome of the attempt is certain.

        A seccomp filter kills by SIGSYS. Any other signal means a crash or a time limit, and not a
        refusal.
        """
        return self.outcome in ("did", "refused") or self.signal == "SIGSYS"

    def __str__(self) -> str:
        if self.outcome == "killed":
            return f"killed by {self.signal}"
        if self.outcome == "unable":
            return self.call
        if self.outcome != "refused":
            return self.outcome
        return f"{self.errno} from {self.call}"
