"""Questions about globs and policies: what `Box` offers for contracts that start nothing.

They go through one serve session, which lives from case to case. A crash, a hang or garbage
blames the question in flight alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boxspec.client.b64 import Word, put_word, put_words
from boxspec.expect import shown
from boxspec.policy.documents import Policy
from boxspec.seen import Answer
from boxspec.verdict import Failure, Verdict

if TYPE_CHECKING:
    from boxspec.session import Session

Message = dict[str, Any]
Check = Mapping[str, Any]
Item = dict[str, Any]

# A question has this long, and as much again for each MiB that it brings along.
WITHIN_S = 10.0
MIB = 2**20


def question(op: str, path: Word, profile: str | None = "p", **more: Any) -> Item:
    """One of `checks`; `profile` None leaves it out."""
    made: Item = {"op": op, **more}
    if profile is not None:
        made["profile"] = profile
    put_word(made, "path", path)
    return made


def questions(op: str, paths: Iterable[Word], profile: str | None = "p") -> list[Item]:
    return [question(op, path, profile) for path in paths]


def refused(item: Item, what: str) -> bool:
    """Whether an item is refused; a refusal of another kind than invalid_input is a failure."""
    if "error" not in item:
        return False
    if item["error"]["kind"] != "invalid_input":
        raise Failure(
            what, "an error of kind invalid_input", shown(item), verdict=Verdict.WRONG_REASON
        )
    return True


class Asks:
    """What a case may ask; `asked` is the last question, for a failure block."""

    session: Session
    asked: Message | None = None

    def ask(self, op: str, within_s: float | None = None, **fields: Any) -> Answer:
        """One request through serve; a field that is None is left out."""
        message = {key: value for key, value in fields.items() if value is not None}
        return self.put({"op": op, **message}, within_s)

    def put(self, message: Message, within_s: float | None = None) -> Answer:
        self.asked = message
        if within_s is None:
            within_s = WITHIN_S * (1 + _size(message) / MIB)
        return Answer(self.session.serve().ask(message, within_s))

    # Globs and paths ------------------------------------------------------------------------

    def normalize(self, paths: Sequence[Word]) -> list[str | None]:
        """The normal form of each path; None is a refusal."""
        message: Message = {"op": "path.normalize"}
        put_words(message, "paths", paths)
        items = self.put(message).result["items"]
        return [None if refused(item, "path.normalize") else item["path"] for item in items]

    def match(
        self, pattern: Word, paths: Sequence[Word], case: str | None = None
    ) -> list[bool | None]:
        """Whether the glob matches each path; None is a refusal of the path."""
        message: Message = {"op": "glob.match"}
        put_word(message, "pattern", pattern)
        put_words(message, "paths", paths)
        if case is not None:
            message["case"] = case
        items = self.put(message).result["items"]
        return [None if refused(item, "glob.match") else item["match"] for item in items]

    # Policies -------------------------------------------------------------------------------

    def load(self, policy: Policy) -> Answer:
        return self.put({"op": "policy.load", **policy})

    def resolve(self, policy: Policy, profile: str | None = "p") -> Answer:
        return self.ask("policy.resolve", policy=policy, profile=profile)

    def check(self, policy: Policy, checks: Sequence[Check], case: str | None = None) -> list[Item]:
        return self._items("policy.check", "checks", policy=policy, checks=checks, case=case)

    def allowed(
        self, policy: Policy, checks: Sequence[Check], case: str | None = None
    ) -> list[bool | None]:
        """The decisions alone; None is a check that is refused."""
        items = self.check(policy, checks, case)
        return [None if refused(item, "policy.check") else item["allowed"] for item in items]

    def check_resolved(self, policy: Policy, root: Word, checks: Sequence[Check]) -> list[Item]:
        place: Message = {}
        put_word(place, "root", root)
        return self._items("policy.check_resolved", "checks", policy=policy, checks=checks, **place)

    def explain(self, policy: Policy, checks: Sequence[Check]) -> list[Item]:
        return self._items("policy.explain", "checks", policy=policy, checks=checks)

    def audit(self, policy: Policy, checks: Sequence[Check]) -> list[Item]:
        return self._items("policy.audit", "events", policy=policy, checks=checks)

    def _items(self, op: str, key: str, **fields: Any) -> list[Item]:
        items: list[Item] = self.ask(op, **fields).result[key]
        return items


def _size(value: Any) -> int:
    """The bytes that a question brings, near enough for a limit in time."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(each) for each in value.values())
    if isinstance(value, list):
        return sum(_size(each) for each in value)
    return 0
