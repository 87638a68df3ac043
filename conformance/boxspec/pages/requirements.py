"""The requirements of a topic as a page has them."""

from __future__ import annotations

from boxspec.judge.requirements import Requirement, load


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
    return f"* **{each.id}** ({brackets}) {each.page} *{each.source}.*{reason}"
