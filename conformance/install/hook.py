"""What hatchling puts into the wheel: the kit, what it reads, the compiled fixture programs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
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
    """Without a compiler the wheel has no programs: the kit compiles them at first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tree = Path(self.root).parent
        include: dict[str, str] = build_data["force_include"]
        include[str(Path(self.root, "install", "launch.py"))] = f"{KIT}/launch.py"
        for name in TAKEN:
            for file in _files(tree / name):
                include[str(file)] = f"{KIT}/{file.relative_to(tree)}"
        # What manual.py wrote, if it was called before.
        if (share := Path(self.root, "install", "share")).is_dir():
            build_data["shared_data"] = {str(share): "share"}
        made = Path(self.directory) / "programs"
        shutil.rmtree(made, ignore_errors=True)
        if not self._compiled(made):
            return
        for file in _files(made):
            include[str(file)] = f"{KIT}/{PROGRAMS}/{file.relative_to(made)}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(made)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(Path(self.directory) / "programs", ignore_errors=True)

    def _compiled(self, into: Path) -> bool:
        sys.path.insert(0, self.root)
        from boxspec import compiling

        into.mkdir(parents=True)
        try:
            compiling.build(Path(self.root).parent / "fixtures" / "programs", into)
        except compiling.NotCompiledError as why:
            self.app.display_warning(f"the wheel has no fixture programs: {why}")
            shutil.rmtree(into)
            return False
        return True


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    found = [path for path in place.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _platform(programs: Path) -> str:
    """The programs are static; what is preloaded into others needs their C library, this new."""
    machine = sysconfig.get_platform().removeprefix("linux-")
    newest = 17
    for library in sorted(programs.glob("preload/*.so")):
        said = subprocess.run(
            ["objdump", "-T", library], capture_output=True, text=True, check=True
        )
        newest = max([newest, *map(int, re.findall(r"GLIBC_2\.(\d+)", said.stdout))])
    return f"manylinux_2_{newest}_{machine}"
