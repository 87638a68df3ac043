"""What hatchling puts into the wheel: the kit, what it reads, and what is compiled for it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KIT = "boxspec_kit"
# Below the root of the tree. The self-tests stay there: they are about the tree.
TAKEN = (
    ".pytest.ini",
    "LICENSE",
    "conftest.py",
    "conformance/boxspec",
    "conformance/contracts",
    "conformance/shims",
    "conformance/spec",
    "conformance/tutorial.md",
    "fixtures",
)
PROGRAMS = "build/release/fixtures/programs"


class Hook(BuildHookInterface[Any]):
    """Without a compiler the wheel has no programs: the kit compiles them at first use.

    Without what the reference is built with, it has no boxspec-ref, and the kit judges without.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tree = Path(self.root).parent
        include: dict[str, str] = build_data["force_include"]
        include[str(Path(self.root, "install", "launch.py"))] = f"{KIT}/launch.py"
        for name in TAKEN:
            for file in _files(tree / name):
                include[str(file)] = f"{KIT}/{file.relative_to(tree)}"
        shared: dict[str, str] = build_data["shared_data"]
        # What manual.py wrote, if it was called before.
        if (share := Path(self.root, "install", "share")).is_dir():
            shared[str(share)] = "share"
        made = self._made()
        shutil.rmtree(made, ignore_errors=True)
        programs, reference = made / "programs", made / "reference"
        if self._compiled(programs):
            for file in _files(programs):
                include[str(file)] = f"{KIT}/{PROGRAMS}/{file.relative_to(programs)}"
        if self._referred(reference):
            for file in _files(reference):
                place = file.relative_to(reference)
                if place.parts[0] == "bin":
                    build_data["shared_scripts"][str(file)] = place.name
                else:
                    shared[str(file)] = str(place)
        if made.is_dir():
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform(_files(made))}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._made(), ignore_errors=True)

    def _made(self) -> Path:
        return Path(self.directory) / "compiled"

    def _compiled(self, into: Path) -> bool:
        sys.path.insert(0, self.root)
        from boxspec import compiling

        into.mkdir(parents=True)
        try:
            compiling.build(Path(self.root).parent / "fixtures" / "programs", into)
        except compiling.NotCompiledError as why:
            return self._without("fixture programs", why, into)
        return True

    def _referred(self, into: Path) -> bool:
        from install import reference

        into.mkdir(parents=True)
        try:
            reference.build(Path(self.root).parent, into)
        except reference.NotBuiltError as why:
            return self._without("boxspec-ref", why, into)
        return True

    def _without(self, what: str, why: Exception, folder: Path) -> bool:
        self.app.display_warning(f"the wheel has no {what}: {why}")
        shutil.rmtree(folder)
        if not any(folder.parent.iterdir()):
            folder.parent.rmdir()
        return False


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    found = [path for path in place.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _platform(files: Sequence[Path]) -> str:
    """Most programs are static; what is not needs the C library, this new."""
    machine = sysconfig.get_platform().removeprefix("linux-")
    newest = 17
    for file in files:
        if file.read_bytes()[:4] == b"\x7fELF":
            words = ["objdump", "-p", str(file)]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", said))])
    return f"manylinux_2_{newest}_{machine}"
