"""The shim protocol, for shims in Python around libraries.

A shim calls `main` with a description of the library and one function for each operation. The
function gets the message and returns `{"result": ...}` or `{"error": ...}`, or raises Unsupported.
"""

import base64
import hashlib
import json
import os
import sys


class Unsupported(Exception):
    """Raised for a capability or an operation that the shim lacks. The text is its name."""


def take(holder, name, default=None):
    """Return the field `name` or `name_b64`. Strings become bytes, also in nested lists."""

    def each(value, decode):
        return [each(v, decode) for v in value] if isinstance(value, list) else decode(value)

    if name + "_b64" in holder:
        return each(holder[name + "_b64"], base64.b64decode)
    return each(holder[name], os.fsencode) if name in holder else default


def only(fields, known, capability):
    """Raise Unsupported if there is a field that is not in `known`.

    capability: maps a field to the capability to which it belongs.
    """
    for name in fields:
        if name.removesuffix("_b64") not in known:
            raise Unsupported(capability.get(name, name))


def stream(data):
    """Return the text of a stream, or its digest if it has more than 1 MiB."""
    text = data.decode("utf-8", "replace")
    raw = text.encode()
    if len(raw) <= 1 << 20:
        return text
    ends = {"head_b64": raw[:4096], "tail_b64": raw[-4096:]}
    digest = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    return digest | {name: base64.b64encode(end).decode() for name, end in ends.items()}


def main(about, capabilities, operations, run_only=(), constants=None):
    """Answer requests.

    about: name, version and language; or a function that returns them, if that takes time.
    """

    def answer(message, serving):
        op = message["op"]
        if op == "hello":
            hello = {"protocol": 1, "nonce": message["nonce"], "pid": os.getpid()}
            hello |= {"implementation": about() if callable(about) else about}
            hello |= {"spec_version": "1.0", "capabilities": capabilities}
            return {"result": hello | ({"constants": constants} if constants else {})}
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
    os.replace(file.name, sys.argv[3])  # renaming is atomic, so a reader never sees half an answer
    if "hold" in asked:
        with open(asked["hold"], "rb") as fifo:
            fifo.read()


def globs(about, read, refusal):
    """Answer requests, for a library whose globs are text.

    read: a function that takes a glob, and returns a function that is true for paths which the glob
        matches.
    refusal: the class of exceptions that the library raises for an invalid glob.
    """

    def match(message):
        if message.get("case", "sensitive") != "sensitive":
            raise Unsupported("policy.fold")
        try:
            matches = read(os.fsdecode(take(message, "pattern")))
        except refusal as why:
            return {"error": {"kind": "invalid_input", "message": str(why)}}
        # Bytes that are not UTF-8 become surrogates, as in Python's file names.
        paths = map(os.fsdecode, take(message, "paths"))
        return {"result": {"items": [{"match": matches(path)} for path in paths]}}

    main(about, ["glob"], {"glob.match": match})
