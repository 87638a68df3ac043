"""Make the list of a topic's requirements for a page."""

from __future__ import annotations

from boxspec.judge.requirements import Requirement, load

FIRST = "1.0"


def of_topic(topic: str) -> list[str]:
    """Return one list item for each requirement of a topic such as EXEC-TEXT, in the order of the
    file."""
    found = [line(each) for each in load().values() if each.topic == topic]
    if not found:
        raise KeyError(topic)
    return found


def line(each: Requirement) -> str:
    brackets = ", ".join(
        [each.level, each.profile, *([f"`{each.capability}`"] if each.capability else [])]
    )
    reason = f" Not testable from outside: {each.untestable}." if each.untestable else ""
    since = "" if each.since == FIRST else f" Since {each.since}."
    return f"* **{each.id}** ({brackets}) {each.clause} *{source(each)}.*{since}{reason}"


def source(each: Requirement) -> str:
    """Return the source of a requirement, with a link for each public source."""
    text = each.source
    # Longer names are replaced first, because a short name may be the start of a longer one.
    for name in sorted(each.links, key=len, reverse=True):
        text = text.replace(name, f"[{name}]({each.links[name]})")
    return text
