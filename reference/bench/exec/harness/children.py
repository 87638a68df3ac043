"""Start the programs that measure. Some answer line by line, others print one object and end."""

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.figures import CouldNotRun

LONGEST_S = 300


class Server:
    """A program that reads a number of runs per line and answers with a line of nanoseconds."""

    def __init__(self, name: str, argv: Sequence[str | Path]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, runs: int) -> list[int]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(f"{runs}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise CouldNotRun(f"{self.name} ended early") from None
        answer = self._process.stdout.readline()
        if not answer.endswith("\n"):
            raise CouldNotRun(f"{self.name} ended early")
        return [int(word) for word in answer.split()]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextlib.contextmanager
def serving(name: str, *argv: str | Path) -> Iterator[Server]:
    server = Server(name, argv)
    try:
        yield server
    finally:
        server.close()


def once(*argv: str | Path, longest_s: float = LONGEST_S) -> dict[str, Any]:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=longest_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CouldNotRun(f"no end within {longest_s:.0f} s") from None
    if done.returncode != 0:
        raise CouldNotRun(done.stderr.strip() or f"exit status {done.returncode}")
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    result["messages"] = done.stderr.strip()
    return result
