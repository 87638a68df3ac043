"""The fixture programs without CMake: for the wheel, and at first use of a kit that has none.

A checkout builds fixtures/programs/CMakeLists.txt; a self-test holds both against each other.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.places import ROOT, cache

SOURCES = ROOT / "fixtures" / "programs"
PROBES = ROOT / "fixtures" / "probes"
FLAGS = ("-std=gnu17", "-O2", "-D_GNU_SOURCE", f"-I{SOURCES}", f"-I{SOURCES.parent}")
# What a program needs beside the C library.
LIBRARIES = {"hash-stdin": ("-lmd",)}
REMEDY = (
    "install a C compiler with static libraries and libmd (Debian: build-essential libmd-dev), "
    "or set BOXSPEC_PROGRAMS to a folder of programs that were built elsewhere"
)


def compiler() -> list[str]:
    """CC, or the first that is there; UsageError without one."""
    named = shlex.split(os.environ.get("CC", ""))
    for words in (named, ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return words
    raise UsageError("the fixture programs", "are to be compiled, and there is no cc", REMEDY)


def build(into: Path) -> None:
    """All programs and preloads to a folder that is there and empty."""
    cc = compiler()
    library = sorted(SOURCES.glob("lib/*.c"))
    with tempfile.TemporaryDirectory(dir=into) as objects:
        _call([*cc, *FLAGS, "-c", *map(str, library)], Path(objects))
        archive = str(Path(objects) / "library.a")
        _call(["ar", "rcs", archive, *(f"{path.stem}.o" for path in library)], Path(objects))
        for source in sorted(SOURCES.glob("*.c")):
            name, files = source.stem, [str(source), *map(str, _more(source.stem))]
            libraries = [archive, *LIBRARIES.get(name, ())]
            _call([*cc, *FLAGS, "-static", "-o", str(into / name), *files, *libraries], into)
    (into / "preload").mkdir()
    for source in sorted(SOURCES.glob("preload/*.c")):
        name = f'-DPRELOAD_NAME="{source.stem}"'
        made = str(into / "preload" / f"{source.stem}.so")
        shared = ["-shared", "-fPIC", "-o", made, str(source), "-ldl", "-lpthread"]
        _call([*cc, *FLAGS, name, *shared], into)


def _more(name: str) -> list[Path]:
    return sorted((PROBES if name == "probe" else SOURCES / name).glob("*.c"))


def _call(words: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace")
    except OSError as why:
        raise UsageError(words[0], f"cannot be started: {why.strerror}", REMEDY) from None
    if done.returncode:
        said = [
            line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line
        ]
        raise UsageError(
            "the fixture programs", f"{words[0]} fails: {[*said, done.stderr, '?'][0]}", REMEDY
        )


def kept() -> Path:
    """The folder with the programs of these sources; compiled when they are asked for first."""
    made = cache() / f"programs-{_digest()}"
    if made.is_dir():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=made.parent, prefix="new-"))
    try:
        new.chmod(0o755)
        build(new)
        try:
            new.rename(made)
        except OSError:
            # Somebody else was first, with the same sources.
            if not made.is_dir():
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return made


def _digest() -> str:
    found = hashlib.sha256(repr((compiler(), FLAGS, LIBRARIES)).encode())
    for path in sorted([*SOURCES.rglob("*.[ch]"), *PROBES.rglob("*.[ch]")]):
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]
