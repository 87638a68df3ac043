"""Tests of the sockets of services: clients send tokens, connect without end, or send nothing."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.verify.socket_files import MOST_CLIENTS, SocketFile, SocketFiles


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SocketFiles]:
    # The whole path may be too long for the address of a socket.
    monkeypatch.chdir(tmp_path)
    made = SocketFiles()
    made.by_name["agent"] = SocketFile(Path("agent"))
    with made:
        yield made


def connected(files: SocketFiles) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(files.by_name["agent"].path))
    return made


def has_settled(files: SocketFiles) -> bool:
    asking = threading.Thread(target=files.settle, daemon=True)
    asking.start()
    asking.join(10)
    return not asking.is_alive()


def test_tokens_that_were_sent_before_the_question_are_received(files: SocketFiles) -> None:
    tokens = [f"token {number};" for number in range(40)]
    for token in tokens:
        files.by_name["agent"].expect(token)
    with contextlib.ExitStack() as stack:
        for token in tokens[:-1]:
            stack.enter_context(connected(files)).send(token.encode())
        assert has_settled(files)
    received = [each for each in tokens if files.by_name["agent"].received(each)]
    assert received == tokens[:-1]


def test_programs_that_connect_without_end_do_not_block_the_kit(files: SocketFiles) -> None:
    stopped = threading.Event()

    def connect() -> None:
        while not stopped.is_set():
            with contextlib.suppress(OSError), connected(files) as client:
                client.send(b"x")

    threads = [threading.Thread(target=connect) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        answered = [has_settled(files) for _ in range(20)]
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    assert all(answered)


def test_connections_that_say_nothing_are_closed(files: SocketFiles) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(files)) for _ in range(MOST_CLIENTS + 20)]
        assert has_settled(files)
        clients[0].settimeout(10)
        assert clients[0].recv(1) == b""
