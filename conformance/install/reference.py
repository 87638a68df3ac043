"""Build boxspec-ref for a wheel: the program, its launcher, and the libraries that they need.

They are installed in bin, libexec/boxspec and lib/boxspec of one prefix, so the program finds the
others relative to itself. Needs CMake and the dependencies in reference/CMakeLists.txt.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Libraries that every Linux with the wheel's tag has: the C library and its parts.
OF_THE_SYSTEM = re.compile(r"(ld-linux|linux-vdso|lib(c|m|dl|pthread|rt)\.so)")
LIBRARIES = "lib/boxspec"


class NotBuiltError(Exception):
    """Raised if CMake or the compiler failed, or if a dependency is missing; the message says
    which."""


def build(tree: Path, into: Path) -> None:
    """Install into `into`, an empty folder, as into a prefix.

    tree: the root of the project. The licences of the libraries are copied too, if the system has
        them in the same place as Debian.
    """
    made = into / "build"
    flags = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBOXSPEC_TESTS=OFF",
        "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
        f"-DCMAKE_INSTALL_RPATH=$ORIGIN/../{LIBRARIES}",
        # Without paths of this machine, and without symbols that only a debugger needs.
        f"-DCMAKE_C_FLAGS=-ffile-prefix-map={tree}=.",
        "-DCMAKE_EXE_LINKER_FLAGS=-s",
    ]
    call(["cmake", "-S", str(tree), "-B", str(made), *flags])
    call(["cmake", "--build", str(made), "--target", "boxspec-ref"])
    helpers = [(name, "libexec/boxspec") for name in ("boxspec-launch", "boxspec-runner")]
    for name, place in (("boxspec-ref", "bin"), *helpers):
        file = made / "reference" / name
        if file.is_file():  # The helpers exist only on Linux.
            (into / place).mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, into / place)
    take_libraries(into / "bin" / "boxspec-ref", into / LIBRARIES)
    shutil.rmtree(made)


def take_libraries(program: Path, into: Path) -> None:
    """Copy the libraries of a program to a new folder, with the licences that are known."""
    into.mkdir(parents=True)
    for name, file in _needed(program):
        shutil.copy(file, into / name)
        if licence := _licence(file):
            shutil.copy(licence, into / f"{name}.copyright")


def _needed(program: Path) -> list[tuple[str, Path]]:
    """Return the names of the libraries that a program needs, and their files."""
    found = []
    for line in call(["ldd", str(program)]).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if OF_THE_SYSTEM.match(name) or not rest:
            continue
        if not rest.startswith("/"):
            raise NotBuiltError(f"{program.name} needs {name}, which is {rest}")
        found.append((name, Path(rest.split(" (")[0]).resolve()))
    return found


def _licence(library: Path) -> Path | None:
    if shutil.which("dpkg-query") is None:
        return None
    done = subprocess.run(["dpkg-query", "-S", library], capture_output=True, text=True)
    package = done.stdout.partition(":")[0]
    text = Path("/usr/share/doc", package, "copyright")
    return text if package and text.is_file() else None


def call(words: Sequence[str]) -> str:
    """Return the command's output; raise NotBuiltError with its first error if it fails."""
    env = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=env)
    except OSError as why:
        raise NotBuiltError(f"{words[0]} cannot be started: {why.strerror}") from None
    if done.returncode:
        lines = f"{done.stdout}\n{done.stderr}".splitlines()
        errors = [line for line in lines if re.search(r"error|not found|No package", line, re.I)]
        raise NotBuiltError(f"{words[0]} fails: {[*errors, *lines, '?'][0]}")
    return done.stdout
