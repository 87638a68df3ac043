"""Seed inputs for fuzzing the parser of exec requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from boxspec.places import ROOT
from boxspec.subject.contract import Fuzzing


def exec_frame() -> Iterator[bytes]:
    """Yield each request that the protocol page shows as an example."""
    page = (ROOT / "conformance" / "spec" / "shim-protocol.md").read_text(encoding="utf-8")
    for line in re.findall(r'^\{"id": .*"op": .*\}$', page, re.MULTILINE):
        yield line.encode()


def _no_vectors(
    _: Mapping[str, Any], accused: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    return iter(())


FUZZING = Fuzzing(seeds={"exec_frame": exec_frame}, vectors_of=_no_vectors, ids=tuple)
