"""`boxspec sbpl goldens`: compare the reference's texts with the stored ones, byte for byte."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.judge.expect import shown
from boxspec.places import ROOT
from boxspec.subject.client.command import shim_argv
from boxspec.subject.observed import Answer
from boxspec.subject.session import Session
from contracts.sbpl.text import bytes_of

FOLDER = ROOT / "fixtures" / "sbpl"


@dataclass(frozen=True)
class Shape:
    """A golden: a request, and the text that the reference returned for it when the text was
    stored."""

    file: Path

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def request(self) -> dict[str, object]:
        made: dict[str, object] = json.loads(self.file.read_text(encoding="utf-8"))
        return made

    @property
    def golden(self) -> Path:
        return self.file.with_suffix(".sb")

    @property
    def text(self) -> bytes:
        return self.golden.read_bytes() if self.golden.exists() else b""


def shapes(folder: Path = FOLDER) -> list[Shape]:
    return [Shape(file) for file in sorted(folder.glob("*.json"))]


def compare(shim: str | None, write: bool, folder: Path = FOLDER) -> int:
    """Compare all goldens; with `write` store the new texts.

    Return 0 if no text differs. Otherwise show the differences and return 1.
    """
    every = shapes(folder)
    if not every:
        raise UsageError(str(folder), "has no shapes", "run it in a checkout")
    differ = 0
    session = Session(shim_argv(shim))
    try:
        for shape in every:
            answer = Answer(session.serve().ask(shape.request))
            if not answer.ok:
                raise UsageError(
                    shape.name, f"is answered with {shown(answer.raw)}", "fix the request"
                )
            made = bytes_of(answer)
            if made == shape.text and shape.golden.exists():
                continue
            differ += 1
            sys.stdout.writelines(difference(shape, made))
            if write:
                shape.golden.write_bytes(made)
    finally:
        session.close()
    gone = [text for text in sorted(folder.glob("*.sb")) if not text.with_suffix(".json").exists()]
    for text in gone:
        print(f"{text.name} has no request")
    done = "written" if write else "differ"
    print(f"{len(every)} shapes, {differ} {done}")
    return 1 if gone or (differ and not write) else 0


def difference(shape: Shape, made: bytes) -> Iterator[str]:
    before, after = (
        data.decode("utf-8", "backslashreplace").splitlines(keepends=True)
        for data in (shape.text, made)
    )
    for line in difflib.unified_diff(
        before, after, f"a/{shape.golden.name}", f"b/{shape.golden.name}"
    ):
        yield line if line.endswith("\n") else f"{line}\n\\ no line feed at the end\n"
