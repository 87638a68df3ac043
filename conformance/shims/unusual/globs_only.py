"""The Python implementation, reduced to matching globs: it has no policies."""

import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(HERE, "python"))

import contract
import policy.contract
import policy.ops as ops
import protocol
from errors import Unsupported

CONTRACT = policy.contract.CONTRACT
CONTRACT.capabilities = lambda: ["path", "glob"]
CONTRACT.operations = {name: CONTRACT.operations[name] for name in ("path.normalize", "glob.match")}
contract.every = lambda: {"policy": CONTRACT}


def take_case(reader):
    if reader.fields.get("case") == "fold":
        raise Unsupported("policy.fold", "case is never folded")
    reader.take_choice("case", ("sensitive",))
    return False


ops.take_case = take_case

if __name__ == "__main__":
    os._exit(protocol.main())
