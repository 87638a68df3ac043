"""The attack surface of the kernel under a filter, and root's actions on the host."""

import subprocess

import pytest

from boxspec.api import HostLacks, expect, requires
from contracts.backend.attempt import attempt, expect_nothing_outside
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground

SURFACE = (
    *("k_userfaultfd", "k_bpf", "k_perf_event", "k_userns", "k_userns_clone3", "k_add_key"),
    *("k_fanotify", "k_personality", "k_fsopen", "k_shmget", "k_tiocsti", "k_syslog"),
    *("k_open_by_handle", "k_userns_clone", "k_keyctl", "k_request_key", "k_tioclinux"),
    *("k_semget", "k_msgget", "k_setns", "k_umount", "k_open_tree", "k_mount_setattr"),
    *("k_fanotify_mark", "k_userns_clone_wide"),
)
FAMILIES = ("n_packet", "n_netlink_diag", "n_netlink_wide", "n_af_alg", "n_vsock")
PRIVILEGE = (
    *("k_mount_tmpfs", "k_mount_proc", "k_mount_bind_out", "z_remount_rw", "k_mknod", "k_chroot"),
    "z_remount_write",
)
FILES = (
    *("k_core_pattern_open", "k_sysctl_open", "k_sysrq_open", "k_cgroup_procs_open"),
    *("k_modprobe_open", "k_uevent_helper_open", "k_binfmt_open", "k_release_agent_open"),
    *("k_debugfs_open", "k_sysctl_write", "k_disk"),
    *("k_sysfs_open", "k_dev_mem", "k_dev_kmsg", "k_dev_kvm", "k_dev_fuse", "k_dev_vda"),
)


@requires("BACKEND-KERNEL-01")
@pytest.mark.parametrize("probe", SURFACE)
def test_a_filter_refuses(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-KERNEL-02")
@pytest.mark.parametrize("probe", ["k_io_uring_setup", "k_io_uring_register"])
def test_a_filter_refuses_io_uring(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-KERNEL-03")
@pytest.mark.parametrize("probe", PRIVILEGE)
def test_an_action_that_needs_root_is_refused(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-KERNEL-04")
@pytest.mark.parametrize("probe", FILES)
def test_no_file_of_the_kernel_is_opened_for_writing(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


# The script opens files of /proc for appending, without writing. It leaves out world-writable
# files, because every user may open them. It also leaves out files without any write permission,
# because root could open them anyway.
OPENS = r"""for file in $(find /proc -maxdepth 2 -type f -perm /222 ! -perm -2 \
    ! -path "/proc/[0-9]*" ! -path "/proc/self/*" ! -path "/proc/thread-self/*" 2>/dev/null); do
    (: >>"$file") 2>/dev/null && echo "$file"
done; echo looked"""


@requires("BACKEND-KERNEL-04")
def test_no_file_of_proc_that_is_the_systems_is_opened_for_writing(case: BackendCase) -> None:
    outside = subprocess.run(["/bin/sh", "-c", OPENS], check=False, capture_output=True, text=True)
    if outside.stdout.split() == ["looked"]:
        raise HostLacks(
            "working escape attempts",
            "no file of /proc can be written to here even without a sandbox",
        )
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", OPENS]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        *opened, looked = session.only.stdout.decode().split() or ["nothing"]
        expect("how the program that opens the files ended", looked, "looked")
        expect_nothing_outside(session, opened, "opened for writing")


@requires("BACKEND-KERNEL-05")
@pytest.mark.parametrize("probe", FAMILIES)
def test_a_filter_refuses_families_of_sockets(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-KERNEL-06")
def test_a_filter_refuses_the_calls_of_another_abi(case: BackendCase) -> None:
    attempt(case, "k_int80")
