"""Writes outside of what the profile grants."""

import pytest

from boxspec.api import Box, requires
from contracts.backend.attempt import attempt

PLAIN = (
    *("w_create", "w_write", "w_append", "w_truncate", "w_open_rdonly_trunc", "w_mkdir", "w_rmdir"),
    *("w_unlink", "w_rename_inside_out", "w_rename_out_to_ws", "w_rename_ws_over_out"),
    *("w_symlink_create", "w_mkfifo", "w_unix_bind", "w_openat2", "w_creat"),
    *("w_tmp", "w_vartmp", "w_devshm", "w_home", "w_ssh_config", "w_etc"),
)
ALIAS = (
    *("w_hardlink_out_to_ws_write", "w_hardlink_ws_to_out", "w_symlink_dir_follow"),
    *("w_symlink_file_follow", "w_preplanted_symlink", "w_dotdot", "w_proc_self_root"),
    *("w_proc_victim_root", "w_proc_victim_cwd", "w_proc_ppid_root"),
    *("w_o_path_reopen", "w_race_symlink"),
)
AROUND = ("w_o_tmpfile", "w_io_uring_openat", "w_open_by_handle", "w_exchange", "w_whiteout")
READ_ONLY = ("w_ws", "w_ws_change", "w_ws_unlink")


@requires("BACKEND-WRITE-01")
@pytest.mark.parametrize("probe", PLAIN)
def test_a_change_outside_is_not_made(box: Box, probe: str) -> None:
    attempt(box, probe)


@requires("BACKEND-WRITE-02")
@pytest.mark.parametrize("probe", ALIAS)
def test_no_alias_leads_outside(box: Box, probe: str) -> None:
    attempt(box, probe)


@requires("BACKEND-WRITE-03")
@pytest.mark.parametrize("probe", AROUND)
def test_no_way_around_leads_outside(box: Box, probe: str) -> None:
    attempt(box, probe)


@requires("BACKEND-WRITE-04")
@pytest.mark.parametrize("probe", READ_ONLY)
def test_a_read_only_workspace_stays_as_it_is(box: Box, probe: str) -> None:
    attempt(box, probe, profile="read-only")
