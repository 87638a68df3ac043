"""Faults that leave the network open."""

import backend.filter as filter_
import backend.inside as inside
from backend.bubblewrap import Bubblewrap
from faults.registry import fault, replaces

# Bit of the socket types that carry a stream; raw sockets have it too.
STREAMS = 1
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


def network_by_a_filter(*families):
    """Under no-network, refuse sockets by a filter in place of a network namespace.

    Streams are refused in each family, datagrams only in these.
    """
    number = filter_.CALLS[filter_.machine()]["socket"]
    code = [filter_.statement(filter_.LOAD, filter_.ARGUMENTS + 8)]
    code += [filter_.statement(filter_.ANY_OF, STREAMS, 0, 1), filter_.answer(filter_.EPERM)]
    code += [filter_.statement(filter_.LOAD, filter_.ARGUMENTS)]
    for family in families:
        code += [filter_.statement(filter_.EQUAL, family, 0, 1), filter_.answer(filter_.EPERM)]
    whole = filter_.with_first_argument(number, code)
    whole.append(filter_.statement(filter_.RETURN, filter_.ALLOW))

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        if context.profile != "no-network":
            return original(self, argv, context, cwd)
        inner = inside.command(argv, session=False, filter_=b"".join(whole))
        made, added = original(self, inner, context, cwd)
        at = made.index(b"--unshare-all") + 1
        return [*made[:at], b"--share-net", *made[at:]], added


@fault("BACKEND-NET-01", "datagrams over IPv6 are open", "a rule for each family but one")
def datagrams_of_ipv6_are_open():
    network_by_a_filter(filter_.AF_INET)


@fault("BACKEND-NET-01", "datagrams over IPv4 are open", "a rule for each family but one")
def datagrams_of_ipv4_are_open():
    network_by_a_filter(filter_.AF_INET6)


@fault("BACKEND-NET-01", "datagrams are open", "Landlock refuses TCP alone")
def datagrams_are_open():
    network_by_a_filter()
