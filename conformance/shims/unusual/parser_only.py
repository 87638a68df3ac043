"""The Python implementation, reduced to reading policies in YAML."""

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
CONTRACT.capabilities = lambda: ["policy.load", "policy.yaml"]
CONTRACT.operations = {"policy.load": "ops:load"}
contract.every = lambda: {"policy": CONTRACT}
take_text = ops.take_text


def take_yaml(reader):
    if reader.fields.get("format") == "json":
        raise Unsupported("policy.json", "this parser is one of YAML")
    return take_text(reader)


ops.take_text = take_yaml

if __name__ == "__main__":
    os._exit(protocol.main())
