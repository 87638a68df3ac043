"""Mistakes with lists of egress."""

import backend.context as context
from backend.bubblewrap import Bubblewrap
from faults.registry import fault, replaces


@fault("BACKEND-EGRESS-01", "any port is taken", "int() and no bounds")
def ports_have_no_bounds():
    @replaces(context)
    def is_destination(original, text):
        host, _, port = text.rpartition(":")
        return original(f"{host}:1") if port.isdigit() else original(text)


@fault("BACKEND-EGRESS-01", "addresses of IPv6 are refused", "split at the first colon")
def no_addresses_in_brackets():
    @replaces(context)
    def is_destination(original, text):
        return original(text) and not text.startswith("[")


@fault("BACKEND-EGRESS-02", "the list is ignored where there is no network", "last one wins")
def contradictions_are_ignored():
    @replaces(context)
    def read_egress(original, reader, profile):
        return original(reader, "repo-write" if profile in context.CLOSED else profile)


@fault("BACKEND-EGRESS-03", "a list that nobody filters is claimed", "a proxy by environment")
def unfiltered_lists_are_claimed():
    @replaces(Bubblewrap)
    def probe(original, self, profile, given, egress):
        made = original(self, profile, given, None)
        made.fully("network")
        return made


@fault("BACKEND-EGRESS-01", "what is in brackets is an address", "a pattern of hex and colons")
def brackets_make_an_address():
    @replaces(context)
    def is_address(original, text):
        return text.count(":") > 1 and all(c in "0123456789abcdefABCDEF:." for c in text)
