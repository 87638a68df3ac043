"""Shared memory, queues, sockets and keys of the host, under the hermetic profile."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.api import expect, requires
from boxspec.judge.verdict import HostLacks, Verdict
from contracts.backend.attempt import attempt, control, inside, judge
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scene import made_scene

MEMORY = (
    *("i_sysv_shm", "i_sysv_msg", "i_sysv_sem", "i_posix_mq", "i_dev_shm", "i_dev_shm_read"),
    *("i_posix_mq_unlink", "i_sysv_shm_remove", "i_shm_left"),
)
ABSTRACT = ("n_unix_abstract", "n_unix_abstract_dgram", "n_unix_pair_abstract", "n_unix_pair_wide")
SOCKETS = (*ABSTRACT, "n_unix_path_out", "n_unix_path_out_dgram", "n_unix_pair_path")
KEYS = ("i_key_read", "i_key_search")


@requires("BACKEND-IPC-01")
@pytest.mark.parametrize("probe", MEMORY)
def test_memory_and_queues_are_not_reached(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="ci-only")


@requires("BACKEND-IPC-02")
@pytest.mark.parametrize("probe", SOCKETS)
def test_sockets_are_not_reached(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="ci-only")


@requires("BACKEND-IPC-02")
@pytest.mark.parametrize("probe", ABSTRACT)
def test_abstract_sockets_do_not_come_with_the_network(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="repo-write")


@requires("BACKEND-IPC-03")
@pytest.mark.parametrize("probe", KEYS)
def test_keys_are_not_read(case: BackendCase, probe: str) -> None:
    attempt(case, probe, profile="ci-only")


@requires("BACKEND-IPC-04")
def test_no_descriptor_is_passed_in(case: BackendCase) -> None:
    attempt(case, "n_scm_rights", profile="ci-only")


@requires("BACKEND-IPC-05")
@pytest.mark.parametrize(("probe", "profile"), [("i_fifo", "ci-only"), ("i_fifo_ws", "read-only")])
def test_pipes_are_not_written_to(case: BackendCase, probe: str, profile: str) -> None:
    attempt(case, probe, profile=profile)


@requires("BACKEND-IPC-05")
@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/dev/shm"])
def test_pipes_of_a_workspace_are_not_written_to_in_any_place(
    case: BackendCase, place: str
) -> None:
    """Ask it where sandboxes have writable files of their own."""
    if not os.access(place, os.W_OK):
        raise HostLacks("other users", f"{place} is not open to this user")
    control("i_fifo_ws")
    with made_scene("i_fifo_ws", Path(place)) as scene:
        judge(scene, *inside(case, scene, "read-only"))


# The script opens its stdin again and writes to it. If the pipe is shared with outside, another
# reader would get these bytes after the first line.
REOPENS = 'read -r line; echo "$line"; echo outside >/proc/self/fd/0'


@contextlib.contextmanager
def one_line() -> Iterator[int]:
    """Yield the read end of a pipe that contains one line and has no writer."""
    reader, writer = os.pipe()
    try:
        os.write(writer, b"a line\n")
        os.close(writer)
        yield reader
    finally:
        os.close(reader)


@requires("BACKEND-IPC-06")
def test_the_pipe_on_stdin_is_not_written_to(case: BackendCase) -> None:
    with one_line() as reader:
        subprocess.run(["/bin/sh", "-c", REOPENS], stdin=reader, capture_output=True, check=False)
        if os.read(reader, 100) != b"outside\n":
            raise HostLacks(
                "working escape attempts", "a pipe cannot be reopened here even without a sandbox"
            )
    with made_ground() as ground, one_line() as reader:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", REOPENS], "stdin": "inherit"}],
            root=ground.ws,
            profile="ci-only",
            on_unavailable="degrade",
            shim_stdin=reader,
        )
        session.need_enforcement()
        expect("what the program read", session.only.stdout, b"a line\n")
        left = os.read(reader, 100)
        if left:
            session.excuse("ipc", "the pipe on stdin is written to")
        expect("what the next reader reads", left, b"", verdict=Verdict.CONTRADICTION)
