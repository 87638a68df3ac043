"""The shim protocol for a shim in Python: what is the same around every library.

A peer calls `main` with what it is and with a function for each of its operations. Such a function
gets the message and gives back `{"result": ...}` or `{"error": ...}`, or raises Unsupported.
"""

import base64
import hashlib
import json
import os
import sys


class Unsupported(Exception):
    """The name of the capability, or of the operation."""


def take(holder, name, default=None):
    """The field or its _b64 twin; strings become bytes, however deep in lists they stand."""

    def each(value, decode):
        return [each(v, decode) for v in value] if isinstance(value, list) else decode(value)

    if name + "_b64" in holder:
        return each(holder[name + "_b64"], base64.b64decode)
    return each(holder[name], os.fsencode) if name in holder else default


def only(fields, known, capability):
    """Unsupported for a field that is not known. capability: what a field would need, by name."""
    for name in fields:
        if name.removesuffix("_b64") not in known:
            raise Unsupported(capability.get(name, name))


def stream(data):
    """The text of a stream, or its digest where it has more than 1 MiB."""
    text = data.decode("utf-8", "replace")
    raw = text.encode()
    if len(raw) <= 1 << 20:
        return text
    ends = {"head_b64": raw[:4096], "tail_b64": raw[-4096:]}
    digest = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    return digest | {name: base64.b64encode(end).decode() for name, end in ends.items()}


def main(about, capabilities, operations, run_only=(), constants=None):
    """about: name, version and language, or a function that tells them, where asking takes time."""

    def answer(message, serving):
        op = message["op"]
        if op == "hello":
            said = {"protocol": 1, "nonce": message["nonce"], "pid": os.getpid()}
            said |= {"implementation": about() if callable(about) else about}
            said |= {"spec_version": "1.0", "capabilities": capabilities}
            return {"result": said | ({"constants": constants} if constants else {})}
        if op == "bye":
            return {"result": {}}
        try:
            if op not in operations:
                raise Unsupported(op)
            if serving and op in run_only:
                return {"error": {"kind": "invalid_input", "message": f"{op} is for run mode"}}
            return operations[op](message)
        except Unsupported as why:
            return {"unsupported": {"capability": str(why), "why": "not in this shim"}}

    if sys.argv[1] == "serve":
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps({"id": asked["id"], **answer(asked, True)}), flush=True)
            if asked["op"] == "bye":
                break
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        asked = json.load(file)
    with open(sys.argv[3] + ".new", "w", encoding="utf-8") as file:
        json.dump({"id": asked["id"], **answer(asked, False)}, file)
    os.replace(file.name, sys.argv[3])  # in one step: nobody sees half an answer
    if "hold" in asked:
        with open(asked["hold"], "rb") as fifo:
            fifo.read()


def globs(about, read, refusal):
    """Of a library whose globs are text. read: from a glob to what tells whether it matches a path;
    refusal: the class of what it raises for a glob that is none."""

    def match(message):
        if message.get("case", "sensitive") != "sensitive":
            raise Unsupported("policy.fold")
        try:
            matches = read(os.fsdecode(take(message, "pattern")))
        except refusal as why:
            return {"error": {"kind": "invalid_input", "message": str(why)}}
        # Bytes that are no UTF-8 as Python has them.
        paths = map(os.fsdecode, take(message, "paths"))
        return {"result": {"items": [{"match": matches(path)} for path in paths]}}

    main(about, ["glob"], {"glob.match": match})
