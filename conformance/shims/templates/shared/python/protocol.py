"""The two modes of boxspec's shim protocol, run and serve. This file needs no change.

shim-protocol.md of boxspec describes requests and answers.
"""

import json
import os
import sys
from base64 import b64decode

ENVELOPE = {"id", "op", "hold"}


class Failed(Exception):
    """An answer of kind `error`: Failed("invalid_input", "the root does not exist")."""

    def __init__(self, kind, message):
        self.error = {"kind": kind, "message": message}


class Unsupported(Exception):
    """An answer of kind `unsupported`, with the name of a capability or operation."""

    def __init__(self, capability, why="not in this shim"):
        self.told = {"capability": capability, "why": why}


def content(step, name):
    """Return the bytes of a field, which has the suffix _b64 if they are not UTF-8."""
    return b64decode(step[f"{name}_b64"]) if f"{name}_b64" in step else step[name].encode()


def text(given, name):
    """Return the text of a field, which has the suffix _b64 if it is not UTF-8.

    Raise Failed if it is not UTF-8: this shim needs no other texts.
    """
    if f"{name}_b64" not in given:
        return given[name]
    try:
        return content(given, name).decode()
    except UnicodeDecodeError:
        raise Failed("invalid_input", f"`{name}` is not UTF-8") from None


def refuse_others(given, known, capability):
    """Refuse each field that the shim does not know, because the protocol forbids to ignore a
    field."""
    if more := given.keys() - known:
        raise Unsupported(capability, f"unknown fields: {', '.join(sorted(more))}")


def answer(message, hello, operations, serving):
    """Return the answer to a message.

    operations: for each operation its function, its fields, and True if `serve` refuses it.
    """
    op = message["op"]
    if op == "hello":
        told = {"protocol": 1, "nonce": message["nonce"], "pid": os.getpid()}
        return {"result": told | hello}
    if op == "bye":
        return {"result": {}}
    try:
        if op not in operations:
            raise Unsupported(op)
        function, fields, only_run = operations[op]
        refuse_others(message, ENVELOPE | fields, op)
        if serving and only_run(message):
            raise Failed("invalid_input", "programs are started in run mode only")
        return {"result": function(message)}
    except Failed as why:
        return {"error": why.error}
    except Unsupported as what:
        return {"unsupported": what.told}


def main(hello, operations):
    if sys.argv[1] == "serve":
        for line in sys.stdin:
            asked = json.loads(line)
            reply = {"id": asked["id"], **answer(asked, hello, operations, True)}
            print(json.dumps(reply), flush=True)
            if asked["op"] == "bye":
                break
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        asked = json.load(file)
    with open(sys.argv[3] + ".new", "w", encoding="utf-8") as file:
        json.dump({"id": asked["id"], **answer(asked, hello, operations, False)}, file)
    os.replace(file.name, sys.argv[3])  # atomic, so that a reader never sees part of an answer
    if "hold" in asked:
        with open(asked["hold"], "rb") as fifo:
            fifo.read()
