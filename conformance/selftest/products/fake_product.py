"""The adapter of a fake product, which runs one line of Python to make its command."""

from __future__ import annotations

from pathlib import Path

from selftest.tools import CONFORMANCE

PRODUCTS = CONFORMANCE / "shims" / "products"
SHIM = PRODUCTS / "shim.py"
FAKE = """
import time
from products.adapter import EVERYTHING, Adapter

class Product(Adapter):
    program = "env"
    claims = {claims}

    def command(self, argv, asked):
        {command}
"""


def fake(folder: Path, command: str, claims: str = "EVERYTHING") -> Path:
    """Write an adapter whose `command` has this line as its body; return its file."""
    file = folder / "fake.py"
    file.write_text(FAKE.format(command=command, claims=claims))
    return file
