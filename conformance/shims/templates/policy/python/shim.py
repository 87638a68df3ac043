#!/usr/bin/env python3
"""A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
match a glob, to resolve a profile and to check a path.

Until you fill them in, globs.py matches the rules and policies.py loads the files, so that `boxspec
run` begins with a shim that conforms to profile contract. A failure is then about your code.
protocol.py needs no change.
"""

import globs
from policies import loaded

import protocol
from protocol import Failed

# FILL IN: the name and version of your implementation.
ABOUT = {"name": "my-implementation", "version": "0.1", "language": "Python"}
# FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
CAPABILITIES = ["glob", "policy", "policy.json"]


def matches(glob, path):
    """FILL IN: whether a glob matches a path."""
    return globs.matches(glob, path)


def resolved(spec, profile):
    """FILL IN: return the rules of a profile and the global denies, in the order in which they
    count.

    A rule with `!` denies. Exceptions in denyModify are not handled here.
    """
    profiles = spec.get("fsProfiles", {})
    if profile != "unrestricted" and profile not in profiles:
        raise Failed("invalid_input", f"there is no profile `{profile}`")
    rules = profiles.get(profile, {"read": ["**"], "modify": ["**"]})
    denies = {"read": spec.get("denyRead", []), "modify": spec.get("denyModify", [])}
    return {op: [*rules.get(op, []), *(f"!{rule}" for rule in denies[op])] for op in denies}


def check(rules, path):
    """FILL IN: decide by the last rule that matches; without a match the path is denied."""
    for rule in reversed(rules):
        body = rule.removeprefix("!")
        if matches(body, path):
            return {"allowed": rule == body, "path": path, "matched_rule": body}
    positive = any(not rule.startswith("!") for rule in rules)
    none = "<no matching rule>" if positive else "[]"
    return {"allowed": False, "path": path, "matched_rule": none}


def glob_match(message):
    pattern, items = protocol.text(message, "pattern"), []
    name = "path" if "paths" in message else "path_b64"
    for path in message[name.replace("path", "paths")]:
        try:
            items.append({"match": matches(pattern, protocol.text({name: path}, "path"))})
        except Failed as why:
            items.append({"error": why.error})
    return {"items": items}


def policy_resolve(message):
    spec, profile = loaded(message["policy"]), message.get("profile", "unrestricted")
    defined = profile in spec.get("fsProfiles", {})
    origin = "defined" if defined else "synthesized"
    return {"profile": profile, "profile_origin": origin, **resolved(spec, profile)}


def policy_check(message):
    spec, checks = loaded(message["policy"]), []
    for each in message["checks"]:
        protocol.refuse_others(each, {"op", "path", "path_b64", "profile"}, "policy.check")
        try:
            rules = resolved(spec, each.get("profile", "unrestricted"))
            checks.append(check(rules[each["op"]], protocol.text(each, "path")))
        except Failed as why:
            checks.append({"error": why.error})
    return {"checks": checks}


def never(message):
    return False


protocol.main(
    {"implementation": ABOUT, "capabilities": CAPABILITIES},
    {
        "glob.match": (glob_match, {"pattern", "pattern_b64", "paths", "paths_b64"}, never),
        "policy.resolve": (policy_resolve, {"policy", "profile"}, never),
        "policy.check": (policy_check, {"policy", "checks"}, never),
    },
)
