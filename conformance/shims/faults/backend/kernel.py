"""Faults in the filter of system calls, and in the rights of root."""

import backend.filter as filter_
import backend.inside as inside
from backend.bubblewrap import Bubblewrap
from faults.backend.filtered import compares_64_bits, without
from faults.registry import fault, replaces


@fault("BACKEND-KERNEL-01", "userfaultfd and bpf are let through", "an old list")
def old_list():
    without("userfaultfd", "bpf")


@fault("BACKEND-KERNEL-01", "the ioctl request TIOCSTI is compared on 64 bits", "CVE-2019-10063")
def requests_are_compared_whole():
    @replaces(filter_)
    def on_requests(original, number, more):
        load, _, *then = original(number, more)
        high = filter_.statement(filter_.LOAD, filter_.ARGUMENTS + 12)
        zero = filter_.statement(filter_.EQUAL, 0, 0, len(then))
        match = filter_.statement(filter_.EQUAL, number, 0, len(then) + 2)
        return [load, match, high, zero, *then]


@fault("BACKEND-KERNEL-02", "io_uring is allowed", "a list from before 2019")
def io_uring_is_forgotten():
    without("io_uring")


@fault("BACKEND-KERNEL-03", "capabilities are kept", "bubblewrap as root without --cap-drop")
def capabilities_are_kept():
    without("mounts")
    inside.ALWAYS = ("close_descriptors", "no_new_privileges")

    @replaces(Bubblewrap)
    def hardening(original, self):
        return [b"--new-session", b"--die-with-parent", b"--cap-add", b"ALL"]


@fault("BACKEND-KERNEL-04", "the host's devices are visible", "--dev-bind /dev /dev")
def devices_are_the_hosts():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--dev")
        return [*made[:at], b"--dev-bind", b"/dev", *made[at + 1 :]]


@fault(
    "BACKEND-KERNEL-04", "the host's /proc/irq is visible", "for programs that pin their threads"
)
def interrupts_are_the_hosts():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        irq = b"/proc/irq"
        return original(self, argv, root, profile, cwd, [*binds, b"--bind", irq, irq])


@fault("BACKEND-KERNEL-05", "only Unix sockets are refused", "a denylist of families")
def families_by_a_deny_list():
    @replaces(filter_)
    def allowed_families(original, inet):
        return [
            filter_.statement(filter_.LOAD, filter_.ARGUMENTS),
            filter_.statement(filter_.EQUAL, 1, 0, 1),
            filter_.answer(filter_.EAFNOSUPPORT),
        ]


@fault("BACKEND-KERNEL-06", "calls of another architecture are let through", "CVE-2009-0835")
def another_architecture_is_let_through():
    kill = filter_.statement(filter_.RETURN, filter_.KILL)
    allow = filter_.statement(filter_.RETURN, filter_.ALLOW)

    @replaces(filter_)
    def program(original, inet, metadata=True):
        return original(inet, metadata).replace(kill, allow, 1)


@fault(
    "BACKEND-KERNEL-01", "a namespace flag passes if it is combined with another one", "== for &"
)
def flags_are_compared_whole():
    new_user, child = 0x10000000, 17

    @replaces(filter_)
    def any_flag(original, flags):
        load, *_ = original(flags)
        refused = [
            filter_.statement(filter_.EQUAL, each, 0, 1) for each in (new_user, new_user | child)
        ]
        return [load, *(word for each in refused for word in (each, filter_.answer(filter_.EPERM)))]


@fault("BACKEND-KERNEL-01", "request_key is allowed", "only add_key and keyctl are refused")
def request_key_is_forgotten():
    numbers = {"x86_64": 249, "aarch64": 218}

    @replaces(filter_)
    def groups(original):
        made = original()
        forgotten = numbers[filter_.machine()]
        return {**made, "keyrings": tuple(set(made["keyrings"]) - {forgotten})}


@fault("BACKEND-KERNEL-01", "TIOCLINUX is allowed", "CVE-2023-1523: only TIOCSTI is refused")
def a_console_may_paste():
    filter_.TIOCLINUX = filter_.TIOCSTI


@fault("BACKEND-KERNEL-05", "socket families are compared on 64 bits", "an int of the kernel")
def families_are_compared_whole():
    compares_64_bits("allowed_families", 0)


@fault(
    "BACKEND-KERNEL-02",
    "a missing io_uring filter is reported only after the probe",
    "claims that a session lowers",
)
def io_uring_is_owned_up_to_too_late():
    without("io_uring")

    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        original(self, context, claims)
        claims.lacks("kernel", "io_uring is let through")


def forget(group, x86_64, aarch64):
    """Leave out calls of a group. They are given by their numbers on each architecture."""
    forgotten = {"x86_64": x86_64, "aarch64": aarch64}

    @replaces(filter_)
    def groups(original):
        made = original()
        return {**made, group: tuple({*made[group]} - {*forgotten[filter_.machine()]})}


@fault("BACKEND-KERNEL-01", "semaphores of System V are allowed", "a list of shared memory only")
def semaphores_are_forgotten():
    forget("sysv", (64, 65, 66, 220), (190, 191, 192, 193))


@fault(
    "BACKEND-KERNEL-01", "message queues of System V are allowed", "a list of shared memory only"
)
def messages_are_forgotten():
    forget("sysv", (68, 69, 70, 71), (186, 187, 188, 189))


@fault("BACKEND-KERNEL-01", "umount2 is allowed", "only mount is refused")
def unmounting_is_forgotten():
    forget("mounts", (166,), (39,))


@fault("BACKEND-KERNEL-01", "open_tree is allowed", "a list from before 2019")
def trees_are_forgotten():
    forget("mounts", (428,), (428,))


@fault("BACKEND-KERNEL-01", "mount_setattr is allowed", "a list from before 2021")
def attributes_of_mounts_are_forgotten():
    forget("mounts", (442,), (442,))


@fault("BACKEND-KERNEL-01", "setns is allowed", "only clone and unshare are refused")
def joining_a_namespace_is_forgotten():
    forget("setns", (308,), (268,))


@fault("BACKEND-KERNEL-01", "fanotify_mark is allowed", "only fanotify_init is refused")
def marks_are_forgotten():
    forget("fanotify", (301,), (263,))


@fault("BACKEND-KERNEL-01", "flags of clone are compared with 64 bits", "the size of a register")
def flags_have_64_bits():
    compares_64_bits("any_flag", 0)
