"""The peers: a folder each below shims/peers, with a peer.yaml that says what it is.

In the commands of a peer.yaml stand {here} for the folder of the peer, {home} for the folder that
it is installed to, and {root} for the checkout. peer.json has the shape.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema_rs import Validator, validator_for

from boxspec.errors import UsageError
from boxspec.places import COMMAND, ROOT
from boxspec.places import cache as kept
from boxspec.printable import one_line

PEERS = ROOT / "conformance" / "shims" / "peers"
FILE = "peer.yaml"
SCHEMA = Path(__file__).with_name("peer.json")


@dataclass(frozen=True)
class Peer:
    """One peer.yaml. word: the name of its folder, by which it is asked for. Commands are as they
    stand there: `argv` and `shim` put the folders in."""

    word: str
    here: Path
    name: str
    about: str
    language: str
    documents: str
    contracts: list[str]
    run: list[str]
    version: list[str]
    topics: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    install: list[list[str]] = field(default_factory=list)
    build: list[list[str]] = field(default_factory=list)
    tries: list[str] = field(default_factory=list)
    not_judged: str = ""
    fails: list[dict[str, Any]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return kept() / "peers" / self.word

    @property
    def stamp(self) -> Path:
        """What was installed: the digest of its day, or why that failed."""
        return self.home.with_suffix(".stamp")

    def argv(self, words: Sequence[str]) -> list[str]:
        return [self._with(word, None) for word in words]

    def shim(self) -> str:
        """The command line of the shim, as it is typed in the checkout."""
        return shlex.join(self._with(word, ROOT) for word in self.run)

    def digest(self) -> str:
        """Of the commands that install it, and of the files that they name."""
        words = {word for command in (*self.install, *self.build) for word in command}
        found = hashlib.sha256(repr((self.install, self.build)).encode())
        files = {Path(self._with(word, None)) for word in words if word.startswith("{root}/")}
        if any("{here}" in word for word in words):
            files.update(self.here.rglob("*"))
        for file in sorted(files):
            if file.is_file() and file.name != FILE:
                found.update(f"{file.name}\0".encode() + file.read_bytes())
        return found.hexdigest()

    def why(self, requirement: str) -> str:
        """What was read of a requirement that it fails, or nothing."""
        said = (each["why"] for each in self.fails if requirement in each["requirements"])
        return next(said, "")

    def tried(self) -> list[str]:
        """What it fails, and was seen outside of the kit, too."""
        return [name for each in self.fails for name in each.get("tried", [])]

    def _with(self, word: str, base: Path | None) -> str:
        for name, place in (("{here}", self.here), ("{home}", self.home), ("{root}", ROOT)):
            shown = place.relative_to(base) if base and place.is_relative_to(base) else place
            word = word.replace(name, str(shown))
        return word


def every(below: Path = PEERS) -> list[Peer]:
    """By room and name; UsageError for a folder that declares no peer."""
    return list(_found(below))


def peer(word: str) -> Peer:
    """The peer of this name, or of the folder `word`; UsageError for neither."""
    if "/" in word:
        return read(Path(word))
    found = {each.word: each for each in every()}
    if word not in found:
        raise UsageError(word, "no peer has this name", f"known: {', '.join(found)}")
    return found[word]


def read(folder: Path) -> Peer:
    file = folder / FILE
    try:
        plain = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as why:
        raise UsageError(str(file), why.strerror or str(why), "name a peer or its folder") from None
    except (yaml.YAMLError, UnicodeError) as why:
        raise UsageError(str(file), f"is no YAML: {one_line(str(why))}", "mend it") from None
    problem = next(iter(_shape().iter_errors(plain)), None)
    if problem is not None:
        where = "/".join(str(part) for part in problem.instance_path) or "the whole"
        told = one_line(f"{where}: {problem.message}"[:300])
        raise UsageError(str(file), told, f"its shape is in {SCHEMA.name}")
    return Peer(word=folder.resolve().name, here=folder.resolve(), **plain)


def to_install(found: Peer) -> str:
    return f"{COMMAND} peers install {found.word}"


def _found(below: Path) -> Iterator[Peer]:
    for file in sorted(below.glob(f"*/*/{FILE}")):
        yield read(file.parent)


@cache
def _shape() -> Validator:
    return validator_for(json.loads(SCHEMA.read_bytes()))
