"""The operations of the contract: requests in, answers out."""

from __future__ import annotations

import policy.decide as decide
import policy.merge as merge
import sbpl.clauses as clauses
from errors import Failed
from jsonwire import dump
from policy.ops import take_case, take_texts
from policy.spelling import Refused
from reader import Reader, one, several
from sbpl.given import Input
from sbpl.places import place, refused
from sbpl.wrapping import take_provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinds import Object, Shim
    from policy.load import Policy

LISTS = ("read", "modify", "denyRead", "denyModify")
VARIABLES = ("HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
UNDER_TEST = "rules"  # the name that a profile gets which came without one


def compile_(shim: Shim, reader: Reader) -> Object:
    resolved = take_profile(reader)
    root = place(reader.need_twin("root", one), "/root")
    env = take_env(reader)
    given = reader.take_twin("side_roots", several) or []
    side_roots = [place(each, f"/side_roots/{i}") for i, each in enumerate(given)]
    provider = take_provider(reader)
    fold = take_case(reader)
    reader.done()
    asked = Input(resolved, root, env, side_roots, provider, fold)
    text = clauses.compile_text(asked)
    return {"result": {"text": text, "unguarded": clauses.unguarded(asked)}}


def take_profile(reader: Reader) -> decide.Resolved:
    """The effective lists that are compiled."""
    if "rules" in reader.fields:
        if "policy" in reader.fields:
            reader.wrong("rules", "and policy exclude each other")
        return decide.Resolved(policy_of_rules(reader), UNDER_TEST)
    inner = Reader(reader.need("policy", dict), "/policy")
    texts = take_texts(inner)
    inner.done()
    profile = reader.take("profile", str)
    try:
        return decide.Resolved(merge.load(*texts).policy, profile)
    except Refused as why:
        reader.wrong("profile", str(why))


def policy_of_rules(reader: Reader) -> Policy:
    """Rules are judged as in a file, so a file is made of them."""
    inner = Reader(reader.need("rules", dict), "/rules")
    lists = {name: inner.take(name, list) or [] for name in LISTS}
    inner.done()
    try:
        policy = merge.load((file_of(lists), "json")).policy
    except Failed as failure:
        raise in_rules(failure) from None
    rules = [*policy.deny_read, *policy.deny_modify, *policy.profiles[UNDER_TEST].rules()]
    for rule in rules:
        rule.pointer = in_request(rule.pointer)
    return policy


def file_of(lists: dict[str, list[object]]) -> bytes:
    profile = {name: lists[name] for name in ("read", "modify")}
    denies = {name: lists[name] for name in ("denyRead", "denyModify")}
    spec = {**denies, "fsProfiles": {UNDER_TEST: profile}}
    head = {"schemaVersion": 2, "kind": "Policy", "metadata": {"name": UNDER_TEST}}
    return dump({**head, "spec": spec}).encode()


def in_rules(failure: Failed) -> Failed:
    """The problems of that file, where the request has them."""
    found = [(in_request(each["pointer"]), each["message"]) for each in failure.problems or ()]
    made = refused(*found[0])
    made.problems = [{"pointer": where, "message": why} for where, why in found]
    return made


def in_request(pointer: str) -> str:
    for before in (f"/spec/fsProfiles/{UNDER_TEST}", "/spec"):
        if pointer.startswith(before):
            return "/rules" + pointer.removeprefix(before)
    return pointer


def take_env(reader: Reader) -> dict[str, str]:
    """What is set; a variable that is empty is not."""
    twin = "env_b64" if "env_b64" in reader.fields else "env"
    if twin == "env_b64" and "env" in reader.fields:
        reader.wrong(twin, "and env exclude each other")
    inner = Reader(reader.take(twin, dict) or {}, f"/{twin}")
    found = {}
    for name in VARIABLES:
        if name not in inner.fields:
            continue
        # Each value has the form of the whole object, and its name is a variable's.
        holder = Reader({name + twin.removeprefix("env"): inner.fields.pop(name)}, f"/{twin}")
        value = holder.need_twin(name, one)
        if is_set(value):
            found[name] = place(value, f"/env/{name}")
    inner.done()
    return found


def is_set(value: bytes) -> bool:
    return value != b""
