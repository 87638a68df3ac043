"""Shared memory, queues, sockets and keys of the host, under the hermetic profile."""

import pytest

from boxspec.api import Box, requires
from contracts.backend.attempt import attempt

MEMORY = (
    *("i_sysv_shm", "i_sysv_msg", "i_sysv_sem", "i_posix_mq", "i_dev_shm", "i_dev_shm_read"),
    *("i_posix_mq_unlink", "i_sysv_shm_remove", "i_shm_left"),
)
ABSTRACT = ("n_unix_abstract", "n_unix_abstract_dgram", "n_unix_pair_abstract")
SOCKETS = (*ABSTRACT, "n_unix_path_out", "n_unix_path_out_dgram", "n_unix_pair_path")
KEYS = ("i_key_read", "i_key_search")


@requires("BACKEND-IPC-01")
@pytest.mark.parametrize("probe", MEMORY)
def test_memory_and_queues_are_not_reached(box: Box, probe: str) -> None:
    attempt(box, probe, profile="ci-only")


@requires("BACKEND-IPC-02")
@pytest.mark.parametrize("probe", SOCKETS)
def test_sockets_are_not_reached(box: Box, probe: str) -> None:
    attempt(box, probe, profile="ci-only")


@requires("BACKEND-IPC-02")
@pytest.mark.parametrize("probe", ABSTRACT)
def test_abstract_sockets_do_not_come_with_the_network(box: Box, probe: str) -> None:
    attempt(box, probe, profile="repo-write")


@requires("BACKEND-IPC-03")
@pytest.mark.parametrize("probe", KEYS)
def test_keys_are_not_read(box: Box, probe: str) -> None:
    attempt(box, probe, profile="ci-only")


@requires("BACKEND-IPC-04")
def test_no_descriptor_is_passed_in(box: Box) -> None:
    attempt(box, "n_scm_rights", profile="ci-only")


@requires("BACKEND-IPC-05")
@pytest.mark.parametrize(("probe", "profile"), [("i_fifo", "ci-only"), ("i_fifo_ws", "read-only")])
def test_pipes_are_not_written_to(box: Box, probe: str, profile: str) -> None:
    attempt(box, probe, profile=profile)
