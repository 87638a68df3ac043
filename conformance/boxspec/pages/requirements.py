"""The requirements of a topic as a page has them."""

from __future__ import annotations

from boxspec.judge.requirements import Requirement, load

FIRST = "1.0"


def of_topic(topic: str) -> list[str]:
    """One item for each requirement of a topic such as EXEC-TEXT, in the order of the file."""
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
    """What is public in it is a link."""
    said = each.source
    # A longer name first: one may begin another.
    for name in sorted(each.links, key=len, reverse=True):
        said = said.replace(name, f"[{name}]({each.links[name]})")
    return said
