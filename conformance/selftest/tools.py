"""Paths, and functions that run the kit or a shim. All self-tests share them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from jsonschema_rs import Validator

from boxspec.subject.client import schema
from boxspec.subject.observe import procs

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "build" / "release" / "reference" / "boxspec-ref"
PYTHON_IMPLEMENTATION = ROOT / "conformance" / "shims" / "python" / "shim.py"
FAKE = ROOT / "conformance" / "shims" / "fake" / "fake.py"
# Quick tests of one requirement, for runs that may use any test.
FEW_TEXTS = "nothing_is_trimmed and NUL"
CONFORMANCE = ROOT / "conformance"
CONTRACTS = {path.parent.name: path.parent for path in CONFORMANCE.glob("contracts/*/contract.py")}
OP_SCHEMAS = sorted(
    [
        *CONFORMANCE.glob("boxspec/subject/client/schemas/*.json"),
        *CONFORMANCE.glob("contracts/*/schemas/*.json"),
    ],
    key=lambda path: path.name,
)
RESULT_SCHEMA = CONFORMANCE / "boxspec" / "report" / "schemas" / "result.json"
PROTOCOL = CONFORMANCE / "spec" / "shim-protocol.md"

Done = subprocess.CompletedProcess[str]


def run(
    argv: Sequence[str | Path],
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    within_s: float = 300,
    stdin: str = "",
    user: int | None = None,
) -> Done:
    """Run a command in its own process group, which ends with the test."""
    process = subprocess.Popen(
        [str(word) for word in argv],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        user=user,
    )
    try:
        out, err = process.communicate(stdin, timeout=within_s)
    finally:
        if process.poll() is None:
            # Send SIGINT first, so that the kit ends its own processes, which are in other groups.
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def boxspec(*words: str | Path, **how: Any) -> Done:
    """Run the kit directly; ci/boxspec would build first."""
    return run([sys.executable, "-P", "-m", "boxspec", *words], **how)


def ask(shim: Sequence[str | Path], message: Mapping[str, Any], folder: Path, **how: Any) -> Any:
    """Send one request in run mode, and return RESPONSE."""
    request, response = folder / "request.json", folder / "response.json"
    request.write_text(json.dumps(message), encoding="utf-8")
    response.unlink(missing_ok=True)
    done = run([*shim, "run", request, response], **how)
    assert response.exists(), f"no RESPONSE, exit {done.returncode}: {done.stderr}"
    return json.loads(response.read_text(encoding="utf-8"))


def converse(shim: Sequence[str | Path], messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Send requests in serve mode, and return the answers."""
    done = run([*shim, "serve"], stdin="".join(json.dumps(m) + "\n" for m in messages))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def left_below(folder: Path) -> list[str]:
    """Return the processes with a working directory below this folder."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                where = str(Path(f"/proc/{name}/cwd").readlink())
            except OSError:
                continue
            if where.startswith(str(folder)):
                found.append(procs.proc(int(name)).describe())  # type: ignore[union-attr]
    return found


def op_schema(op: str, part: str) -> Validator:
    """Return the validator of the `request` or the `answer` of an operation."""
    return schema.of_request(op) if part == "request" else schema.of_answer(op)


def requirements(contract: str) -> list[dict[str, Any]]:
    """Return the entries of a contract's requirements.yaml, unchanged."""
    text = (CONTRACTS[contract] / "requirements.yaml").read_text()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: list[dict[str, Any]] = yaml.load(text, Loader=loader)["requirements"]
    return found


def fenced(page: Path, language: str) -> Iterator[str]:
    """Yield the code blocks of one language in a page, in order."""
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", page.read_text(), re.M | re.S):
        yield found[1]


def named_block(page: Path, name: str) -> str:
    """Return the code block after `<!-- file: name -->`."""
    found = re.search(
        rf"^<!-- file: {re.escape(name)} -->\n```\w*\n(.*?)^```$", page.read_text(), re.M | re.S
    )
    assert found is not None, f"{page.name} has no block for {name}"
    return found[1]


def named_output(page: Path) -> str:
    """Return the code block after `<!-- output -->`."""
    found = re.search(r"^<!-- output -->\n```text\n(.*?)^```$", page.read_text(), re.M | re.S)
    assert found is not None, f"{page.name} shows no output"
    return found[1]


class Asked:
    """Named requests, and the answers of the reference and of the Python implementation, from one
    session each."""

    shims = {"reference": REFERENCE, "python": PYTHON_IMPLEMENTATION}  # noqa: RUF012

    def __init__(self, requests: Mapping[str, Mapping[str, Any]]) -> None:
        self.requests = {name: {"id": name, **request} for name, request in requests.items()}
        self.answers: dict[str, dict[str, Any]] = {}

    def by_the_schema(self, shim: str, name: str) -> dict[str, Any]:
        """Return an answer after checking it and its request against their schemas."""
        if shim not in self.answers:
            came = converse([self.shims[shim]], list(self.requests.values()))
            self.answers[shim] = {answer["id"]: answer for answer in came}
        request, answer = self.requests[name], self.answers[shim][name]
        op_schema(request["op"], "request").validate(request)
        op_schema(request["op"], "answer").validate(answer)
        found: dict[str, Any] = answer
        return found


def can_mount() -> bool:
    """True if this process may make a mount namespace."""
    return os.geteuid() == 0 and run(["unshare", "--mount", "true"]).returncode == 0
