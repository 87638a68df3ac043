"""Collect the files of the wheel for hatchling: the kit, its data, and its compiled programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from boxspec import compiling
from install import absent, reference, targets

KIT = "boxspec_kit"
NAME = "boxspec-ref"
# Paths below the root of the checkout. The self-tests are left out, because they test the checkout.
TAKEN = (
    ".pytest.ini",
    "LICENSE",
    "conftest.py",
    "conformance/boxspec",
    "conformance/contracts",
    "conformance/dialects",
    "conformance/shims",
    "conformance/spec",
    "conformance/tutorial.md",
    "conformance/tutorial-backend.md",
    "conformance/tutorial-policy.md",
    "conformance/explore.md",
    "conformance/verify.md",
    "fixtures",
)
PROGRAMS = "build/release/fixtures/programs"
WRITES_PAGES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from install import manual
manual.main(Path(sys.argv[2]))
"""
PAGES_NEED = ("argparse-manpage>=4.5", "shtab>=1.7")


class Hook(BuildHookInterface[Any]):
    """Collects the files. BOXSPEC_WHEEL_TARGET (targets.py) selects the system of the wheel; by
    default it is this system.

    Without a compiler a wheel for this system has no programs, and the kit compiles them at first
    use. Without the build dependencies of the reference it has a message instead of boxspec-ref,
    and the kit works nevertheless. A wheel for another system always has programs and never
    boxspec-ref. Manual pages and completions are missing only if a package of PAGES_NEED is, as in
    an environment without isolation.
    """

    def dependencies(self) -> list[str]:
        # The manual pages are made from the parsers of the kit, which import its dependencies.
        return [*targets.needs(self._target()), *PAGES_NEED, *self.metadata.core.dependencies]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tree = Path(self.root).parent
        include: dict[str, str] = build_data["force_include"]
        include[str(Path(self.root, "install", "launch.py"))] = f"{KIT}/launch.py"
        for name in TAKEN:
            for file in _files(tree / name):
                include[str(file)] = f"{KIT}/{file.relative_to(tree)}"
        shared: dict[str, str] = build_data["shared_data"]
        target, made = self._target(), self._made()
        shutil.rmtree(made, ignore_errors=True)
        programs, prefix, share = made / "programs", made / "reference", made / "share"
        if self._described(share):
            shared[str(share)] = "share"
        if self._compiled(target, programs):
            for file in _files(programs):
                include[str(file)] = f"{KIT}/{PROGRAMS}/{file.relative_to(programs)}"
        missing = self._referred(target, prefix)
        if missing is not None:
            reason = absent.write(made / "absent", missing)
            include[str(reason)] = f"{KIT}/{reason.name}"
            build_data["shared_scripts"][str(absent.command(made / "absent", missing))] = NAME
        for file in _files(prefix):
            place = file.relative_to(prefix)
            if place.parts[0] == "bin":
                build_data["shared_scripts"][str(file)] = place.name
            else:
                shared[str(file)] = str(place)
        if compiled := [*_files(programs), *_files(prefix)]:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{targets.platform_tag(target, compiled)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._made(), ignore_errors=True)

    def _target(self) -> targets.Target:
        try:
            return targets.requested()
        except targets.NoTargetError as why:
            self.app.abort(str(why))
            raise

    def _made(self) -> Path:
        return Path(self.directory) / "compiled"

    def _described(self, into: Path) -> bool:
        """Write the manual pages and the completions in a process of its own, because importing the
        verbs changes this one."""
        into.mkdir(parents=True)
        # The build environment of pip drops folders of PYTHONPATH that are not its own.
        words = [sys.executable, "-B", "-c", WRITES_PAGES, self.root, str(into)]
        env = {**os.environ, "COLUMNS": "80"}
        done = subprocess.run(words, env=env, capture_output=True, text=True)
        if done.returncode:
            why = done.stderr.strip().rpartition("\n")[2]
            self._without("manual pages and completions", why, into)
        return done.returncode == 0

    def _compiled(self, target: targets.Target, into: Path) -> bool:
        into.mkdir(parents=True)
        try:
            tools = targets.toolchain(target)
            compiling.build(Path(self.root).parent / "fixtures" / "programs", into, tools)
        except compiling.NotCompiledError as why:
            if target != targets.own():
                self.app.abort(f"no wheel for {target}: {why}")
            self._without("fixture programs", str(why), into)
            return False
        return True

    def _referred(self, target: targets.Target, into: Path) -> str | None:
        """Return the reason why the wheel has no boxspec-ref, or None."""
        if target != targets.own():
            return f"a wheel that was built for another system, {target}, comes without it"
        into.mkdir(parents=True)
        try:
            reference.build(Path(self.root).parent, into)
        except reference.NotBuiltError as why:
            self._without(NAME, str(why), into)
            return f"the wheel was built without it: {why}"
        return None

    def _without(self, what: str, why: str, folder: Path) -> None:
        self.app.display_warning(f"the wheel has no {what}: {why}")
        shutil.rmtree(folder)


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    found = [path for path in place.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)
