"""Trust checks for shims that answer questions about globs and policies.

For each question with the answer yes there is a similar question with the answer no. No program is
started, and one serve session answers all questions.
"""

from __future__ import annotations

from boxspec.judge.expect import shown
from boxspec.subject.contract import Say
from boxspec.subject.sentinels import Ask, no, sentinel, sentinels
from contracts.policy.client import PolicyCase, question, readable
from contracts.shared.documents import one_profile

# There are several questions of each kind. So an implementation with one fault answers at least one
# of them correctly.
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

SENTINELS: dict[str, list[Ask]] = {
    "path": [("path.normalize", {"paths": ["src/main.c"]})],
    "glob": [("glob.match", {"pattern": "src", "paths": ["src"]})],
    "policy": [
        ("policy.resolve", {"policy": POLICY, "profile": "p"}),
        ("policy.check", {"policy": POLICY, "checks": YES}),
    ],
    "policy.load": [("policy.load", POLICY)],
    "policy.fold": [("policy.check", {"policy": POLICY, "checks": YES, "case": "fold"})],
    "policy.resolved": [("policy.check_resolved", {"policy": POLICY, "root": "/", "checks": YES})],
    "policy.explain": [("policy.explain", {"policy": POLICY, "checks": YES})],
    "policy.resolved.parent": [
        (
            "policy.check_resolved",
            {"policy": POLICY, "root": "/", "checks": [{**YES[0], "follow": "parent"}]},
        )
    ],
    "policy.audit": [("policy.audit", {"policy": POLICY, "checks": YES})],
}


def trust(case: PolicyCase, say: Say) -> None:
    if "glob" in case.capabilities:
        _globs(case, say)
    if "policy" in case.capabilities:
        _policies(case, say)
    sentinels(
        case.capabilities, lambda message: case.put(readable(case, message)).raw, SENTINELS, say
    )
    _formats(case, say)


def _formats(case: PolicyCase, say: Say) -> None:
    """Check the declared formats, by an operation that takes a policy if the shim has one."""
    loads = "policy.load" in case.capabilities or "policy" not in case.capabilities
    for name, text in {"json": POLICY["text"], "yaml": YAML}.items():
        source = {"text": text, "format": name}
        op = "policy.load" if loads else "policy.resolve"
        fields = source if loads else {"policy": source, "profile": "unrestricted"}
        capability = f"policy.{name}"
        answer = case.put({"op": op, **fields}).raw or {}
        sentinel(capability, capability in case.capabilities, answer, say, op)


def _globs(case: PolicyCase, say: Say) -> None:
    """Check some globs that match, and similar globs that do not."""

    def answers(pairs: list[tuple[str, str]]) -> list[bool | None]:
        return [case.policy.match(pattern, [path])[0] for pattern, path in pairs]

    yes, other = answers(GLOBS_YES), answers(GLOBS_NO)
    if (yes, other) != (answers(GLOBS_YES), answers(GLOBS_NO)):
        raise no("repeated globs have other answers than before")
    if all(answer is True for answer in other):
        raise no(f"{GLOBS_NO} match: it says yes to all")
    if not any(answer is True for answer in yes):
        raise no(f"none of {GLOBS_YES} matches: it says no to all")
    say("globs match exactly the expected paths, with the same answers twice")


def _policies(case: PolicyCase, say: Say) -> None:
    """Check some questions with the answer yes, and similar questions with the answer no."""
    first, second = (case.policy.check(POLICY, [*YES, *NO]) for _ in range(2))
    if first != second:
        raise no(f"the same checks are answered with {shown(first)} and then with {shown(second)}")
    answers = [item.get("allowed") for item in first]
    yes, other = answers[: len(YES)], answers[len(YES) :]
    if all(answer is True for answer in other):
        raise no(
            "a denied path, a path without a rule and an empty list are allowed: it says yes to all"
        )
    if not any(answer is True for answer in yes):
        raise no(f"two paths that rules allow are answered with {shown(first)}: it says no to all")
    say("a policy allows exactly the expected paths, with the same answers twice")
