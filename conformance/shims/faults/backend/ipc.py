"""Faults that leave the host's shared memory, sockets or keys accessible."""

import os

import backend.filter as filter_
import backend.session as session
from backend.bubblewrap import Bubblewrap
from faults.backend.filtered import compares_64_bits, without
from faults.registry import changed, fault, replaces

AF_UNIX, SOCK_DGRAM = 1, 2


@fault("BACKEND-IPC-01", "System V IPC is shared with the host", "--unshare-ipc left out")
def ipc_is_shared():
    without("sysv", "queues")

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--unshare-all")
        net = [] if b"--share-net" in made else [b"--unshare-net"]
        rest = [word for word in made[at + 1 :] if word != b"--share-net"]
        # A user namespace can mount mqueue only together with a new IPC namespace.
        queues = rest.index(b"--mqueue")
        del rest[queues : queues + 2]
        names = [b"--unshare-user-try", b"--unshare-pid", b"--unshare-uts"]
        return [*made[:at], *names, *net, *rest]


@fault("BACKEND-IPC-01", "IPC objects of the host can be removed", "only open and send are refused")
def removing_is_no_reaching():
    ipc_is_shared()
    refused = {
        "x86_64": {240, 242, 243, 29, 30, 64, 65, 66, 68, 69, 70, 71, 220},
        "aarch64": {180, 182, 183, 186, 187, 188, 189, 190, 191, 192, 193, 194, 196, 197},
    }

    @replaces(filter_)
    def groups(original):
        return {**original(), "reached": tuple(sorted(refused[filter_.machine()]))}


@fault("BACKEND-IPC-01", "files in the host's /dev/shm can be read", "read-only is no wall")
def shared_files_are_read():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--chdir") if b"--chdir" in made else made.index(b"--")
        return [*made[:at], b"--ro-bind", b"/dev/shm", b"/dev/shm", *made[at:]]


@fault(
    "BACKEND-IPC-02",
    "Unix sockets outside the workspace can be reached by their paths",
    "a read-only bind is no wall",
)
def sockets_by_path():
    @replaces(filter_)
    def families(original, inet):
        return (AF_UNIX, *original(inet))


@fault("BACKEND-IPC-02", "abstract sockets of the host can be reached", "they go with the network")
def abstract_sockets_are_forgotten():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        if profile in ("no-network", "ci-only"):
            return original(self, argv, root, profile, cwd, binds)
        families = filter_.families
        with changed(filter_, families=lambda inet: (AF_UNIX, *families(inet))):
            return original(self, argv, root, profile, cwd, binds)


@fault("BACKEND-IPC-02", "a pair of datagram sockets can be created", "it has no name")
def pairs_of_datagrams():
    @replaces(filter_)
    def pairs(original):
        return (*original(), SOCK_DGRAM)


@fault("BACKEND-IPC-03", "keyrings of the host can be reached", "no namespace has them")
def keyrings_are_forgotten():
    without("keyrings")


@fault("BACKEND-IPC-04", "Unix sockets in the workspace can be reached", "only those outside count")
def sockets_of_the_workspace():
    # Mounts still hide sockets outside the workspace, so only abstract names become accessible.
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        if profile != "ci-only":
            return original(self, argv, root, profile, cwd, binds)
        families = filter_.families
        with changed(filter_, families=lambda inet: (AF_UNIX, *families(inet))):
            made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--bind")
        return [*made[:at], b"--tmpfs", os.path.dirname(root), *made[at:]]


@fault(
    "BACKEND-IPC-05",
    "named pipes outside the workspace can be opened",
    "a read-only bind is no wall",
)
def named_pipes_are_forgotten():
    @replaces(Bubblewrap)
    def ruleset(original, self, root, profile):
        return None


@fault(
    "BACKEND-IPC-05", "named pipes in the root can always be opened", "the mount there is read-only"
)
def pipes_of_the_root_are_granted():
    @replaces(Bubblewrap)
    def writable(original, self, root, profile):
        return [root, *original(self, root, profile)]


@fault(
    "BACKEND-IPC-05",
    "named pipes of a workspace below the scratch can be opened",
    "a grant of /tmp holds for a mount below it",
)
def pipes_below_the_scratch_are_granted():
    @replaces(Bubblewrap)
    def scratch(original, self, root, profile):
        return b"/tmp"


@fault(
    "BACKEND-IPC-06",
    "a named pipe on stdin is passed to the program",
    "inherit leaves descriptor 0 as it is",
)
def the_pipe_is_handed_in():
    @replaces(session)
    def can_be_opened_again(original, fd):
        return original(fd) and os.path.isfile(f"/proc/self/fd/{fd}")


@fault("BACKEND-IPC-02", "the type of a pair is compared with 64 bits", "the size of a register")
def types_of_pairs_have_64_bits():
    compares_64_bits("one_of_types", 1)
