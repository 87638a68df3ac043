"""Faults that leave the network open."""

import backend.filter as filter_
from backend.bubblewrap import Bubblewrap
from faults.registry import fault, replaces

CONNECT = (42, 44, 46, 307)  # connect, sendto, sendmsg, sendmmsg on x86-64


def share_network():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        at = made.index(b"--unshare-all") + 1
        return [*made[:at], b"--share-net", *made[at:]]


@fault("BACKEND-NET-01", "the network is never taken away", "--unshare-all and --share-net")
def network_is_shared():
    share_network()


@fault(
    "BACKEND-NET-02", "only the system call connect is refused, so io_uring can connect", "seccomp"
)
def only_connect_is_refused():
    share_network()
    closed: list[bool] = []

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        closed[:] = [profile in ("no-network", "ci-only")]
        return original(self, argv, root, profile, cwd, binds)

    @replaces(filter_)
    def groups(original):
        if not any(closed):
            return original()
        found = {name: each for name, each in original().items() if name != "io_uring"}
        return {**found, "connect": CONNECT}
