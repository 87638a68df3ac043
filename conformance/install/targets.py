"""For which system a wheel is: for the one that builds it, or for the one that is named.

BOXSPEC_WHEEL_TARGET names one, as compilers do: aarch64-linux-musl. What is not for the system that
builds is compiled by Zig's C compiler, which comes from PyPI and has the headers of each C library
and machine along.
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
# Another version makes other bytes.
ZIG = "ziglang==0.14.1"
# glibc 2.17 and musl 1.2: Python 3.11 itself has not run on older ones for long.
OLDEST_GLIBC = 17
MUSL = "1_2"


class NoTargetError(Exception):
    """The word names none."""


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
    """The system that builds."""
    return Target(platform.machine(), "gnu" if platform.libc_ver()[0] == "glibc" else "musl")


def asked() -> Target:
    """The one that the environment names, or else our own."""
    word = os.environ.get(VARIABLE, "")
    found = [each for each in (*KNOWN, own()) if str(each) == word]
    if word and not found:
        raise NoTargetError(f"{VARIABLE} {word!r}: name one of {', '.join(map(str, KNOWN))}")
    return found[0] if found else own()


def needs(target: Target) -> list[str]:
    """What PyPI is asked for beside hatchling, to build for it."""
    return [] if target == own() else [ZIG]


def toolchain(target: Target) -> Toolchain:
    """The system's compiler for our own system, else Zig's.

    Programs are static and so need no C library: where glibc is asked for they have musl's in them,
    as Zig makes no static program with glibc. Preloads are loaded into programs of the target.
    """
    if target == own():
        return system()
    zig = (sys.executable, "-m", "ziglang")
    # Neither checks of its own nor anything that a debugger reads, which has paths of this machine.
    cc = (*zig, "cc", "-fno-sanitize=all", "-g0", "-s", "-target")
    oldest = f"gnu.2.{OLDEST_GLIBC}" if target.libc == "gnu" else target.libc
    return Toolchain(
        programs=(*cc, f"{target.machine}-linux-musl"),
        preloads=(*cc, f"{target.machine}-linux-{oldest}"),
        archiver=(*zig, "ar"),
    )


def platform_tag(target: Target, files: Iterable[Path]) -> str:
    """What is static runs everywhere; of what is not the newest glibc that it asks for counts."""
    if target.libc == "musl":
        return f"musllinux_{MUSL}_{target.machine}"
    newest = OLDEST_GLIBC
    for file in files:
        if file.read_bytes()[:4] == b"\x7fELF":
            newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", _versions(file)))])
    return f"manylinux_2_{newest}_{target.machine}"


def _versions(file: Path) -> str:
    """Of libraries, as readelf tells them, for whichever machine the file is."""
    words = ["readelf", "--version-info", "--wide", str(file)]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as why:
        raise NotCompiledError(f"readelf, of binutils, does not read {file.name}: {why}") from None
