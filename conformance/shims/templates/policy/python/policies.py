"""Load a policy file in JSON, with the file of a workspace merged over it."""

import json

import protocol
from protocol import Failed, Unsupported

FILE = {"format", "text", "text_b64"}


def loaded(source):
    """Return the `spec` of a policy, or raise Failed if a required part is missing."""
    protocol.refuse_others(source, {*FILE, "workspace"}, "policy")
    if source["format"] != "json":
        raise Unsupported("policy.yaml")
    try:
        spec = spec_of(protocol.text(source, "text"))
        if "workspace" in source:
            protocol.refuse_others(source["workspace"], FILE, "policy")
            spec = merged(spec, spec_of(protocol.text(source["workspace"], "text")))
    except (ValueError, KeyError, TypeError, AttributeError) as why:
        raise Failed("invalid_input", f"the policy does not load: {why}") from None
    return spec


def spec_of(text):
    policy = json.loads(text)
    name, spec = policy["metadata"]["name"], policy["spec"]
    if (policy["schemaVersion"], policy["kind"]) != (2, "Policy") or not isinstance(name, str):
        raise ValueError("it is no Policy of version 2 with a name")
    for profile, rules in spec.get("fsProfiles", {}).items():
        read = [rule for rule in rules.get("read", []) if not rule.startswith("!")]
        for rule in rules.get("modify", []):
            if not rule.startswith("!") and not any(covers(each, rule) for each in read):
                raise ValueError(f"profile {profile}: no read rule covers the modify rule {rule}")
    return spec


def covers(read, modify):
    """Return whether a read rule covers a modify rule."""
    above = read.removesuffix("/**")
    below = above != read and (modify == above or modify.startswith(f"{above}/"))
    return read in (modify, "**", "./**") or below


def merged(above, below):
    """Merge the `spec` of a workspace over the global one.

    A profile of the workspace replaces the global one of its name. Its denies come last.
    """
    denies = {
        name: [*above.get(name, []), *below.get(name, [])] for name in ("denyRead", "denyModify")
    }
    return denies | {"fsProfiles": above.get("fsProfiles", {}) | below.get("fsProfiles", {})}
