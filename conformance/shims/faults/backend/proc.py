"""Faults that leave other processes accessible."""

from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.registry import fault, replaces


def without_pids(made):
    at = made.index(b"--unshare-all")
    rest = made[at + 1 :]
    net = [] if b"--share-net" in rest else [b"--unshare-net"]
    rest = [word for word in rest if word != b"--share-net"]
    names = [b"--unshare-user-try", b"--unshare-ipc", b"--unshare-uts", b"--unshare-cgroup-try"]
    return [*made[:at], *names, *net, *rest]


@fault("BACKEND-PROC-01", "there is no PID namespace", "--unshare-pid left out")
def processes_are_shared():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        return without_pids(original(self, argv, root, profile, cwd, binds))


@fault("BACKEND-PROC-02", "/proc is the host's", "--bind /proc for tools that look at it")
def proc_is_the_hosts():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--proc")
        return [*made[:at], b"--ro-bind", b"/proc", *made[at + 1 :]]


@fault("BACKEND-PROC-03", "a daemon survives the session", "bubblewrap#105: no --die-with-parent")
def daemons_live_on():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        # The probe stays correct, because another requirement tests the processes that a probe
        # leaves.
        return made if root == b"/" else [word for word in made if word != b"--die-with-parent"]


@fault(
    "BACKEND-PROC-03",
    "a deadline ends only the wrapper, not the program",
    "kill(pid), and no --die-with-parent",
)
def a_deadline_ends_the_wrapper_alone():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        original(self, request, cwd)
        if request.timeout_ms is not None:
            request.args = [word for word in request.args if word != b"--die-with-parent"]
