"""The filters `remote` and `local`, which select an end of a connection."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.sbpl.seatbelt.filters import Address, Filter, Gap, Met, Subject, any_of
from contracts.sbpl.seatbelt.reader import List, Refused, Undecidable

PROTOCOLS = ("ip", "ip4", "ip6", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6")
UNIX = ("unix", "unix-socket")
HOST_SOURCE = "published runs: host must be * or localhost in network address, exit status 65"


@dataclass(frozen=True, eq=False)
class OfAddress(Filter):
    """`(remote tcp "localhost:*")`: one end of a connection over IP. Without an address it matches
    every end."""

    form: List
    side: str
    protocol: str
    written: tuple[str, ...]
    addresses: tuple[tuple[str, str], ...]

    def meets(self, subject: Subject) -> Met:
        if not subject.is_on_ip:
            return None if subject.path is None else False
        mine = subject.remote if self.side == "remote" else subject.local
        other = subject.local if self.side == "remote" else subject.remote
        known = mine or other
        assert known is not None
        protocol = self._takes_protocol(known)
        if not protocol:
            return protocol
        return any_of(_takes(host, port, mine) for host, port in self.addresses)

    def _takes_protocol(self, given: Address) -> Met:
        kind, version = self.protocol.rstrip("46"), self.protocol.lstrip("iptcud")
        if kind != "ip" and kind != given.protocol:
            return False
        if not version:
            return True
        if given.host in ("*", "localhost"):
            return None
        return (":" in given.host) is (version == "6")

    def unknown(self) -> list[Gap]:
        return [Gap(f"the filter {str(self)[:80]}", fact=f"the {self.side} address")]

    def __str__(self) -> str:
        return f"({' '.join((self.side, self.protocol, *self.written))})"


def _takes(host: str, port: str, given: Address | None) -> Met:
    if given is None:
        return True if (host, port) == ("*", "*") else None
    is_host: Met = True if host == "*" else given.is_local
    is_port: Met = True if port in ("*", given.port) else (None if given.port == "*" else False)
    if is_host is False or is_port is False:
        return False
    return None if is_host is None or is_port is None else True


@dataclass(frozen=True, eq=False)
class OfSocket(Filter):
    """`(remote unix-socket (subpath "/run"))`: a Unix socket. Without a filter it matches every
    one."""

    form: List
    side: str
    of: tuple[Filter, ...]

    def meets(self, subject: Subject) -> Met:
        if subject.path is None:
            return False if subject.is_on_ip else None
        return any_of(each.meets(subject) for each in self.of) if self.of else True

    def unknown(self) -> list[Gap]:
        return [gap for each in self.of for gap in each.unknown()]

    def __str__(self) -> str:
        return f"({' '.join((self.side, 'unix-socket', *map(str, self.of)))})"


def addresses(form: List, words: list[bytes]) -> tuple[tuple[str, str], ...]:
    """Return the host and the port of each address.

    sandbox-exec was observed to refuse hosts except `*` and `localhost`.
    """
    found = []
    for word in words:
        text = word.decode("utf-8", "backslashreplace")
        host, colon, port = text.rpartition(":")
        if not colon:
            host, port = text, "*"
        if host not in ("*", "localhost"):
            raise Refused(form.line, f"the host of {text!r} in {form.head}", HOST_SOURCE)
        if port != "*" and not port.isdecimal():
            raise Undecidable(form.line, f"the port of {text!r}")
        found.append((host, port))
    return tuple(found) or (("*", "*"),)
