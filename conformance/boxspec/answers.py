"""Trust in shims that answer questions about globs and policies: twins, and sentinels.

Nothing is started here: one serve session answers all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boxspec.case import Box
from boxspec.errors import NotConforming
from boxspec.expect import shown
from boxspec.policy.asking import question
from boxspec.policy.documents import one_profile

Say = Callable[[str], None]

# Several of each kind: an implementation with one mistake answers one of them rightly.
POLICY = one_profile(read=["docs", "src/**"], modify=[], deny_read=["src/key"])
YES = [question("read", "docs"), question("read", "src/main.c")]
NO = [question("read", "src/key"), question("read", "elsewhere"), question("modify", "docs")]
GLOBS_YES = [("src", "src"), ("**", "src")]
GLOBS_NO = [("src", "lib"), ("src/*.c", "src/a.h")]

YAML = """\
schemaVersion: 2
kind: Policy
metadata: {name: smoke}
spec: {}
"""

Ask = tuple[str, dict[str, Any]]
SENTINELS: dict[str, list[Ask]] = {
    "glob": [
        ("path.normalize", {"paths": ["src/main.c"]}),
        ("glob.match", {"pattern": "src", "paths": ["src"]}),
    ],
    "policy": [
        ("policy.load", POLICY),
        ("policy.resolve", {"policy": POLICY, "profile": "p"}),
        ("policy.check", {"policy": POLICY, "checks": YES}),
    ],
    "policy.yaml": [("policy.load", {"text": YAML, "format": "yaml"})],
    "policy.fold": [("policy.check", {"policy": POLICY, "checks": YES, "case": "fold"})],
    "policy.resolved": [("policy.check_resolved", {"policy": POLICY, "root": "/", "checks": YES})],
    "policy.explain": [("policy.explain", {"policy": POLICY, "checks": YES})],
    "policy.audit": [("policy.audit", {"policy": POLICY, "checks": YES})],
}


def no(reason: str) -> NotConforming:
    return NotConforming(f"not a conforming shim: {reason}")


def undeclared(capability: str, answer: Mapping[str, Any]) -> NotConforming:
    """Why this is no answer to a request that needs a capability which is not declared."""
    if "error" in answer:
        return no(
            f"{capability} is not declared, so a request that needs it is answered 'unsupported'"
            f" with this name, not with an error: {shown(answer)}"
        )
    return no(
        f"{capability} is not declared but used all the same: {shown(answer)};"
        " declare it in hello, or answer 'unsupported'"
    )


def sentinel(
    capability: str, declared: bool, answer: dict[str, Any], say: Say, op: str = "exec.run"
) -> None:
    """The coarsest question about a capability: declared and answered, or unsupported."""
    if declared and "unsupported" in answer:
        raise no(f"{capability} is declared, its sentinel {op} is answered 'unsupported'")
    if not declared and "unsupported" not in answer:
        raise undeclared(capability, answer)
    say(f"{capability}: {'declared, answers' if declared else 'not declared, unsupported'}")


def trust(box: Box, say: Say) -> None:
    if "glob" in box.capabilities:
        _globs(box, say)
    if "policy" in box.capabilities:
        _policies(box, say)
    sentinels(box, SENTINELS, say)


def sentinels(box: Box, each: Mapping[str, list[Ask]], say: Say) -> None:
    for capability, asks in each.items():
        for op, fields in asks:
            answer = box.put({**fields, "op": op}).raw or {}
            declared = capability in box.capabilities
            # One line for each capability, behind its last question.
            tell = say if (op, fields) == asks[-1] else _quiet
            sentinel(capability, declared, answer, tell, op)


def _quiet(_: str) -> None:
    pass


def _globs(box: Box, say: Say) -> None:
    """Globs that match, and twins that do not."""

    def answers(pairs: list[tuple[str, str]]) -> list[bool | None]:
        return [box.match(pattern, [path])[0] for pattern, path in pairs]

    yes, nay = answers(GLOBS_YES), answers(GLOBS_NO)
    if (yes, nay) != (answers(GLOBS_YES), answers(GLOBS_NO)):
        raise no("the same globs are answered in two ways")
    if all(answer is True for answer in nay):
        raise no(f"{GLOBS_NO} match: it says yes to all")
    if not any(answer is True for answer in yes):
        raise no(f"none of {GLOBS_YES} matches: it says no to all")
    say("globs match what they should, and not what they should not; twice the same")


def _policies(box: Box, say: Say) -> None:
    """Checks whose answer is yes, and twins whose answer is no."""
    first, second = (box.check(POLICY, [*YES, *NO]) for _ in range(2))
    if first != second:
        raise no(f"the same checks are answered with {shown(first)} and then with {shown(second)}")
    answers = [item.get("allowed") for item in first]
    yes, nay = answers[: len(YES)], answers[len(YES) :]
    if all(answer is True for answer in nay):
        raise no("what is denied, what no rule allows and an empty list allow: it says yes to all")
    if not any(answer is True for answer in yes):
        raise no(f"two paths that rules allow are answered with {shown(first)}: it says no to all")
    say("a policy allows what it should, and not what it should not; twice the same")
