"""The Python implementation, which takes an encoded field only if its bytes are not UTF-8."""

import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(HERE, "python"))

import contract
import protocol
import reader
from errors import Unsupported

take_encoded = reader.Reader.take_encoded
every = contract.every


def without_bytes():
    """Return the contracts without `exec.bytes`, whose tests send an encoded empty payload."""
    found = every()
    capabilities = found["exec"].capabilities
    found["exec"].capabilities = lambda: [each for each in capabilities() if each != "exec.bytes"]
    return found


def is_utf_8(value):
    """True if a decoded value, or each item of it, is UTF-8."""
    if not isinstance(value, bytes):
        return all(map(is_utf_8, value))
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def take_only_if_needed(self, name, convert):
    encoded = f"{name}_b64" in self.fields
    value = take_encoded(self, name, convert)
    if encoded and is_utf_8(value):
        raise Unsupported(f"{name}_b64", f"its bytes are UTF-8, so {name} would do")
    return value


contract.every = without_bytes
reader.Reader.take_encoded = take_only_if_needed

if __name__ == "__main__":
    os._exit(protocol.main())
