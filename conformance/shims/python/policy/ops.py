"""The operations of the contract policy: decode a request and return an answer."""

from __future__ import annotations

import time

import policy.decide as decide
import policy.glob as glob
import policy.merge as merge
import policy.real as real
import policy.yamltext as yamltext
from errors import Failed, Unsupported
from policy.spelling import Refused, decode, normal_body, normal_path
from reader import Reader, one, several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from kinds import Object, Shim

    T = TypeVar("T")
    Answer = Callable[[decide.Resolved, "Check", bool], Object]

FORMATS = ("json", "yaml")


def path_normalize(shim: Shim, reader: Reader) -> Object:
    paths = reader.need_encoded("paths", several)
    reader.done()
    return {"result": {"items": items(lambda path: {"path": normal_path(path)}, paths)}}


def glob_match(shim: Shim, reader: Reader) -> Object:
    pattern = reader.need_encoded("pattern", one)
    paths = reader.need_encoded("paths", several)
    fold = take_case(reader)
    reader.done()
    try:
        compiled = glob.Glob(normal_body(decode(pattern)), fold)
    except Refused as why:
        reader.wrong("pattern", str(why))
    return {"result": {"items": items(lambda path: matched(compiled, path, fold), paths)}}


def matched(compiled: glob.Glob, path: bytes, fold: bool) -> Object:
    return {"match": compiled.matches(glob.Text(normal_path(path), fold))}


def load(shim: Shim, reader: Reader) -> Object:
    text, workspace = take_texts(reader)
    reader.done()
    loaded = merge.load(text, workspace)
    answer: Object = {"name": loaded.policy.name}
    if loaded.policy.description is not None:
        answer["description"] = loaded.policy.description
    return {"result": answer | {"warnings": loaded.warnings}}


def resolve(shim: Shim, reader: Reader) -> Object:
    asked = Asked(reader)
    profile = reader.take("profile", str)
    reader.done()
    try:
        return {"result": asked.profile(profile).as_json()}
    except Refused as why:
        reader.wrong("profile", str(why))


def check(shim: Shim, reader: Reader) -> Object:
    asked = Asked(reader)
    return {"result": {"checks": asked.answers(reader, decision_of)}}


def explain(shim: Shim, reader: Reader) -> Object:
    asked = Asked(reader)
    return {"result": {"checks": asked.answers(reader, explanation_of)}}


def audit(shim: Shim, reader: Reader) -> Object:
    asked = Asked(reader)
    return {"result": {"events": asked.answers(reader, event_of)}}


def check_resolved(shim: Shim, reader: Reader) -> Object:
    asked = Asked(reader)
    root = reader.need_encoded("root", one)
    if not root.startswith(b"/") or b"\0" in root:
        reader.wrong("root", "must be absolute, without NUL")

    def real_of(resolved: decide.Resolved, each: Check, fold: bool) -> Object:
        return real.check_resolved(resolved, each.op, each.path, fold, real.Root(root), each.follow)

    return {"result": {"checks": asked.answers(reader, real_of, follows=True)}}


class Check:
    def __init__(self, value: object, pointer: str, follows: bool) -> None:
        reader = Reader(value, pointer)
        self.profile = reader.take("profile", str)
        self.op = reader.need("op", str)
        if self.op not in ("read", "modify"):
            reader.wrong("op", "must be read or modify")
        self.path = reader.need_encoded("path", one)
        self.follow = reader.take_choice("follow", ("final", "parent")) if follows else "final"
        reader.done()


class Asked:
    """The policy of a request, and the checks of the request."""

    def __init__(self, reader: Reader) -> None:
        inner = Reader(reader.need("policy", dict), "/policy")
        texts = take_texts(inner)
        inner.done()
        self.policy = merge.load(*texts).policy
        self.resolved: dict[str | None, decide.Resolved] = {}

    def profile(self, name: str | None) -> decide.Resolved:
        if name not in self.resolved:
            self.resolved[name] = decide.Resolved(self.policy, name)
        return self.resolved[name]

    def answers(self, reader: Reader, answer: Answer, follows: bool = False) -> list[Object]:
        given = reader.need("checks", list)
        fold = take_case(reader)
        reader.done()
        checks = [Check(each, f"/checks/{i}", follows) for i, each in enumerate(given)]
        return items(lambda each: answer(self.profile(each.profile), each, fold), checks)


def decision_of(resolved: decide.Resolved, each: Check, fold: bool) -> Object:
    return decide.check(resolved, each.op, each.path, fold).as_json()


def explanation_of(resolved: decide.Resolved, each: Check, fold: bool) -> Object:
    return decide.explain(resolved, each.op, each.path, fold)


def event_of(resolved: decide.Resolved, each: Check, fold: bool) -> Object:
    decision = decide.check(resolved, each.op, each.path, fold)
    profile = {"time": now(), "profile": resolved.name, "profile_origin": resolved.origin}
    return profile | {"op": each.op} | decision.as_json()


def now() -> str:
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    t = time.gmtime(seconds)
    day = f"{t.tm_year:04}-{t.tm_mon:02}-{t.tm_mday:02}"
    return f"{day}T{t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}.{rest // 1_000_000:03}Z"


def items(answer: Callable[[T], Object], given: Iterable[T]) -> list[Object]:
    return [item(answer, each) for each in given]


def item(answer: Callable[[T], Object], given: T) -> Object:
    """Answer one item of a batch. An error of one item does not affect the others."""
    try:
        return answer(given)
    except Refused as why:
        return Failed("invalid_input", str(why)).as_json()
    except Failed as failure:
        return failure.as_json()


def take_case(reader: Reader) -> bool:
    return reader.take_choice("case", ("sensitive", "fold")) == "fold"


def take_texts(reader: Reader) -> tuple[merge.Text, merge.Text | None]:
    """Return the texts of the policy and of the workspace, each with its format.

    The text of the workspace may be None.
    """
    base = take_text(reader)
    value = reader.take("workspace", dict)
    if value is None:
        return base, None
    inner = Reader(value, f"{reader.pointer}/workspace")
    workspace = take_text(inner)
    inner.done()
    return base, workspace


def take_text(reader: Reader) -> merge.Text:
    data = reader.need_encoded("text", one)
    form = reader.need("format", str)
    if form not in FORMATS:
        reader.wrong("format", "must be json or yaml")
    if form == "yaml" and not yamltext.available():
        raise Unsupported("policy.yaml", "PyYAML is not here")
    return data, form
