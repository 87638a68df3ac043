"""The Python implementation with an API of strings, which accepts only UTF-8."""

import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(HERE, "python"))

import contract
import exec.contract
import protocol
import reader
from errors import Unsupported

BYTES = "exec.bytes"
CONTRACT = exec.contract.CONTRACT
capabilities = CONTRACT.capabilities
CONTRACT.capabilities = lambda: [name for name in capabilities() if name != BYTES]
contract.every = lambda: {"exec": CONTRACT}
from_base64 = reader.from_base64


def from_text_in_base64(value):
    data = from_base64(value)
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Unsupported(BYTES, "the API takes strings") from None
    return data


reader.from_base64 = from_text_in_base64

if __name__ == "__main__":
    os._exit(protocol.main())
