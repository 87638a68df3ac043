"""The operations of the contract: requests in, answers out."""

import time

import policy.decide as decide
import policy.glob as glob
import policy.merge as merge
import policy.real as real
import policy.yamltext as yamltext
from errors import Failed
from policy.spelling import Refused, decode, normal_body, normal_path
from reader import Reader, one, several

FORMATS = ("json", "yaml")


def path_normalize(shim, reader):
    paths = reader.take_twin("paths", several, required=True)
    reader.done()
    return {"result": {"items": [item(lambda p=p: {"path": normal_path(p)}) for p in paths]}}


def glob_match(shim, reader):
    pattern = reader.take_twin("pattern", one, required=True)
    paths = reader.take_twin("paths", several, required=True)
    fold = take_case(reader)
    reader.done()
    try:
        compiled = glob.Glob(normal_body(decode(pattern)), fold)
    except Refused as why:
        reader.wrong("pattern", str(why))
    return {"result": {"items": [item(lambda p=p: matched(compiled, p, fold)) for p in paths]}}


def matched(compiled, path, fold):
    return {"match": compiled.matches(glob.Text(normal_path(path), fold))}


def load(shim, reader):
    text, workspace = take_texts(reader)
    reader.done()
    loaded = merge.load(text, workspace)
    answer = {"name": loaded.policy.name}
    if loaded.policy.description is not None:
        answer["description"] = loaded.policy.description
    return {"result": answer | {"warnings": loaded.warnings}}


def resolve(shim, reader):
    asked = Asked(reader)
    profile = reader.take("profile", str)
    reader.done()
    try:
        return {"result": asked.profile(profile).as_json()}
    except Refused as why:
        reader.wrong("profile", str(why))


def check(shim, reader):
    asked = Asked(reader)
    return {"result": {"checks": asked.answers(reader, decision_of)}}


def explain(shim, reader):
    asked = Asked(reader)
    return {"result": {"checks": asked.answers(reader, explanation_of)}}


def audit(shim, reader):
    asked = Asked(reader)
    return {"result": {"events": asked.answers(reader, event_of)}}


def check_resolved(shim, reader):
    asked = Asked(reader)
    root = reader.take_twin("root", one, required=True)
    if not root.startswith(b"/") or b"\0" in root:
        reader.wrong("root", "must be absolute, without NUL")

    def real_of(resolved, each, fold):
        return real.check_resolved(resolved, each.op, each.path, fold, real.Root(root), each.follow)

    return {"result": {"checks": asked.answers(reader, real_of, follows=True)}}


class Check:
    def __init__(self, value, pointer, follows):
        reader = Reader(value, pointer)
        self.profile = reader.take("profile", str)
        self.op = reader.take("op", str, required=True)
        if self.op not in ("read", "modify"):
            reader.wrong("op", "must be read or modify")
        self.path = reader.take_twin("path", one, required=True)
        self.follow = reader.take_choice("follow", ("final", "parent")) if follows else None
        reader.done()


class Asked:
    """The policy of a request, and the checks of it."""

    def __init__(self, reader):
        inner = Reader(reader.take("policy", dict, required=True), "/policy")
        texts = take_texts(inner)
        inner.done()
        self.policy = merge.load(*texts).policy
        self.resolved = {}

    def profile(self, name):
        if name not in self.resolved:
            self.resolved[name] = decide.Resolved(self.policy, name)
        return self.resolved[name]

    def answers(self, reader, answer, follows=False):
        given = reader.take("checks", list, required=True)
        fold = take_case(reader)
        reader.done()
        checks = [Check(each, f"/checks/{i}", follows) for i, each in enumerate(given)]
        return [
            item(lambda each=each: answer(self.profile(each.profile), each, fold))
            for each in checks
        ]


def decision_of(resolved, each, fold):
    return decide.check(resolved, each.op, each.path, fold).as_json()


def explanation_of(resolved, each, fold):
    return decide.explain(resolved, each.op, each.path, fold)


def event_of(resolved, each, fold):
    decision = decide.check(resolved, each.op, each.path, fold)
    who = {"time": now(), "profile": resolved.name, "profile_origin": resolved.origin}
    return who | {"op": each.op} | decision.as_json()


def now():
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    t = time.gmtime(seconds)
    day = f"{t.tm_year:04}-{t.tm_mon:02}-{t.tm_mday:02}"
    return f"{day}T{t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}.{rest // 1_000_000:03}Z"


def item(answer):
    """One of a batch: what is wrong with it stays with it."""
    try:
        return answer()
    except Refused as why:
        return Failed("invalid_input", str(why)).as_json()
    except Failed as failure:
        return failure.as_json()


def take_case(reader):
    return reader.take_choice("case", ("sensitive", "fold")) == "fold"


def take_texts(reader):
    """The text of a policy and that of a workspace or None, each with its format."""
    base = take_text(reader)
    value = reader.take("workspace", dict)
    if value is None:
        return base, None
    inner = Reader(value, f"{reader.pointer}/workspace")
    workspace = take_text(inner)
    inner.done()
    return base, workspace


def take_text(reader):
    data = reader.take_twin("text", one, required=True)
    form = reader.take("format", str, required=True)
    if form not in FORMATS:
        reader.wrong("format", "must be json or yaml")
    if form == "yaml" and not yamltext.available():
        reader.wrong("format", "yaml needs PyYAML, which is not here")
    return data, form
