"""The operations of the contract sbpl: decode a request and return an answer."""

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
UNDER_TEST = "rules"  # the name of the profile that is made from the field `rules`


def compile_(shim: Shim, reader: Reader) -> Object:
    resolved = take_profile(reader)
    root = place(reader.need_encoded("root", one), "/root")
    env = take_env(reader)
    given = reader.take_encoded("side_roots", several) or []
    side_roots = [place(each, f"/side_roots/{i}") for i, each in enumerate(given)]
    provider = take_provider(reader)
    fold = take_case(reader)
    reader.done()
    asked = Input(resolved, root, env, side_roots, provider, fold)
    text = clauses.compile_text(asked)
    return {"result": {"text": text, "unguarded": clauses.unguarded(asked)}}


def take_profile(reader: Reader) -> decide.Resolved:
    """Return the lists that will be compiled."""
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
    """Make a policy file from the rules. So they are validated like the rules of a file."""
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
    """Return the problems of that file. Their pointers are translated into pointers into the
    request."""
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
    """Return the variables that are set. An empty variable counts as unset."""
    field = "env_b64" if "env_b64" in reader.fields else "env"
    if field == "env_b64" and "env" in reader.fields:
        reader.wrong(field, "and env exclude each other")
    inner = Reader(reader.take(field, dict) or {}, f"/{field}")
    found = {}
    for name in VARIABLES:
        if name not in inner.fields:
            continue
        # All values of `env_b64` are encoded, and no value of `env` is. A Reader expects the suffix
        # at the name of a field. So the suffix is moved to each name.
        holder = Reader({name + field.removeprefix("env"): inner.fields.pop(name)}, f"/{field}")
        value = holder.need_encoded(name, one)
        if is_set(value):
            found[name] = place(value, f"/env/{name}")
    inner.done()
    return found


def is_set(value: bytes) -> bool:
    return value != b""
