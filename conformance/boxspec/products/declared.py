"""Read the declarations of products.

The declaration of a library is the file product.yaml in a folder below conformance/shims/products.
An adapter is a Python file; shim.py of that folder prints its declaration, with the same fields. In
commands, {here} is the folder of the library, {home} the folder with the installed product, and
{root} the checkout. product.json is the schema.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema_rs import Validator, validator_for

from boxspec.errors import UsageError
from boxspec.places import COMMAND, ROOT
from boxspec.places import cache as cache_folder
from boxspec.printable import one_line

PRODUCTS = ROOT / "conformance" / "shims" / "products"
ADAPTERS = PRODUCTS / "shim.py"
TEMPLATE = PRODUCTS / "template.py"
FILE = "product.yaml"
SCHEMA = Path(__file__).with_name("product.json")
VERSION = re.compile(r"[0-9A-Za-z][\w.+~:-]*")
WITHIN_S = 60


@dataclass(frozen=True)
class Product:
    """One declaration; product.json describes its fields.

    word: the name on the command line, which is the name of the folder or of the adapter's file.
        NAME@VERSION is one version of a sandbox.

    Commands contain placeholders. `argv` and `shim` return commands in which these are replaced.
    """

    word: str
    here: Path
    name: str
    about: str
    documents: str
    contracts: list[str]
    run: list[str]
    version: list[str]
    language: str = ""
    homepage: str = ""
    topics: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    install: list[list[str]] = field(default_factory=list)
    build: list[list[str]] = field(default_factory=list)
    anywhere: bool = False
    backend: str = ""
    starts: list[str] = field(default_factory=list)
    control: bool = False
    tries: list[str] = field(default_factory=list)
    not_judged: str = ""
    fails: list[dict[str, Any]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return cache_folder() / "products" / self.word

    @property
    def stamp(self) -> Path:
        """Return the file with the digest of the last installation, or with the reason why it
        failed."""
        return self.home.with_name(f"{self.home.name}.stamp")

    @property
    def commands(self) -> list[list[str]]:
        """Return the commands that install the product, in order."""
        return [self.argv(words) for words in (*self.install, *self.build)]

    def argv(self, words: Sequence[str]) -> list[str]:
        return [self._replaced(word, None) for word in words]

    def shim(self) -> str:
        """Return the command line of the shim. It works in the root of the checkout."""
        return shlex.join(self._replaced(word, ROOT) for word in self.run)

    def digest(self) -> str:
        """Return the digest of the install commands and of the files that they name."""
        words = {word for command in (*self.install, *self.build) for word in command}
        found = hashlib.sha256(repr((self.install, self.build)).encode())
        files = {Path(self._replaced(word, None)) for word in words if word.startswith("{root}/")}
        if any("{here}" in word for word in words):
            files.update(self.here.rglob("*"))
        for file in sorted(files):
            if file.is_file() and file.name != FILE:
                found.update(f"{file.name}\0".encode() + file.read_bytes())
        return found.hexdigest()

    def why(self, requirement: str) -> str:
        """Return the reason that the product declares for a failure, or an empty string."""
        reasons = (each["why"] for each in self.fails if requirement in each["requirements"])
        return next(reasons, "")

    def tried(self) -> list[str]:
        """Return the failures that the program `tries` shows without the kit."""
        return [name for each in self.fails for name in each.get("tried", [])]

    def _replaced(self, word: str, base: Path | None) -> str:
        for name, place in (("{here}", self.here), ("{home}", self.home), ("{root}", ROOT)):
            shown = place.relative_to(base) if base and place.is_relative_to(base) else place
            word = word.replace(name, str(shown))
        return word


def every() -> list[Product]:
    """Return the libraries, then the adapters, by name; raise UsageError if one is wrong."""
    libraries = [read(file.parent) for file in sorted(PRODUCTS.glob(f"*/*/{FILE}"))]
    printed = _printed("--declarations").items()
    return [*libraries, *(_checked(word, PRODUCTS, plain, word) for word, plain in printed)]


def product(word: str) -> Product:
    """Return the product with this name, or with this folder or adapter file."""
    if word.endswith(".py"):
        file = Path(word).absolute()
        if not file.is_file():
            raise UsageError(word, "no such file", f"{COMMAND} products new NAME makes one")
        ((name, plain),) = _printed(str(file), "--declaration").items()
        return _checked(name, file.parent, plain, word)
    if "/" in word:
        return read(Path(word))
    found = {each.word: each for each in every()}
    name, at, version = word.partition("@")
    if at and name in found:
        return _at(found[name], version)
    if word not in found:
        raise UsageError(word, "no product has this name", f"known: {', '.join(found)}")
    return found[word]


def installed_versions(found: Product) -> list[Product]:
    """Return the versions NAME@VERSION of a product that were installed.

    NAME without a version is left out.
    """
    stamps = found.home.parent.glob(f"{found.word}@*.stamp")
    versions = [stamp.name.removesuffix(".stamp").partition("@")[2] for stamp in sorted(stamps)]
    return [_at(found, version) for version in versions]


def _at(found: Product, version: str) -> Product:
    """Return this version of a product; raise UsageError if no single version can be installed."""
    word = f"{found.word}@{version}"
    if not VERSION.fullmatch(version):
        raise UsageError(word, "is not a version", "write NAME@VERSION, for example NAME@1.2.3")
    if found.here != PRODUCTS:
        raise UsageError(word, "is a library, which has one version", f"use {found.word}")
    ((name, plain),) = _printed(word, "--declaration").items()
    made = _checked(name, found.here, plain, word)
    if made.install == found.install:
        raise UsageError(word, "its installation names no version", f"use {found.word}")
    return made


def read(folder: Path) -> Product:
    """Return the library in this folder."""
    file = folder / FILE
    try:
        plain = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as why:
        remedy = "name a product or its folder"
        raise UsageError(str(file), why.strerror or str(why), remedy) from None
    except (yaml.YAMLError, UnicodeError) as why:
        problem = f"is not valid YAML: {one_line(str(why))}"
        raise UsageError(str(file), problem, "fix it") from None
    return _checked(folder.resolve().name, folder.resolve(), plain, str(file))


def to_install(found: Product) -> str:
    return f"{COMMAND} products install {found.word}"


def _checked(word: str, here: Path, plain: Any, place: str) -> Product:
    problem = next(iter(_schema().iter_errors(plain)), None)
    if problem is not None:
        where = "/".join(str(part) for part in problem.instance_path) or "the whole"
        message = one_line(f"{where}: {problem.message}"[:300])
        raise UsageError(place, message, f"{SCHEMA.name} is the schema")
    return Product(word=word, here=here, **plain)


def _printed(*words: str) -> dict[str, Any]:
    """Run shim.py and return the declarations that it prints, by name."""
    # The path of the interpreter itself is used: with a version manager `python3` is a slow script.
    argv = [str(Path(sys.executable).resolve()), "-I", "-S", str(ADAPTERS), *words]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        problem = f"no declaration within {WITHIN_S} s"
        raise UsageError(words[0], problem, "find the call at which the adapter waits") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip()
        raise UsageError(words[0], message, "fix the adapter")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@cache
def _schema() -> Validator:
    return validator_for(json.loads(SCHEMA.read_bytes()))
