"""Check that prose stays easy to read: ci/check_prose.py [FILE...]

Counts words that stand where a noun should, because the reader has to guess their meaning. Prose is
comments, docstrings, the paragraphs of Markdown and the texts of YAML. Without FILE it checks the
files that the last commits touched. It fails if all of them together, or one with enough prose,
have more of these words per 1,000 than the bound, and then prints the sentences. With FILE it
prints the sentences of these files.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, String, is_token_subtype
from pygments.util import ClassNotFound

UNCLEAR = re.compile(
    r"\b(what|who|whom|whose|whoever|whatever|nobody|somebody|none|nothing|told|tells|such|behind"
    r"|besides?|anew|alone|mends?|mended|thereof|that of|those of|(?:is|are) asked)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
SENTENCE = re.compile(r"(?<=[.:;]) ")
QUOTED = re.compile(r"`[^`]*`")
# A key of YAML with its text on the same line.
TEXT_OF_YAML = re.compile(r"\s*-?\s*(?:clause|page|why|title|summary|wrong|note):\s*(.{20,})")

LAST_COMMITS = 12
BOUND, FILE_BOUND, FILE_WORDS = 8.0, 30.0, 200
NO_COMMENTS = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
NO_PROSE = ("fuzz/corpus/", "fuzz/regressions/", "fuzz/planted/", "LICENSE")


def of_markdown(text: str) -> Iterator[str]:
    for token in MarkdownIt().enable("table").parse(text):
        parts = token.children or [] if token.type == "inline" else []
        yield "".join(part.content if part.type == "text" else " " for part in parts)


def of_yaml(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if found := TEXT_OF_YAML.match(line):
            yield found[1].strip("'\"")


def of_source(text: str, lexer: Lexer) -> Iterator[str]:
    for kind, value in lexer.get_tokens(text):
        if is_token_subtype(kind, Comment) and kind not in NO_COMMENTS:
            yield re.sub(r"^\s*(?:/\*|\*/|\*|//|#)|\*/$", " ", value, flags=re.MULTILINE)
        elif kind is String.Doc:
            yield value.strip("'\"")


def prose(path: Path) -> str:
    """Return the prose of a file, with each space as one blank."""
    try:
        text = path.read_text(encoding="utf-8")
        lexer = get_lexer_for_filename(path.name)
    except (UnicodeDecodeError, ClassNotFound):
        return ""
    parts = [*of_markdown(text)] if path.suffix == ".md" else [*of_source(text, lexer)]
    if path.suffix in (".yaml", ".yml"):
        parts += of_yaml(text)
    return QUOTED.sub("", " ".join(" ".join(parts).split()))


def unclear(text: str) -> list[str]:
    """Return the sentences with unclear words."""
    return [each for each in SENTENCE.split(text) if UNCLEAR.search(each)]


def rate(text: str) -> float:
    return 1000 * len(UNCLEAR.findall(text)) / max(1, len(WORD.findall(text)))


def touched() -> list[Path]:
    """Return the files that the last commits touched and that still exist."""
    log = ["git", "log", f"-{LAST_COMMITS}", "--name-only", "--format=", "-z"]
    # A tree without its history has no files to check.
    done = subprocess.run(log, stdout=subprocess.PIPE, text=True, check=False)
    names = {each.strip() for each in done.stdout.split("\0")} - {""}
    paths = [Path(name) for name in sorted(names) if not name.startswith(NO_PROSE)]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def show(path: Path, text: str) -> None:
    print(f"{path}: {rate(text):.1f} unclear words per 1,000")
    for each in unclear(text):
        print(f"  {each}")


def main(names: list[str]) -> int:
    texts = {path: prose(path) for path in [Path(name) for name in names] or touched()}
    if names:
        for path, text in texts.items():
            show(path, text)
        return 0
    n_words = {path: len(WORD.findall(text)) for path, text in texts.items()}
    bad = [path for path in texts if n_words[path] >= FILE_WORDS and rate(texts[path]) > FILE_BOUND]
    whole = " ".join(texts.values())
    if rate(whole) > BOUND:
        bad = sorted(texts, key=lambda path: -len(UNCLEAR.findall(texts[path])))[:10]
    for path in bad:
        show(path, texts[path])
    print(
        f"prose: {rate(whole):.1f} unclear words per 1,000 (at most {BOUND:g}; files: {len(texts)})"
    )
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
