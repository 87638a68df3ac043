"""The client for globs and policies. A case has it as `case.policy`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypedDict, Unpack, cast

from boxspec.judge.expect import shown
from boxspec.judge.verdict import Failure, NotApplicable, Verdict
from boxspec.subject.case import Case, Message, Options
from boxspec.subject.client import known
from boxspec.subject.client.b64 import Word, put_word, put_words
from boxspec.subject.contract import owner
from boxspec.subject.observed import Answer, Error, Problem
from contracts.shared.documents import Policy, as_yaml

Check = Mapping[str, Any]


class Entry(TypedDict):
    """A rule that policy.explain has examined."""

    rule: str | dict[str, str]
    origin: str
    file: str | None
    line: int | None
    matched: bool
    deciding: bool


class Item(TypedDict, total=False):
    """The answer to one check, path or event. Each operation has some of these fields."""

    allowed: bool
    match: bool
    path: str
    matched_rule: str
    real: str | None
    entries: list[Entry]
    time: str
    profile: str
    profile_origin: str
    op: str
    error: Error


class LoadResult(TypedDict, total=False):
    """The result of policy.load."""

    name: str
    description: str
    warnings: list[Problem]


class Loaded(Answer):
    @property
    def result(self) -> LoadResult:
        return cast(LoadResult, super().result)


class ResolveResult(TypedDict, total=False):
    """The result of policy.resolve."""

    profile: str
    profile_origin: str
    read: list[str | dict[str, str]]
    modify: list[str | dict[str, str]]


class Resolved(Answer):
    @property
    def result(self) -> ResolveResult:
        return cast(ResolveResult, super().result)


def question(op: str, path: Word, profile: str | None = "p", **more: Any) -> Check:
    """Return one item of `checks`. If the profile is None, the field is left out."""
    made: Message = {"op": op, **more}
    if profile is not None:
        made["profile"] = profile
    put_word(made, "path", path)
    return made


def questions(op: str, paths: Iterable[Word], profile: str | None = "p") -> list[Check]:
    return [question(op, path, profile) for path in paths]


def refused(item: Item, what: str) -> bool:
    """True if the item is refused. Raise a Failure if the error is not invalid_input."""
    if "error" not in item:
        return False
    if item["error"]["kind"] != "invalid_input":
        raise Failure(
            what, "an error of kind invalid_input", shown(item), verdict=Verdict.WRONG_REASON
        )
    return True


def readable(case: Case, message: Message) -> Message:
    """Return the request with its policy in a format that the shim can read. JSON is also YAML."""
    if "policy.json" in case.capabilities or "policy.yaml" not in case.capabilities:
        return message
    if message["op"] == "policy.load":
        return as_yaml(message)
    return {**message, "policy": as_yaml(message["policy"])} if "policy" in message else message


class Fields(TypedDict, total=False):
    """The fields of operations on policies. Fields without a value are left out."""

    policy: Policy
    profile: str | None
    checks: Sequence[Check]
    case: str | None
    root: str
    root_b64: str


class PolicyClient:
    """The client for globs and policies. It sends each request to the serve session."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def put(self, message: Message, within_s: float | None = None) -> Answer:
        """Send a request. Raise NotApplicable if the shim does not declare the needed
        capability."""
        return self._case.put(self._sendable(message), within_s)

    def send(self, message: Message, **options: Unpack[Options]) -> Answer:
        """Send a request to a shim process of its own, which gets these options."""
        return self._case.send(self._sendable(message), **options)

    def _sendable(self, message: Message) -> Message:
        contract = owner(message["op"])
        needed = contract.operations[message["op"]] if contract else ""
        if needed not in self._case.capabilities:
            raise NotApplicable.without(needed)
        return readable(self._case, message)

    def ask(self, op: str, within_s: float | None = None, **fields: Unpack[Fields]) -> Answer:
        """Send the operation with these fields. Fields without a value are left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        return self.put({"op": op, **given}, within_s)

    # Globs and paths ------------------------------------------------------------------------

    def normalize(self, paths: Sequence[Word]) -> list[str | None]:
        """Return the normal form of each path; None if the path is refused."""
        message: Message = {"op": "path.normalize"}
        put_words(message, "paths", paths)
        items = self.put(message).result["items"]
        return [None if refused(item, "path.normalize") else item["path"] for item in items]

    def match(
        self, pattern: Word, paths: Sequence[Word], case: str | None = None
    ) -> list[bool | None]:
        """Return for each path True if the glob matches it; None if the path is refused."""
        message: Message = {"op": "glob.match"}
        put_word(message, "pattern", pattern)
        put_words(message, "paths", paths)
        if case is not None:
            message["case"] = case
        items = self.put(message).result["items"]
        return [None if refused(item, "glob.match") else item["match"] for item in items]

    # Policies -------------------------------------------------------------------------------

    def load(self, policy: Policy) -> Loaded:
        message = {"op": "policy.load", **policy}
        return Loaded(self.put(message).raw).of(message)

    def resolve(self, policy: Policy, profile: str | None = "p") -> Resolved:
        answer = self.ask("policy.resolve", policy=policy, profile=profile)
        return Resolved(answer.raw).of(answer.message or {})

    def check(
        self,
        policy: Policy,
        checks: Sequence[Check],
        case: str | None = None,
        within_s: float | None = None,
    ) -> list[Item]:
        more = {} if within_s is None else {"within_s": within_s}
        return self._items(
            "policy.check", "checks", policy=policy, checks=checks, case=case, **more
        )

    def allowed(
        self, policy: Policy, checks: Sequence[Check], case: str | None = None
    ) -> list[bool | None]:
        """Return the decision of each check; None if the check is refused."""
        items = self.check(policy, checks, case)
        return [None if refused(item, "policy.check") else item["allowed"] for item in items]

    def check_resolved(
        self, policy: Policy, root: Word, checks: Sequence[Check], case: str | None = None
    ) -> list[Item]:
        place: Message = {}
        put_word(place, "root", root)
        return self._items(
            "policy.check_resolved", "checks", policy=policy, checks=checks, case=case, **place
        )

    def explain(
        self, policy: Policy, checks: Sequence[Check], case: str | None = None
    ) -> list[Item]:
        return self._items("policy.explain", "checks", policy=policy, checks=checks, case=case)

    def audit(self, policy: Policy, checks: Sequence[Check]) -> list[Item]:
        return self._items("policy.audit", "events", policy=policy, checks=checks)

    def _items(self, op: str, key: str, **fields: Any) -> list[Item]:
        """Return the items, without fields that the contract does not define."""
        items: list[Item] = known.result(op, self.ask(op, **fields).result)[key]
        return items


class PolicyCase(Case):
    """A case of the contract policy."""

    @cached_property
    def policy(self) -> PolicyClient:
        return PolicyClient(self)
