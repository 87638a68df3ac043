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

FLAGS = ("-std=gnu17", "-O2", "-D_GNU_SOURCE")
# What a program needs beside the C library.
LIBRARIES = {"hash-stdin": ("-lmd",)}


class NotCompiledError(Exception):
    """What the compiler says, or that there is none."""


def compiler() -> list[str]:
    """CC, or the first that is there; NotCompiledError without one."""
    named = shlex.split(os.environ.get("CC", ""))
    for words in (named, ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return words
    raise NotCompiledError("they are to be compiled, and there is no cc")


def build(sources: Path, into: Path) -> None:
    """All programs and preloads of fixtures/programs to a folder that is there and empty."""
    cc = [*compiler(), *FLAGS, f"-I{sources}", f"-I{sources.parent}"]
    library = sorted(sources.glob("lib/*.c"))
    with tempfile.TemporaryDirectory(dir=into) as objects:
        _call([*cc, "-c", *map(str, library)], Path(objects))
        archive = str(Path(objects) / "library.a")
        _call(["ar", "rcs", archive, *(f"{path.stem}.o" for path in library)], Path(objects))
        for source in sorted(sources.glob("*.c")):
            name, files = source.stem, [str(source), *map(str, _more(source))]
            libraries = [archive, *LIBRARIES.get(name, ())]
            _call([*cc, "-static", "-o", str(into / name), *files, *libraries], into)
    (into / "preload").mkdir()
    for source in sorted(sources.glob("preload/*.c")):
        name = f'-DPRELOAD_NAME="{source.stem}"'
        made = str(into / "preload" / f"{source.stem}.so")
        shared = ["-shared", "-fPIC", "-o", made, str(source), "-ldl", "-lpthread"]
        _call([*cc, name, *shared], into)


def _more(source: Path) -> list[Path]:
    """The rest of a program: in a folder of its name, or beside the programs for the probes."""
    beside = source.parent.parent / "probes"
    return sorted((beside if source.stem == "probe" else source.with_suffix("")).glob("*.c"))


def _call(words: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace")
    except OSError as why:
        raise NotCompiledError(f"{words[0]} cannot be started: {why.strerror}") from None
    if done.returncode:
        said = [
            line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line
        ]
        raise NotCompiledError(f"{words[0]} fails: {[*said, done.stderr, '?'][0]}")


def kept(sources: Path, cache: Path) -> Path:
    """The folder with the programs of these sources; compiled when they are asked for first."""
    made = cache / f"programs-{_digest(sources)}"
    if made.is_dir():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=made.parent, prefix="new-"))
    try:
        new.chmod(0o755)
        build(sources, new)
        try:
            new.rename(made)
        except OSError:
            # Somebody else was first, with the same sources.
            if not made.is_dir():
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return made


def _digest(sources: Path) -> str:
    found = hashlib.sha256(repr((compiler(), FLAGS, LIBRARIES)).encode())
    for path in sorted(sources.parent.rglob("*.[ch]")):
        found.update(
            str(path.relative_to(sources.parent)).encode() + b"\0" + path.read_bytes() + b"\0"
        )
    return found.hexdigest()[:16]
