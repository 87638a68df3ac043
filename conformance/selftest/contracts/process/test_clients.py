"""Tests with real programs at both ends of a bridge: the public MCP SDK, a language server,
interpreters.

`ci/setup --clients` installs the programs that are not part of the system. Without it their tests
are skipped.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

from contracts.shared.moments import until
from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE, ROOT, run

INSTALLED = ROOT / "build" / "clients"
PYTHON = INSTALLED / "bin" / "python"
PROGRAMS = ROOT / "fixtures" / "clients"
SERVER = [PYTHON, PROGRAMS / "mcp_server.py"]
STUBBORN_S = 2 + 2  # the client's limits: 2 s after the end of stdin, 2 s after SIGTERM

installed = pytest.mark.skipif(
    not (INSTALLED / ".stamp").exists(), reason="no clients are installed: ci/setup --clients"
)

Words = Sequence[str | Path]


class Bridge:
    """A bridge of one kind. All its processes inherit a variable that identifies them."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.errors = folder / "errors"
        self.options: list[str] = []  # options of the command
        self.env = {"BOXSPEC_CLIENT": secrets.token_hex(8)}
        self.mark = self.env["BOXSPEC_CLIENT"].encode()

    def to(self, *program: str | Path) -> list[str]:
        words = [str(word) for word in program]
        if self.kind == "command":
            return [str(REFERENCE), "bridge", *self.options, "--", *words]
        request = {"program": words[0], "args": words[1:]}
        message = {"id": "1", "op": "process.bridge", "request": request}
        (self.folder / "request").write_text(json.dumps(message), encoding="utf-8")
        shim = (
            [REFERENCE]
            if self.kind == "reference"
            else [sys.executable, "-I", "-S", PYTHON_IMPLEMENTATION]
        )
        places = [self.folder / name for name in ("request", "response")]
        return [*map(str, shim), "run", *map(str, places)]

    def response(self) -> Any:
        return json.loads((self.folder / "response").read_text(encoding="utf-8"))["result"]

    def living(self) -> list[int]:
        return [int(place.parent.name) for place in environments() if self.mark in read(place)]

    def session(self, *program: str | Path, calls: Sequence[Any] = (), **more: Any) -> Any:
        asked = {"command": self.to(*program), "errors": str(self.errors), "env": self.env}
        words = json.dumps({**asked, "calls": calls, **more})
        done = run([PYTHON, PROGRAMS / "mcp_client.py", words], within_s=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *program: str | Path) -> subprocess.Popen[bytes]:
        env = {**os.environ, **self.env}
        pipe = subprocess.PIPE
        return subprocess.Popen(self.to(*program), env=env, stdin=pipe, stdout=pipe, stderr=pipe)


def environments() -> Iterator[Path]:
    return Path("/proc").glob("[0-9]*/environ")


def read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def bridge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bridge]:
    """Yield a bridge; all its processes must have ended 1 s after the test."""
    made = Bridge(getattr(request, "param", "reference"), tmp_path)
    yield made
    gone = until(lambda: not made.living(), 1)
    left = made.living()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert gone, left


on_the_command = pytest.mark.parametrize("bridge", ["command"], indirect=True)


@installed
@pytest.mark.parametrize("bridge", ["command", "python"], indirect=True)
def test_a_session_of_the_mcp_sdk(bridge: Bridge) -> None:
    told = bridge.session(*SERVER, calls=[("add", {"a": 19, "b": 23})])
    assert (told["server"], told["calls"]) == ("boxspec-fixture", ["42"])
    assert "add" in told["tools"]
    if bridge.kind != "command":
        assert bridge.response() == {"exited": 0}


@pytest.fixture
def root() -> Iterator[Path]:
    """Yield a folder next to the interpreter. The folder is not below /tmp, because one sandbox
    hides most of /tmp. The checkout itself may be below /tmp."""
    with tempfile.TemporaryDirectory(dir=INSTALLED) as folder:
        yield Path(folder)


@installed
@on_the_command
@pytest.mark.parametrize("backend", ["bubblewrap+seccomp", "landlock+seccomp"])
def test_a_session_with_a_server_in_a_sandbox(bridge: Bridge, backend: str, root: Path) -> None:
    """The server answers, is denied a forbidden operation, and continues to answer."""
    outside = bridge.folder / "outside"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        listener.accept()[0].close()
        listener.setblocking(False)
        bridge.options = ["--backend", backend, "--on-unavailable", "degrade"]
        bridge.options += ["--confine", "no-network", "--root", str(INSTALLED)]
        server = shutil.copy(SERVER[1], root)
        calls = [
            ("write", {"path": str(root / "allowed")}),
            ("write", {"path": str(outside)}),
            ("connect", {"port": port}),
            ("add", {"a": 1, "b": 1}),
        ]
        told = bridge.session(PYTHON, server, calls=calls)
        with pytest.raises(BlockingIOError):
            listener.accept()
    written, refused, unconnected, added = told["calls"]
    assert (written, (root / "allowed").read_text(), added) == ("done", "written", "2")
    assert refused.startswith("refused: ") and not outside.exists()
    assert unconnected.startswith("refused: ")


@installed
def test_a_server_that_is_killed_is_the_end_of_the_session(bridge: Bridge) -> None:
    told = bridge.session(*SERVER, calls=[("end_by", {"number": signal.SIGKILL})])
    assert "closed" in told["calls"][0].lower()
    assert bridge.response() == {"signaled": "SIGKILL"}


@installed
def test_a_server_that_hangs_is_killed_by_the_clients_shutdown(bridge: Bridge) -> None:
    calls = [("end_by", {"number": signal.SIGSTOP})]
    told = bridge.session(*SERVER, calls=calls, call_s=1)
    assert "timed out" in told["calls"][0]
    # The bridge gives its program less time than the client gives the bridge. On a busy machine the
    # time of the client may nevertheless end first.
    if told["shutdown_s"] < STUBBORN_S:
        assert bridge.response() == {"signaled": "SIGKILL"}


@installed
def test_a_flood_on_stderr_arrives_during_the_session(bridge: Bridge) -> None:
    calls = [("flood", {"size": 8 << 20}), ("add", {"a": 1, "b": 1})]
    told = bridge.session(*SERVER, calls=calls)
    assert told["calls"] == ["begun", "2"]
    assert bridge.response() == {"exited": 0}
    assert bridge.errors.read_bytes().count(b"e" * 64) > 0


@installed
def test_an_unread_flood_does_not_stop_the_session(bridge: Bridge) -> None:
    os.mkfifo(bridge.errors)
    reader = os.open(bridge.errors, os.O_RDONLY | os.O_NONBLOCK)
    try:
        calls = [("flood", {"size": 8 << 20}), ("add", {"a": 1, "b": 1})]
        assert bridge.session(*SERVER, calls=calls)["calls"] == ["begun", "2"]
    finally:
        os.close(reader)


@installed
@on_the_command
def test_the_clients_own_shutdown_leaves_nothing_of_a_stubborn_server(bridge: Bridge) -> None:
    place = bridge.folder / "numbers"
    told = bridge.session(*SERVER, "--stubborn", place)
    assert len(place.read_text().split()) == 2
    assert told["shutdown_s"] >= 2


@installed
@on_the_command
def test_a_bridge_that_the_client_kills_leaves_nothing(bridge: Bridge) -> None:
    place = bridge.folder / "numbers"
    bridge.session(*SERVER, "--stubborn", place, kill=True)
    assert len(place.read_text().split()) == 2


class Framed:
    """JSON-RPC messages with a Content-Length header."""

    def __init__(self, to: IO[bytes], since: IO[bytes]) -> None:
        self.to = to
        self.since = since

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.to.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.to.flush()

    def receive(self) -> Any:
        length = 0
        while (line := self.since.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self.since.read(length))

    def ask(self, number: int, method: str, **parameters: Any) -> Any:
        self.send(id=number, method=method, params=parameters)
        while (message := self.receive()).get("id") != number or "method" in message:
            pass
        return message["result"]


@installed
def test_a_framed_exchange_with_a_language_server(bridge: Bridge) -> None:
    with bridge.start(PYTHON, "-m", "pylsp") as process:
        assert process.stdin and process.stdout
        rpc = Framed(process.stdin, process.stdout)
        told = rpc.ask(1, "initialize", processId=None, rootUri=None, capabilities={})
        assert told["capabilities"]["hoverProvider"]
        rpc.send(method="initialized", params={})
        text = 'def größe(a):\n    """Die Größe."""\n    return a\n\n\ngröße(1)\n'
        document = {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": text}
        rpc.send(method="textDocument/didOpen", params={"textDocument": document})
        here = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 5, "character": 2}}
        assert "Die Größe." in str(rpc.ask(2, "textDocument/hover", **here))
        assert rpc.ask(3, "shutdown") is None
        rpc.send(method="exit")
        assert process.wait(20) == 0
    assert bridge.response() == {"exited": 0}


REPLS = {
    "python3": (["-i", "-q"], [(b"1 + 1\n", b"2\n"), (b"'a' * 2\n", b"'aa'\n")], b"exit(3)\n", 3),
    "bc": (["-q"], [(b"7 * 6\n", b"42\n"), (b"2 ^ 9\n", b"512\n")], b"quit\n", 0),
}


@pytest.mark.parametrize("bridge", ["reference", "python"], indirect=True)
@pytest.mark.parametrize("name", REPLS)
def test_an_interpreter_answers_line_by_line(bridge: Bridge, name: str) -> None:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"there is no {name}")
    words, exchanges, farewell, code = REPLS[name]
    with bridge.start(program, *words) as process:
        assert process.stdin and process.stdout
        for line, answer in exchanges:
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.write(farewell)
        process.stdin.flush()
        assert process.wait(20) == 0
    assert bridge.response() == {"exited": code}
