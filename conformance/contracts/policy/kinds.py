"""Make the request and compare the answer, for each kind of vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boxspec.errors import ShimBroke
from boxspec.judge.expect import shown
from boxspec.judge.verdict import Failure, Verdict
from boxspec.subject.client import known
from boxspec.subject.client.b64 import put_word
from contracts.policy.trees import Tree
from contracts.policy.vectors import Vector, every, policy_in

if TYPE_CHECKING:
    from boxspec.subject.observed import Answer
    from contracts.policy.client import PolicyCase

Item = Mapping[str, Any]


# Comparisons --------------------------------------------------------------------------------


def _same(what: str, got: Any, wanted: Any, answer: Any, verdict: Verdict = Verdict.FAILS) -> None:
    # In Python 1 == True is true, but in JSON they are different values.
    if got != wanted or isinstance(got, bool) is not isinstance(wanted, bool):
        raise Failure(what, shown(wanted), shown(got), {"answer": shown(answer)}, verdict)


def refused(what: str, answer: Mapping[str, Any], kind: str = "invalid_input") -> None:
    """Fail unless the answer, or an item of it, is an error of this kind."""
    if "error" not in answer:
        raise Failure(what, "a refusal", shown(dict(answer)))
    got = answer["error"]["kind"]
    _same(f"{what}: kind of the error", got, kind, answer, Verdict.WRONG_REASON)


def _without_error(what: str, item: Item) -> Item:
    if "error" in item:
        raise Failure(what, "an answer", shown(item), verdict=Verdict.OVERREFUSED)
    return item


def _result_of(what: str, answer: Answer) -> Mapping[str, Any]:
    """Return the result. If a valid request is refused, the verdict is OVERREFUSED."""
    if answer.raw is not None and "error" in answer.raw:
        raise Failure(what, "a result", shown(answer.raw["error"]), verdict=Verdict.OVERREFUSED)
    return answer.result


def _decision(vector: Vector, item: Item) -> None:
    """Compare allowed, matched_rule and the normalised path, if the vector has these fields."""
    if "allowed" in vector.fields:
        wanted = vector.fields["allowed"]
        verdict = Verdict.OVERREFUSED if wanted else Verdict.FAILS
        _same("allowed", item["allowed"], wanted, item, verdict)
    if "matched_rule" in vector.fields:
        _same("matched_rule", item["matched_rule"], vector.fields["matched_rule"], item)
    if "normal" in vector.fields:
        _same("path", item["path"], vector.fields["normal"], item)


# The kinds ----------------------------------------------------------------------------------


def _normalize(case: PolicyCase, vector: Vector) -> None:
    message: dict[str, Any] = {"op": "path.normalize"}
    _put_list(message, vector)
    item = case.policy.put(message).result["items"][0]
    if "refused" in vector.fields:
        refused("the path", item)
    else:
        _same(
            "normal form", _without_error("the path", item)["path"], vector.fields["normal"], item
        )


def _glob(case: PolicyCase, vector: Vector) -> None:
    message: dict[str, Any] = {"op": "glob.match"}
    put_word(message, "pattern", vector.word("pattern"))
    _put_list(message, vector)
    if "case" in vector.fields:
        message["case"] = vector.fields["case"]
    answer = case.policy.put(message)
    item = _result_of("the pattern", answer)["items"][0]
    if "refused" in vector.fields:
        refused("the path", item)
    else:
        _same("match", _without_error("the path", item)["match"], vector.fields["match"], item)


def _put_list(message: dict[str, Any], vector: Vector) -> None:
    one: dict[str, Any] = {}
    put_word(one, "path", vector.word("path"))
    for name, value in one.items():
        message[name.replace("path", "paths")] = [value]


def _glob_refused(case: PolicyCase, vector: Vector) -> None:
    message: dict[str, Any] = {"op": "glob.match", "paths": ["a"]}
    put_word(message, "pattern", vector.word("pattern"))
    refused("the pattern", case.policy.put(message).raw or {})


def _load(case: PolicyCase, vector: Vector) -> None:
    fields = vector.fields
    answer = case.policy.load(policy_in(fields))
    if not fields["loads"]:
        refused("the file", answer.raw or {})
        _problems(case, vector, answer.error)
        return
    result = _result_of("the file", answer)
    for name in ("name", "description"):
        if name in fields:
            _same(name, result.get(name), fields[name], result)
    if "warnings" in fields:
        keys = ("code", "pointer", "file")
        wanted = sorted(
            tuple(each.get(key, "global") for key in keys) for each in fields["warnings"]
        )
        got = sorted(tuple(each[key] for key in keys) for each in result["warnings"])
        _same("warnings", got, wanted, result)


# POLICY-FILE-06 requires the right place of a problem. A shim with wrong places has them in every
# file, so only tests of ABOUT_PLACES compare places. For all other requirements, a problem at any
# place is enough.
PLACES = "POLICY-FILE-06"
ABOUT_PLACES = {PLACES, "POLICY-FILE-05", "POLICY-FILE-10"}
ABOUT_HOW_MANY = {"POLICY-FILE-02", "POLICY-FILE-04", "POLICY-MERGE-07"}
ABOUT_THE_FILE = {"POLICY-MERGE-07"}


def _problems(case: PolicyCase, vector: Vector, error: Mapping[str, Any]) -> None:
    fields = vector.fields
    problems = error.get("problems", [])
    wanted = fields.get("problems", [])
    if wanted and not _each_at(problems, wanted):
        # An error without a list of problems counts as one problem.
        found = problems or [error]
        about = set(vector.requirements)
        if about & ABOUT_PLACES or _tells_places(case, fields["format"]):
            raise Failure("all problems, in order", shown(wanted), shown(_places(problems)))
        files = [{"file": each.get("file", "global")} for each in wanted]
        if about & ABOUT_HOW_MANY and len(found) != len(wanted):
            raise Failure("the number of problems", str(len(wanted)), shown(_places(found)))
        if about & ABOUT_THE_FILE and not _each_at(found, files):
            raise Failure("the files of the problems", shown(files), shown(_places(found)))
    if PLACES in vector.requirements and not all(each["message"].strip() for each in problems):
        raise Failure(
            "the message of each problem", "a message that is not blank", shown(_places(problems))
        )
    first = fields.get("problem_at")
    if (
        first
        and not _each_at(problems[:1], [first])
        and (PLACES in vector.requirements or _tells_places(case, fields["format"]))
    ):
        raise Failure("place of the first problem", shown(first), shown(_places(problems)))
    texts = [error["message"], *(problem["message"] for problem in problems)]
    for part in fields.get("message_has", ()):
        if not any(part.lower() in text.lower() for text in texts):
            raise Failure(
                "the message",
                f"a message that contains {part!r}",
                shown(texts),
                verdict=Verdict.WRONG_REASON,
            )


def _tells_places(case: PolicyCase, format_: str) -> bool:
    """True if the vectors about places conform for this format. They are sent only once in a
    session."""
    about = [
        vector
        for vector in every().values()
        if PLACES in vector.requirements and vector.fields["format"] == format_
    ]

    def ask() -> bool:
        asked = case.asked
        try:
            return all(answered(case, vector) for vector in about)
        finally:
            case.asked = asked

    return case.session.outcomes.of(f"{PLACES} in {format_}", ask)


def _each_at(problems: list[Any], wanted: Sequence[Mapping[str, Any]]) -> bool:
    return len(problems) == len(wanted) and all(map(_at, problems, wanted))


def _at(problem: Mapping[str, Any], place: Mapping[str, Any]) -> bool:
    for key, value in place.items():
        if key == "columns":
            if not value[0] <= problem.get("column", 0) <= value[1]:
                return False
        elif problem.get(key, "global" if key == "file" else None) != value:
            return False
    return True


def _places(problems: list[Mapping[str, Any]]) -> list[Any]:
    keys = ("pointer", "line", "column", "file", "message")
    return [{key: each[key] for key in keys if key in each} for each in problems]


def _resolve(case: PolicyCase, vector: Vector) -> None:
    fields = vector.fields
    answer = case.policy.resolve(vector.policy, fields.get("profile"))
    if "error" in fields:
        refused("the profile", answer.raw or {})
        return
    result = known.result("policy.resolve", _result_of("the policy", answer))
    for name in ("profile_origin", "read", "modify"):
        if name in fields:
            _same(name, result[name], fields[name], result)


def _question(vector: Vector) -> Item:
    fields = vector.fields
    made: dict[str, Any] = {
        key: fields[key] for key in ("profile", "op", "follow") if key in fields
    }
    put_word(made, "path", vector.word("path"))
    return made


def _single_check(case: PolicyCase, vector: Vector, op: str, key: str = "checks") -> Item:
    """Return the item for one check with a valid policy."""
    letter_case = vector.fields.get("case")
    checks = [_question(vector)]
    answer = case.policy.ask(op, policy=vector.policy, checks=checks, case=letter_case)
    item: Item = known.result(op, _result_of("the policy", answer))[key][0]
    return item


def _check(case: PolicyCase, vector: Vector) -> None:
    item = _single_check(case, vector, "policy.check")
    if "error" in vector.fields:
        refused("the check", item)
    else:
        _decision(vector, _without_error("the check", item))


def _explain(case: PolicyCase, vector: Vector) -> None:
    item = _without_error("the check", _single_check(case, vector, "policy.explain"))
    _decision(vector, item)
    wanted, got = vector.fields["entries"], item["entries"]
    seen = [{key: entry[key] for key in each} for each, entry in zip(wanted, got, strict=False)]
    if len(got) != len(wanted) or seen != wanted:
        raise Failure("all entries, in order", shown(wanted), shown(got))


def _audit(case: PolicyCase, vector: Vector) -> None:
    event = _without_error("the check", _single_check(case, vector, "policy.audit", "events"))
    for name, value in vector.fields["event"].items():
        _same(name, event[name], value, event)


def _resolved(case: PolicyCase, vector: Vector) -> None:
    fields = vector.fields
    tree = Tree(case.tmp / vector.id)
    tree.make(fields["tree"])
    check: dict[str, Any] = {
        key: fields[key] for key in ("profile", "op", "follow") if key in fields
    }
    put_word(check, "path", tree.named(vector.word("path").decode("utf-8", "surrogateescape")))
    answer = case.policy.ask(
        "policy.check_resolved",
        policy=vector.policy,
        root=str(tree.root),
        checks=[check],
        case=fields.get("case"),
    )
    item = _result_of("the policy", answer)["checks"][0]
    if "error" in fields:
        refused("the check", item, "invalid_input" if fields["error"] is True else "io")
        return
    if "or_error" in fields and "error" in item:
        refused("the check", item, "io")
        return
    _decision(vector, _without_error("the check", item))
    if "real" in fields:
        _same("real", item["real"], fields["real"], item)


KINDS: dict[str, Callable[[PolicyCase, Vector], None]] = {
    "normalize": _normalize,
    "glob": _glob,
    "glob-refused": _glob_refused,
    "load": _load,
    "resolve": _resolve,
    "check": _check,
    "explain": _explain,
    "audit": _audit,
    "resolved": _resolved,
}


def conforms(case: PolicyCase, vector: Vector) -> None:
    """Raise an exception unless the vector conforms. Share the outcome with other tests.

    An exception that decides nothing, for example a late answer, leaves no outcome.
    """
    try:
        KINDS[vector.kind](case, vector)
    except (Failure, ShimBroke):
        case.session.outcomes.note(vector.id, conforms=False)
        raise
    case.session.outcomes.note(vector.id, conforms=True)


def answered(case: PolicyCase, vector: Vector) -> bool:
    """True if the vector conforms."""
    try:
        conforms(case, vector)
    except (Failure, ShimBroke):
        return False
    return True
