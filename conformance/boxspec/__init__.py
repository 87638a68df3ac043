"""boxspec: a conformance kit for anything that runs untrusted programs."""

__version__ = "0.1.0"
SPEC_VERSION = "1.0"
PROTOCOL = 1
