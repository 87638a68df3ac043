"""Find the fixture programs; for example `programs.siglog` is the path of siglog."""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import time
from pathlib import Path

from boxspec.compiling import NotCompiledError, compiled_programs, made_once
from boxspec.errors import UsageError
from boxspec.places import COMMAND, INSTALLED, ROOT, cache, case_root

SOURCES = ROOT / "fixtures" / "programs"
DEFAULT = ROOT / "build" / "release" / "fixtures" / "programs"
SETUP = f"see {COMMAND} doctor" if INSTALLED else "run ./ci/setup"
COMPILER = (
    "install a C compiler with static libraries (Debian: build-essential), "
    "or set BOXSPEC_PROGRAMS to a folder of programs that were built elsewhere"
)
REMEDY = f"{SETUP}, or set BOXSPEC_PROGRAMS to their folder"

# Sandboxes replace these folders by their own.
REPLACED = ("/tmp", "/dev/shm")
# Time limit for the check of all programs. It is long enough for a very busy machine.
CHECK_S = 20.0


def folder() -> Path:
    """Return the folder of the programs: BOXSPEC_PROGRAMS, the release build, or a folder below it.

    An installed kit contains the programs, or compiles them once.
    """
    named = os.environ.get("BOXSPEC_PROGRAMS")
    start = Path(named).resolve() if named else DEFAULT
    for place in (start, start / "fixtures" / "programs", start / "programs"):
        if (place / "warden").is_file():
            return place if named else _outside_of_tmp(place)
    if INSTALLED and not named:
        try:
            return compiled_programs(SOURCES, cache())
        except NotCompiledError as why:
            raise UsageError("the fixture programs", str(why), COMPILER) from None
    raise UsageError(str(start), "has no fixture programs", REMEDY)


def _outside_of_tmp(place: Path) -> Path:
    """Return the folder, or a copy of it outside of the directories that sandboxes replace.

    A sandbox with its own /tmp hides a checkout below /tmp. So the copy is made where workspaces
    are made. A newer build of the checkout replaces the copy.
    """
    if not any(Path(each) in place.parents for each in REPLACED):
        return place
    name = f"programs-{hashlib.sha256(os.fsencode(place)).hexdigest()[:8]}"
    files = sorted(path for path in place.rglob("*") if path.is_file())
    stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    digest = hashlib.sha256(repr(stats).encode()).hexdigest()[:8]
    try:
        root = case_root()
        copied = made_once(root / f"{name}-{digest}", lambda new: _copy(place, new))
    except (OSError, UsageError):
        # Without the copy, only runs in a sandbox fail, and their messages name the reason.
        return place
    for older in root.glob(f"{name}-*"):
        if older != copied:
            shutil.rmtree(older, ignore_errors=True)
    return copied


def _copy(place: Path, into: Path) -> None:
    build_files = shutil.ignore_patterns("CMakeFiles", "*.cmake", "*.a")
    shutil.copytree(place, into, dirs_exist_ok=True, ignore=build_files)


class Programs:
    """The paths of the programs as attributes: `never_read` is the path of never-read."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = folder()
        return self._folder

    def preload(self, name: str) -> str:
        """Return the path of the shared object preload/NAME.so. NAME may already end with `.so`."""
        base = name.removesuffix(".so") + ".so"
        for place in (self.folder / "preload", self.folder):
            if (place / base).is_file():
                return str(place / base)
        raise UsageError(str(self.folder / "preload" / base), "is not built", SETUP)

    def check(self) -> None:
        """Check that each program runs and that each preload exists. One error names all missing
        ones.

        Without the check a case could conform by mistake: a program that was not started leaves no
        process.
        """
        for source in sorted(SOURCES.glob("preload/*.c")):
            self.preload(source.stem)
        names = {source.stem for source in SOURCES.glob("*.c")}
        dead = sorted(names - _running(self.folder, names))
        if dead:
            raise UsageError(
                str(self.folder), f"these programs are missing or do not run: {dead}", REMEDY
            )

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return str(self.folder / name.replace("_", "-"))


def _running(place: Path, names: set[str]) -> set[str]:
    """Start all programs at once, and return those that print their usage line."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    pids = []
    try:
        for name in names:
            argv = [str(place / name), "--usage"]
            out = [(os.POSIX_SPAWN_DUP2, theirs, 1)]
            try:
                pids.append(os.posix_spawn(argv[0], argv, {}, file_actions=out))
            except OSError:
                continue
        os.close(theirs)
        theirs = -1
        said = _read_to_end(ours)
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)
        for pid in pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    # Each line is written by one call and is shorter than PIPE_BUF, so lines of several programs do
    # not mix.
    words = [line.split() for line in said.decode("utf-8", "replace").splitlines()]
    return {each[1] for each in words if each[:1] == ["usage:"] and len(each) > 1}


def _read_to_end(fd: int) -> bytes:
    """Read until the last writer has closed the pipe, or until CHECK_S is over."""
    limit, data = time.monotonic() + CHECK_S, b""
    # select(2) takes no descriptor above 1023, and the caller may have left so many open.
    ready = select.poll()
    ready.register(fd, select.POLLIN)
    while ready.poll(max(0.0, limit - time.monotonic()) * 1000):
        part = os.read(fd, 65536)
        if not part:
            break
        data += part
    return data


programs = Programs()
