"""Generate the parts of a page that are between two markers:

<!-- generated: KIND WORDS -->
    <!-- end of generated -->

The rest of the page is written by people and is not changed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.pages import fields, protocol, requirements
from boxspec.places import CONTRACTS, ROOT

BEGIN = re.compile(r"<!-- generated: (\S+)((?: \S+)*) -->")
END = "<!-- end of generated -->"

KINDS: dict[str, Callable[..., list[str]]] = {
    "requirements": requirements.of_topic,
    "capabilities": protocol.capabilities,
    "operations": protocol.operations,
    "kinds": protocol.kinds,
    "encoded": protocol.encoded,
    "request": fields.of_request,
    "result": fields.of_result,
}


def pages() -> list[Path]:
    """Return the pages that have a generated part."""
    every = sorted([*CONTRACTS.glob("*/*.md"), *(ROOT / "conformance" / "spec").glob("*.md")])
    return [page for page in every if BEGIN.search(page.read_text(encoding="utf-8"))]


def remade(text: str, name: str) -> str:
    """Return the text of a page with its parts generated again.

    name: the name of the page in error messages.
    """
    done: list[str] = []
    begun: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        begins = BEGIN.fullmatch(line)
        if begins and begun is None:
            begun = number
            done += [line, *_made(begins[1], begins[2].split(), f"{name}:{number}")]
        elif begins or (line == END and begun is None):
            problem = (
                "the part before it has no end marker" if begins else "an end marker without a part"
            )
            raise UsageError(f"{name}:{number}", problem, f"a part ends with {END}")
        elif line == END:
            begun = None
        if begun is None:
            done.append(line)
    if begun is not None:
        raise UsageError(f"{name}:{begun}", "the part has no end marker", f"a part ends with {END}")
    return "\n".join(done) + "\n"


def _made(kind: str, words: list[str], place: str) -> list[str]:
    if kind not in KINDS:
        raise UsageError(place, f"unknown part {kind!r}", f"known: {', '.join(KINDS)}")
    try:
        inspect.signature(KINDS[kind]).bind(*words)
        return KINDS[kind](*words)
    except TypeError as why:
        raise UsageError(place, f"{kind}: {why}", "use a kind and its arguments") from None
    except KeyError as why:
        raise UsageError(place, f"{kind}: unknown {why}", "check the spelling") from None
