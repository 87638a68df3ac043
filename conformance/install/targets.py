"""Find the system that a wheel is for: this one, or the one that is named.

BOXSPEC_WHEEL_TARGET names a system in the way compilers do: aarch64-linux-musl. Programs for other
systems are compiled by Zig's C compiler, which is on PyPI and includes the headers of each C
library and machine.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from boxspec.compiling import NotCompiledError, Toolchain, system

VARIABLE = "BOXSPEC_WHEEL_TARGET"
# A fixed version, because another one would produce different bytes.
ZIG = "ziglang==0.14.1"
# glibc 2.17 and musl 1.2, because Python 3.11 does not run on much older ones.
OLDEST_GLIBC = 17
MUSL = "1_2"


class NoTargetError(Exception):
    """Raised if the word names no known target."""


@dataclass(frozen=True)
class Target:
    machine: str
    libc: str  # gnu or musl

    def __str__(self) -> str:
        return f"{self.machine}-linux-{self.libc}"


KNOWN = tuple(
    Target(machine, libc) for libc in ("gnu", "musl") for machine in ("x86_64", "aarch64")
)


def own() -> Target:
    """Return the target of this system."""
    return Target(platform.machine(), "gnu" if platform.libc_ver()[0] == "glibc" else "musl")


def requested() -> Target:
    """Return the target that the environment names, or this system's."""
    word = os.environ.get(VARIABLE, "")
    found = [each for each in (*KNOWN, own()) if str(each) == word]
    if word and not found:
        raise NoTargetError(f"{VARIABLE} {word!r}: name one of {', '.join(map(str, KNOWN))}")
    return found[0] if found else own()


def needs(target: Target) -> list[str]:
    """Return the packages that a build for `target` needs from PyPI besides hatchling."""
    return [] if target == own() else [ZIG]


def toolchain(target: Target) -> Toolchain:
    """Return this system's compiler for this system, else Zig's.

    Programs are static and need no C library. For glibc targets they contain musl, because Zig
    cannot link statically with glibc. Preloaded libraries are loaded into programs of the target,
    so they need the target's C library.
    """
    if target == own():
        return system()
    zig = (sys.executable, "-m", "ziglang")
    # Without Zig's own checks, and without debug information, which contains paths of this machine.
    cc = (*zig, "cc", "-fno-sanitize=all", "-g0", "-s", "-target")
    oldest = f"gnu.2.{OLDEST_GLIBC}" if target.libc == "gnu" else target.libc
    return Toolchain(
        programs=(*cc, f"{target.machine}-linux-musl"),
        preloads=(*cc, f"{target.machine}-linux-{oldest}"),
        archiver=(*zig, "ar"),
    )


def platform_tag(target: Target, files: Iterable[Path]) -> str:
    """Return the platform tag of the wheel.

    The tag names the newest version of glibc that a file needs. Static files need none.
    """
    if target.libc == "musl":
        return f"musllinux_{MUSL}_{target.machine}"
    newest = OLDEST_GLIBC
    for file in files:
        if file.read_bytes()[:4] == b"\x7fELF":
            newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", _versions(file)))])
    return f"manylinux_2_{newest}_{target.machine}"


def _versions(file: Path) -> str:
    """Return the library versions that a file needs, as readelf prints them for any machine."""
    words = ["readelf", "--version-info", "--wide", str(file)]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as why:
        raise NotCompiledError(f"readelf, of binutils, does not read {file.name}: {why}") from None
