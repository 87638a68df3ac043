"""Collect the files of the boxspec-fuzz wheel for hatchling: a libFuzzer target, and the programs
that read its inputs, at their places in a checkout. Needs clang and the reference's build
dependencies."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from install import reference, targets

KIT = "boxspec_kit"
TARGET = "shim_diff"
# fuzz/seed needs the tables of this generator.
TAKEN = ("LICENSE", "fuzz/targets.json", "fuzz/support/glob_gen.c", f"fuzz/corpus/{TARGET}")
# Builds without sanitizers: the shim under test is another process, and the reference is tested in
# checkouts.
TREES = {
    "fuzz-libfuzzer": ["-DCMAKE_C_COMPILER=clang", "-DBOXSPEC_FUZZ_ENGINE=libfuzzer"],
    "release": [],
}
LIBRARIES = "build/lib"


class Hook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tree, made = Path(self.root).parents[2], self._made()
        shutil.rmtree(made, ignore_errors=True)
        include: dict[str, str] = build_data["force_include"]
        for name in TAKEN:
            include[str(tree / name)] = f"{KIT}/{name}"
        try:
            files = [_built(tree, preset, made) for preset in TREES]
            reference.take_libraries(files[0], made / LIBRARIES)
        except reference.NotBuiltError as why:
            self.app.abort(f"no wheel of boxspec-fuzz: {why}")
        files += sorted((made / LIBRARIES).iterdir())
        for file in files:
            include[str(file)] = f"{KIT}/{file.relative_to(made)}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{targets.platform_tag(targets.own(), files)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._made(), ignore_errors=True)

    def _made(self) -> Path:
        return Path(self.directory) / "compiled"


def _built(tree: Path, preset: str, made: Path) -> Path:
    """Build the target with this preset, and return the path of a copy of it.

    The copy is in build/PRESET/fuzz below `made`, as the target is below a checkout.
    """
    work = made / "trees" / preset
    flags = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBOXSPEC_TESTS=OFF",
        "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
        "-DCMAKE_INSTALL_RPATH=$ORIGIN/../../lib",
        f"-DCMAKE_C_FLAGS=-ffile-prefix-map={tree}=.",
        "-DCMAKE_EXE_LINKER_FLAGS=-s",
    ]
    reference.call(["cmake", "-S", str(tree), "-B", str(work), *flags, *TREES[preset]])
    reference.call(["cmake", "--build", str(work), "--target", TARGET])
    file = made / "build" / preset / "fuzz" / TARGET
    file.parent.mkdir(parents=True)
    shutil.copy2(work / "fuzz" / TARGET, file)
    return file
