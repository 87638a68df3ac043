"""Find the right answer to a case that a fuzzer found, and the requirement of the case.

For globs and paths the kit's own oracle has the answer. For policies the Python implementation has
it, which was written from the contract and shares no code with the reference. A case has many
questions. The answer of the failing implementation is used only to select the vectors that it
fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from boxspec.subject.client.b64 import put_word, raw, unb64
from boxspec.subject.python_implementation import ask_python_implementation
from contracts.shared import globs as oracle

Fields = dict[str, Any]
# A vector, and True if the failing implementation answers it correctly.
Judged = tuple[Fields, bool]


def vectors_of(
    case: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[Fields]:
    """Return the vectors of a case, without id and reason. Some operations have no vectors.

    accused: an implementation's answer to the case. With it, only the vectors that it fails are
        returned, or all if it fails none.
    """
    makers = {
        "path.normalize": _paths,
        "glob.match": _globs,
        "policy.load": _load,
        "policy.resolve": _resolve,
        "policy.check": _checks,
    }
    maker = makers.get(case["op"])
    if maker is None:
        return
    made = list(maker(case, accused or {}))
    wrong = [fields for fields, right in made if not right]
    yield from wrong if accused and wrong else (fields for fields, _ in made)


def _item(answer: Mapping[str, Any], name: str, number: int) -> Mapping[str, Any]:
    """Return an item of an answer, or an empty item: a failing implementation may answer
    anything."""
    result = answer.get("result")
    items = result.get(name) if isinstance(result, dict) else None
    here = isinstance(items, list) and number < len(items) and isinstance(items[number], dict)
    return items[number] if here and items is not None else {}


# Globs and paths ----------------------------------------------------------------------------


def _words(request: Mapping[str, Any], name: str) -> list[bytes]:
    if f"{name}_b64" in request:
        return [unb64(word) for word in request[f"{name}_b64"]]
    return [raw(word) for word in request[name]]


def _word(request: Mapping[str, Any], name: str) -> bytes:
    return unb64(request[f"{name}_b64"]) if f"{name}_b64" in request else raw(request[name])


def _about_path(path: bytes, normal: str | None) -> str:
    if normal is not None:
        return "POLICY-PATH-01"
    text = path.decode("utf-8", "replace")
    if b"\0" in path or oracle.normal_path(text.encode()) is not None:
        return "POLICY-PATH-05"
    if ".." in text.split("/"):
        return "POLICY-PATH-03"
    if "\\" in text or text.strip(oracle.BLANKS) != text:
        return "POLICY-PATH-04"
    return "POLICY-PATH-02"


def _paths(case: Mapping[str, Any], accused: Mapping[str, Any]) -> Iterator[Judged]:
    for number, path in enumerate(_words(case["request"], "paths")):
        normal = oracle.normal_path(path)
        made: Fields = {"requirement": _about_path(path, normal), "kind": "normalize"}
        put_word(made, "path", path)
        made.update({"normal": normal} if normal is not None else {"refused": True})
        answered = _item(accused, "items", number)
        yield made, (answered.get("path") == normal if normal is not None else "error" in answered)


def _body(pattern: bytes) -> str | None:
    try:
        text = pattern.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else oracle.normal_body(text)


def _about_glob(body: str) -> str:
    """Return the requirement that a wrong answer to this glob breaks.

    POLICY-GLOB-11 is about all wildcards together.
    """
    if not set(body) & {"*", "?"}:
        return "POLICY-GLOB-01"
    if "*" not in body:
        return "POLICY-GLOB-05"
    return "POLICY-GLOB-11" if "**" in body or "?" in body else "POLICY-GLOB-03"


def _globs(case: Mapping[str, Any], accused: Mapping[str, Any]) -> Iterator[Judged]:
    request = case["request"]
    pattern = _word(request, "pattern")
    body = _body(pattern)
    if body is None:
        about = "POLICY-RULE-05" if b".." in pattern else "POLICY-RULE-04"
        made: Fields = {"requirement": about, "kind": "glob-refused"}
        put_word(made, "pattern", pattern)
        yield made, "error" in accused
        return
    for number, path in enumerate(_words(request, "paths")):
        normal = oracle.normal_path(path)
        about = _about_path(path, normal) if normal is None else _about_glob(body)
        made = {"requirement": about, "kind": "glob"}
        put_word(made, "pattern", pattern)
        put_word(made, "path", path)
        if normal is None:
            made["refused"] = True
        else:
            made["match"] = oracle.matches(body, normal)
        answered = _item(accused, "items", number)
        yield (
            made,
            ("error" in answered if normal is None else answered.get("match") == made["match"]),
        )


# Policies -----------------------------------------------------------------------------------


def _places(answer: Mapping[str, Any], also: str) -> list[Fields]:
    names = ("pointer", "line", "column", also)
    problems = (answer.get("error") or {}).get("problems") or []
    return [{name: each[name] for name in names if name in each} for each in problems]


def _load(case: Mapping[str, Any], accused: Mapping[str, Any]) -> Iterator[Judged]:
    request = case["request"]
    answer = ask_python_implementation(case)
    loads = "result" in answer
    about = "POLICY-FILE-15" if request["format"] == "yaml" else "POLICY-FILE-10"
    if "workspace" in request:
        about = "POLICY-MERGE-04"
    made: Fields = {"requirement": about, "kind": "load", **request, "loads": loads}
    if not accused or loads != ("result" in accused):
        yield made, False
        return
    # Both implementations load the file, or both refuse it. So their answers differ in the name, or
    # in the place of a problem.
    if loads:
        answered, name = accused["result"], answer["result"]["name"]
        right = isinstance(answered, dict) and answered.get("name") == name
        yield (made if right else {**made, "name": name}), right
        return
    also = "file" if "workspace" in request else "pointer"
    try:
        reported = _places(accused, also)
    except (AttributeError, TypeError):
        reported = []
    places = _places(answer, also)
    yield (
        ({**made, "problems": places} if places and reported != places else made),
        reported == places,
    )


def _resolve(case: Mapping[str, Any], accused: Mapping[str, Any]) -> Iterator[Judged]:
    request = case["request"]
    answer = ask_python_implementation(case)
    if "result" not in answer:
        # These cases are unknown profiles, and policies that cannot be loaded. Vectors of other
        # kinds test them.
        return
    about = "POLICY-MERGE-02" if "workspace" in request["policy"] else "POLICY-PROFILE-05"
    lists = {name: answer["result"][name] for name in ("read", "modify")}
    answered = accused.get("result")
    right = isinstance(answered, dict) and all(answered.get(name) == lists[name] for name in lists)
    yield {"requirement": about, "kind": "resolve", **request, **lists}, right


def _checks(case: Mapping[str, Any], accused: Mapping[str, Any]) -> Iterator[Judged]:
    request = case["request"]
    answer = ask_python_implementation(case)
    if "result" not in answer:
        yield from _load({"op": "policy.load", "request": request["policy"]}, accused)
        return
    about = "POLICY-MERGE-02" if "workspace" in request["policy"] else "POLICY-CHECK-01"
    more = {"case": request["case"]} if "case" in request else {}
    asked = zip(request["checks"], answer["result"]["checks"], strict=True)
    for number, (check, item) in enumerate(asked):
        answered = _item(accused, "checks", number)
        made: Fields = {"requirement": about, "kind": "check", "policy": request["policy"]}
        made.update({**check, **more})
        if "error" in item:
            yield {**made, "requirement": "POLICY-CHECK-07", "error": True}, "error" in answered
        else:
            reported = {"allowed": item["allowed"], "matched_rule": item["matched_rule"]}
            right = all(answered.get(name) == item[name] for name in (*reported, "path"))
            yield {**made, **reported, "normal": item["path"]}, right
