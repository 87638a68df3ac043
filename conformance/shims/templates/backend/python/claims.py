"""The claims of a sandbox for a profile and a list of destinations. This file needs no change."""

import ipaddress
import re

from protocol import Failed

REQUESTED = {
    "read-only": {"fs-write", "fs-metadata", "process"},
    "repo-write": {"fs-write", "fs-metadata", "process"},
    "full-dev": {"fs-write", "fs-metadata", "process"},
    "no-network": {"fs-write", "fs-metadata", "process", "network"},
    "ci-only": {"fs-write", "fs-metadata", "process", "network", "ipc"},
}


def is_destination(text):
    """Return True for host:port, [address]:port and *."""
    host, _, port = text.rpartition(":")
    if not re.fullmatch("[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        return text == "*"
    try:
        return bool(ipaddress.IPv6Address(host[1:-1])) and host == f"[{host[1:-1]}]"
    except ValueError:
        return re.fullmatch(r"[A-Za-z0-9._-]+", host) is not None


def report(claims, profile, egress, why_not):
    """Return the answer of backend.probe.

    egress: the destinations that programs may reach; None or an empty list for no limit.
    why_not: the reason why the sandbox runs no program here, or an empty string.
    """
    requested = set(REQUESTED[profile])
    for each in egress or ():
        if not is_destination(each):
            raise Failed("invalid_input", f"egress {each!r}: not host:port, [address]:port or *")
    if egress:
        if "network" in requested:
            raise Failed("invalid_input", "egress contradicts the profile")
        requested.add("network")
        claims = claims | {"network": "this sandbox has no list of destinations"}
    aspects = {name: {"claim": "not-requested"} for name in ("fs-read", "limits")}
    for name, claim in claims.items():
        if why_not:
            aspects[name] = {"claim": "unavailable", "reasons": [why_not]}
        elif claim == "fully":
            aspects[name] = {"claim": "fully"}
        elif name in requested:
            aspects[name] = {"claim": "unavailable", "reasons": [claim]}
        else:
            aspects[name] = {"claim": "not-requested"}
    found = {aspects[name]["claim"] for name in requested}
    overall = found.pop() if len(found) == 1 else "partial"
    return {"overall": overall, "aspects": aspects, "not_enforced": []}
