"""Compile the fixture programs without CMake.

This happens when a wheel is built, or when an installed kit is first used. A checkout uses
fixtures/programs/CMakeLists.txt instead. A self-test compares the two.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FLAGS = ("-std=gnu17", "-O2", "-D_GNU_SOURCE")


class NotCompiledError(Exception):
    """Raised if a program was not compiled.

    The text is the message of the compiler, or it says that no compiler was found.
    """


@dataclass(frozen=True)
class Toolchain:
    """The commands that compile static programs and shared objects, and that make an archive."""

    programs: tuple[str, ...]
    preloads: tuple[str, ...]
    archiver: tuple[str, ...]


def system() -> Toolchain:
    """Return CC, or the first compiler that is found; raise NotCompiledError if there is none."""
    named = tuple(shlex.split(os.environ.get("CC", "")))
    for words in (named, ("cc",), ("gcc",), ("clang",)):
        if words and shutil.which(words[0]):
            return Toolchain(words, words, ("ar",))
    raise NotCompiledError("they must be compiled, but no C compiler is found")


def build(sources: Path, into: Path, tools: Toolchain) -> None:
    """Build all programs and preloads of fixtures/programs into an empty folder."""
    flags = [*FLAGS, f"-I{sources}", f"-I{sources.parent}"]
    cc = [*tools.programs, *flags]
    library = sorted(sources.glob("lib/*.c"))
    with tempfile.TemporaryDirectory(dir=into) as objects:
        # one call for each source, because Zig's compiler makes only one object per call
        for source in library:
            _call([*cc, "-c", str(source)], Path(objects))
        archive = str(Path(objects) / "library.a")
        members = [f"{path.stem}.o" for path in library]
        _call([*tools.archiver, "rcs", archive, *members], Path(objects))
        for source in sorted(sources.glob("*.c")):
            files = [str(source), *map(str, _further_sources(source)), archive]
            _call([*cc, "-static", "-o", str(into / source.stem), *files], into)
    (into / "preload").mkdir()
    for source in sorted(sources.glob("preload/*.c")):
        name = f'-DPRELOAD_NAME="{source.stem}"'
        made = str(into / "preload" / f"{source.stem}.so")
        shared = ["-shared", "-fPIC", "-o", made, str(source), "-ldl", "-lpthread"]
        _call([*tools.preloads, *flags, name, *shared], into)


def _further_sources(source: Path) -> list[Path]:
    """Return the further sources of a program: from the folder with its name, or from `probes`."""
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


def compiled_programs(sources: Path, cache: Path) -> Path:
    """Return the folder with the programs of these sources. They are compiled at the first use."""
    return made_once(
        cache / f"programs-{_digest(sources)}", lambda new: build(sources, new, system())
    )


def made_once(made: Path, fill: Callable[[Path], None]) -> Path:
    """Return the folder `made`.

    If the folder is missing, `fill` makes it: `fill` gets a new folder, which is then renamed to
    `made`.
    """
    if made.is_dir():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=made.parent, prefix="new-"))
    try:
        new.chmod(0o755)
        fill(new)
        try:
            new.rename(made)
        except OSError:
            # Another process has made the folder meanwhile, with the same contents.
            if not made.is_dir():
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return made


def _digest(sources: Path) -> str:
    found = hashlib.sha256(repr((system(), FLAGS)).encode())
    for path in sorted(sources.parent.rglob("*.[ch]")):
        found.update(
            str(path.relative_to(sources.parent)).encode() + b"\0" + path.read_bytes() + b"\0"
        )
    return found.hexdigest()[:16]
