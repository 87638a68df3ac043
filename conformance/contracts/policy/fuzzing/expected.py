"""The right answer to a case that was found, and the requirement that it is about.

Globs and paths are answered by the kit's own oracle. Policies are answered by the twin, which was
written from the contract and shares nothing with the reference. An implementation that is accused
is never asked what is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from boxspec.target.client.b64 import put_word, raw, unb64
from boxspec.target.twin import ask_twin
from contracts.shared import globs as oracle

Fields = dict[str, Any]


def vectors_of(case: Mapping[str, Any]) -> Iterator[Fields]:
    """The vectors that a case stands for, without id and reason; none where the operation has no
    vectors."""
    makers = {
        "path.normalize": _paths,
        "glob.match": _globs,
        "policy.load": _load,
        "policy.resolve": _resolve,
        "policy.check": _checks,
    }
    maker = makers.get(case["op"])
    if maker is not None:
        yield from maker(case)


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


def _paths(case: Mapping[str, Any]) -> Iterator[Fields]:
    for path in _words(case["request"], "paths"):
        normal = oracle.normal_path(path)
        made: Fields = {"requirement": _about_path(path, normal), "kind": "normalize"}
        put_word(made, "path", path)
        made.update({"normal": normal} if normal is not None else {"refused": True})
        yield made


def _body(pattern: bytes) -> str | None:
    try:
        text = pattern.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else oracle.normal_body(text)


def _globs(case: Mapping[str, Any]) -> Iterator[Fields]:
    request = case["request"]
    pattern = _word(request, "pattern")
    body = _body(pattern)
    if body is None:
        about = "POLICY-RULE-05" if b".." in pattern else "POLICY-RULE-04"
        made: Fields = {"requirement": about, "kind": "glob-refused"}
        put_word(made, "pattern", pattern)
        yield made
        return
    for path in _words(request, "paths"):
        normal = oracle.normal_path(path)
        about = _about_path(path, normal) if normal is None else "POLICY-GLOB-11"
        made = {"requirement": about, "kind": "glob"}
        put_word(made, "pattern", pattern)
        put_word(made, "path", path)
        if normal is None:
            made["refused"] = True
        else:
            made["match"] = oracle.matches(body, normal)
        yield made


# Policies -----------------------------------------------------------------------------------


def _load(case: Mapping[str, Any]) -> Iterator[Fields]:
    request = case["request"]
    answer = ask_twin(case)
    about = "POLICY-FILE-15" if request["format"] == "yaml" else "POLICY-FILE-10"
    if "workspace" in request:
        about = "POLICY-MERGE-04"
    yield {"requirement": about, "kind": "load", **request, "loads": "result" in answer}


def _resolve(case: Mapping[str, Any]) -> Iterator[Fields]:
    request = case["request"]
    answer = ask_twin(case)
    if "result" not in answer:
        # A profile that is not there or a policy that does not load is asked for by other kinds.
        return
    about = "POLICY-MERGE-02" if "workspace" in request["policy"] else "POLICY-PROFILE-05"
    lists = {name: answer["result"][name] for name in ("read", "modify")}
    yield {"requirement": about, "kind": "resolve", **request, **lists}


def _checks(case: Mapping[str, Any]) -> Iterator[Fields]:
    request = case["request"]
    answer = ask_twin(case)
    if "result" not in answer:
        yield from _load({"op": "policy.load", "request": request["policy"]})
        return
    about = "POLICY-MERGE-02" if "workspace" in request["policy"] else "POLICY-CHECK-01"
    more = {"case": request["case"]} if "case" in request else {}
    for check, item in zip(request["checks"], answer["result"]["checks"], strict=True):
        made: Fields = {"requirement": about, "kind": "check", "policy": request["policy"]}
        made.update({**check, **more})
        if "error" in item:
            yield {**made, "requirement": "POLICY-CHECK-07", "error": True}
        else:
            told = {"allowed": item["allowed"], "matched_rule": item["matched_rule"]}
            yield {**made, **told, "normal": item["path"]}
