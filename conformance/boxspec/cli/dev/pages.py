"""The verb `pages`: compare or write the generated parts of the pages."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from boxspec.cli.verbs import verb_parser
from boxspec.pages.generated import pages, remade
from boxspec.places import COMMAND, ROOT


def compare(write: bool, every: Sequence[Path] | None = None) -> int:
    """Show the generated parts that differ, and write them if `write` is True.

    Return 1 if a part differs and was not written.
    """
    differ = 0
    every = pages() if every is None else every
    for page in every:
        name = str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else str(page)
        text = page.read_text(encoding="utf-8")
        made = remade(text, name)
        if made == text:
            continue
        differ += 1
        old, new = (each.splitlines(keepends=True) for each in (text, made))
        print("".join(difflib.unified_diff(old, new, name, f"{name}, generated", n=0)), end="")
        if write:
            page.write_text(made, encoding="utf-8")
    done = "written" if write else f"differ: {COMMAND} dev pages --write writes them"
    print(f"{len(every)} pages, {differ} {done if differ else 'differ'}")
    return int(differ > 0 and not write)


def main(words: Sequence[str]) -> int:
    about = (
        "Compare the parts of the pages that are generated from requirements.yaml, from the\n"
        "declarations of the contracts and from their schemas; exit 1 if one differs."
    )
    parser = verb_parser("dev pages", about=about)
    parser.add_argument(
        "--write", action="store_true", help="write the generated parts, after showing differences"
    )
    return compare(parser.parse_args(words).write)
