"""Store the failure blocks of an HTML page: short ones in the page, long ones in separate files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from boxspec.judge.failure_block import REPEAT
from boxspec.report.result import Result, block_of, is_error, is_failure

# The most characters of all blocks in a page. If all blocks together are longer, blocks are cut to
# the first of these lengths with which they fit.
ROOM = 2_000_000
LENGTHS = (8000, 4000, 2000, 1000, 500)


@dataclass
class Evidence:
    """Failure blocks.

    blocks: for each result (by its slug) and test, the text, and the name of its file if it has
        one.
    files: the content of the data folder, by file name.
    """

    blocks: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Mapping[str, Result]) -> Evidence:
        whole = {
            slug: {
                # The line with the command is left out: the page shows the command with a button
                # that copies it.
                name: "\n".join(
                    line for line in block_of(result, test) if not line.startswith(REPEAT)
                )
                for name, test in result.tests.items()
                if is_failure(test) or is_error(test)
            }
            for slug, result in results.items()
        }
        every = [len(text) for blocks in whole.values() for text in blocks.values()]
        fits = (each for each in LENGTHS if sum(min(each, size) for size in every) <= ROOM)
        length = next(fits, LENGTHS[-1])
        made = cls()
        for slug, blocks in whole.items():
            made.blocks[slug] = {name: made._shown(text, length) for name, text in blocks.items()}
        return made

    def _shown(self, text: str, length: int) -> list[Any]:
        if len(text) <= length:
            return [text, None]
        # The name is a digest of the content. So pages in one folder can share a file, and a new
        # page does not damage an older one.
        name = f"{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}.txt"
        self.files[name] = text + "\n"
        return [text[:length], name]
