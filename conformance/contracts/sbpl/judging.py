"""Compare a text with the meaning of its setup, and a refused setup with its allowed
counterpart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from boxspec.judge.expect import Matcher, expect, satisfies, shown
from boxspec.judge.verdict import Failure, Verdict
from contracts.sbpl.client import Setup
from contracts.sbpl.text import Text

if TYPE_CHECKING:
    from boxspec.subject.observed import Answer
    from contracts.sbpl.client import SbplCase


def same_as_meant(
    what: str,
    text: Text,
    meant: Callable[[str], bool | None],
    paths: Iterable[str],
    names: Iterable[str],
) -> int:
    """Fail unless the text decides each path as the meaning of the setup demands.

    Return the number of paths.
    """
    wanted = {path: answer for path in paths if (answer := meant(path)) is not None}
    text.expect(what, wanted, names)
    return len(wanted)


def naming(part: str) -> Matcher:
    """Return a matcher for messages that contain this part."""
    return satisfies(f"a message with {part!r}", lambda message: part in message)


def refused(what: str, answer: Answer, *parts: str) -> None:
    """Fail unless the answer is an error of kind invalid_input.

    If there are `parts`, the message or the place of a problem must contain one of them.
    """
    if answer.raw is None or "error" not in answer.raw:
        raise Failure(what, "a refusal", shown(answer.raw))
    error = answer.error
    expect(f"{what}: kind of the error", error["kind"], "invalid_input", error, "wrong-reason")
    problems = error.get("problems", ())
    texts = [error["message"], *(each["message"] for each in problems)]
    texts += [each["pointer"] for each in problems if "pointer" in each]
    if parts and not any(part in text for part in parts for text in texts):
        raise Failure(
            f"{what}: the message",
            " or ".join(f"a message that contains {part!r}" for part in parts),
            shown(texts),
            verdict=Verdict.WRONG_REASON,
        )


def refuses(case: SbplCase, what: str, bad: Setup, good: Setup, *parts: str) -> None:
    """Fail unless `bad` is refused and `good`, its allowed counterpart, compiles."""
    refused(what, case.sbpl.compile(bad), *parts)
    answer = case.sbpl.compile(good)
    asked, case.asked = case.asked, bad.message()
    if not answer.ok:
        raise Failure(
            f"{what}: the allowed counterpart of the refusal",
            f"a text for {shown(asked)}",
            shown(answer.raw),
            verdict=Verdict.UNPROVEN,
        )
