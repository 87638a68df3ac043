"""Where the fixture programs are: `programs.siglog` is an absolute path."""

from __future__ import annotations

import os
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.places import ROOT

DEFAULT = ROOT / "build" / "release" / "fixtures" / "programs"


def folder() -> Path:
    """BOXSPEC_PROGRAMS, or the release build; a folder with the programs one level down counts."""
    named = os.environ.get("BOXSPEC_PROGRAMS")
    start = Path(named).resolve() if named else DEFAULT
    for place in (start, start / "fixtures" / "programs", start / "programs"):
        if (place / "warden").is_file():
            return place
    raise UsageError(
        str(start),
        "the fixture programs are not there",
        "build them with ./ci/setup or set BOXSPEC_PROGRAMS to their folder",
    )


class Programs:
    """Attribute access to the programs: `never_read` is the file never-read."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = folder()
        return self._folder

    def preload(self, name: str) -> str:
        """The shared object preload/NAME(.so)."""
        base = name.removesuffix(".so") + ".so"
        for place in (self.folder / "preload", self.folder):
            if (place / base).is_file():
                return str(place / base)
        raise UsageError(str(self.folder / "preload" / base), "is not built", "run ./ci/setup")

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return str(self.folder / name.replace("_", "-"))


programs = Programs()
