"""Faults in enforcing lists of egress."""

import backend.context as context
import backend.filter as filter_
import backend.inside as inside
import backend.ops as ops
from backend.bubblewrap import Bubblewrap
from backend.claims import nothing, requested
from backend.filter import ALLOW
from faults.backend.inside_source import change_inside
from faults.registry import fault, replaces

CONNECT_TCP = 2
# Bits of socket types; raw sockets have both.
STREAMS, DATAGRAMS = 1, 2
RULES_ON_PORTS = b"""\
    for port in ruleset.get("ports", ()):
        rule = (2).to_bytes(8, "little") + port.to_bytes(8, "little")
        call(ADD_RULE, fd, 2, rule, 0)
"""


@fault("BACKEND-EGRESS-01", "any number is accepted as a port", "int() and no bounds")
def ports_have_no_bounds():
    @replaces(context)
    def is_destination(original, text):
        host, _, port = text.rpartition(":")
        return original(f"{host}:1") if port.isdigit() else original(text)


@fault("BACKEND-EGRESS-01", "blanks around a destination are dropped", "strip()")
def blanks_are_dropped():
    @replaces(context)
    def is_destination(original, text):
        return original(text.strip())


@fault("BACKEND-EGRESS-01", "digits of other scripts count as a port", "isdigit()")
def digits_of_other_scripts():
    @replaces(context)
    def is_destination(original, text):
        host, _, port = text.rpartition(":")
        return original(f"{host}:{int(port)}") if port.isdigit() else original(text)


@fault("BACKEND-EGRESS-01", "addresses of IPv6 are refused", "split at the first colon")
def no_addresses_in_brackets():
    @replaces(context)
    def is_destination(original, text):
        return original(text) and not text.startswith("[")


@fault(
    "BACKEND-EGRESS-02", "an egress list is ignored if the profile has no network", "last one wins"
)
def contradictions_are_ignored():
    @replaces(context)
    def read_egress(original, reader, profile):
        return original(reader, "repo-write" if profile in context.CLOSED else profile)


@fault(
    "BACKEND-EGRESS-03",
    "an egress list is claimed as enforced although nothing filters",
    "a proxy by environment",
)
def unfiltered_lists_are_claimed():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        made = original(self, profile, given, None)
        made.fully("network")
        return made


def kept_in_part(refused, ports=False):
    """Claim to enforce a list, but enforce only a part of it.

    refused: code of a filter that checks the arguments of socket.
    ports: True if TCP reaches only the ports in the list.
    """
    unfiltered_lists_are_claimed()
    number = filter_.CALLS[filter_.machine()]["socket"]
    code = [*filter_.with_first_argument(number, refused), filter_.statement(filter_.RETURN, ALLOW)]

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        if not context.egress:
            return original(self, argv, context, cwd)
        named = [int(each.rpartition(":")[2]) for each in context.egress]
        ruleset = {"handled": (0, CONNECT_TCP, 0), "size": 16, "paths": [], "ports": named}
        argv = inside.command(
            argv, session=False, ruleset=ruleset if ports else None, filter_=b"".join(code)
        )
        return original(self, argv, context, cwd)


def argument(at, code, value):
    load = filter_.statement(filter_.LOAD, filter_.ARGUMENTS + 8 * at)
    return [load, filter_.statement(code, value, 0, 1), filter_.answer(filter_.EPERM)]


@fault(
    "BACKEND-EGRESS-03",
    "only the ports of a list are enforced, not its addresses",
    "Landlock's rules on ports",
)
def ports_alone_are_told_apart():
    kept_in_part(argument(1, filter_.ANY_OF, DATAGRAMS), ports=True)
    end = b"    call(RESTRICT_SELF, fd, 0)"
    change_inside(end, RULES_ON_PORTS + end)


@fault("BACKEND-EGRESS-03", "UDP stays open", "a proxy for TCP only")
def udp_is_open():
    kept_in_part(argument(1, filter_.ANY_OF, STREAMS))


@fault("BACKEND-EGRESS-03", "IPv6 is open", "iptables without ip6tables")
def ipv6_is_open():
    kept_in_part(argument(0, filter_.EQUAL, filter_.AF_INET))


@fault("BACKEND-EGRESS-01", "any text in brackets is an address", "a pattern of hex and colons")
def brackets_make_an_address():
    @replaces(context)
    def is_address(original, text):
        return text.count(":") > 1 and all(c in "0123456789abcdefABCDEF:." for c in text)


@fault("BACKEND-EGRESS-02", "`*` does not contradict a profile without network", "a list of none")
def everything_is_no_list():
    @replaces(context)
    def read_egress(original, reader, profile):
        if reader.fields.get("egress") != ["*"]:
            return original(reader, profile)
        reader.take("egress", list)
        return None


@fault("BACKEND-EGRESS-01", "only the first destination of a list is checked", "entries[0]")
def only_the_first_is_checked():
    @replaces(ops)
    def read_egress(original, reader, profile):
        given = reader.fields.get("egress")
        if isinstance(given, list):
            reader.fields["egress"] = given[:1]
        return original(reader, profile)


@fault("BACKEND-EGRESS-03", "a list of several destinations is not filtered", "one rule, one entry")
def several_are_claimed():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        made = original(self, profile, given, egress)
        if egress and len(egress) > 1:
            made.aspects["network"] = ("fully", [])
        return made


@fault("BACKEND-EGRESS-04", "with a list the backend is unavailable", "not implemented: return")
def a_list_is_not_supported():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        if egress:
            return nothing(requested(profile, egress, bool(given)), "lists are not supported")
        return original(self, profile, given, egress)


@fault("BACKEND-EGRESS-04", "with a list the filter is left out", "either a filter or a proxy")
def a_list_leaves_out_the_filter():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        made = original(self, profile, given, egress)
        if egress:
            made.aspects.pop("kernel", None)
        return made


def only_these_ports(chosen):
    """Let programs connect only to the ports that `chosen` returns for a list."""
    end = b"    call(RESTRICT_SELF, fd, 0)"
    change_inside(end, RULES_ON_PORTS + end)

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        ports = chosen(context.egress) if context.egress else None
        if ports is None:
            return original(self, argv, context, cwd)
        ruleset = {"handled": (0, CONNECT_TCP, 0), "size": 16, "paths": [], "ports": ports}
        argv = inside.command(argv, session=False, ruleset=ruleset)
        return original(self, argv, context, cwd)


def port_of(entry):
    return int(entry.rpartition(":")[2])


@fault("BACKEND-EGRESS-05", "only the first address of a list can be reached", "a loop that ends")
def only_the_first_is_reached():
    only_these_ports(lambda egress: None if "*" in egress else [port_of(egress[0])])


@fault("BACKEND-EGRESS-05", "only the last address of a list can be reached", "a field, not a list")
def only_the_last_is_reached():
    only_these_ports(lambda egress: None if "*" in egress else [port_of(egress[-1])])


@fault("BACKEND-EGRESS-05", "with `*` no address can be reached", "a name that resolves to nothing")
def everything_is_nothing():
    only_these_ports(lambda egress: [] if "*" in egress else None)
