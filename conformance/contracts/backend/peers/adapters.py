"""The adapters: what each says of itself, asked through its shim."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError, UsageError
from boxspec.places import ROOT

SHIM = ROOT / "conformance" / "shims" / "peers" / "shim.py"
TEMPLATE = SHIM.with_name("template.py")
WITHIN_S = 60


@dataclass(frozen=True)
class Adapter:
    """What an adapter says. version: None where the product is not installed. installs: commands,
    one after the other. home: a folder of the product's own."""

    word: str
    name: str
    about: str
    homepage: str
    documents: str
    mechanism: str
    control: bool
    version: str | None
    home: str
    installs: list[list[str]]

    @property
    def shim(self) -> str:
        return shim(self.word)

    @property
    def failed(self) -> Path:
        """Why it could not be installed, if that was tried."""
        return Path(f"{self.home}.failed")

    def state(self) -> str:
        """Its version, or why there is none, or why it does not start."""
        if self.version is None:
            return self.failed.read_text() if self.failed.exists() else "not installed"
        why_not = _asked(self.word, "--starts")["why_not"]
        return f"{self.version}, does not start here: {why_not}" if why_not else self.version


def shim(word: str) -> str:
    """The command that is this adapter's shim, as it is typed in the checkout."""
    return shlex.join([str(as_typed(SHIM)), word])


def as_typed(file: Path) -> Path:
    """A file of the checkout, short where we are in it."""
    return file.relative_to(ROOT) if Path.cwd() == ROOT else file


def names() -> list[str]:
    found: list[str] = _asked("--list")
    return found


def adapter(word: str) -> Adapter:
    """The adapter of this name, or the one in the file `word`; UsageError for neither."""
    if word.endswith(".py"):
        if not Path(word).is_file():
            raise UsageError(word, "no such file", "./ci/boxspec backends new NAME makes one")
        word = str(Path(word).absolute())
    elif word not in names():
        raise UsageError(word, "no adapter has this name", f"known: {', '.join(names())}")
    return Adapter(word=word, **_asked(word, "--facts"))


def every() -> list[Adapter]:
    return [adapter(name) for name in names()]


def _asked(*words: str) -> Any:
    # The interpreter itself: a version manager's python3 is a script that takes its time.
    argv = [str(Path(sys.executable).resolve()), "-I", "-S", str(SHIM), *words]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(
            words[0], f"no answer within {WITHIN_S} s", "see what it waits for"
        ) from None
    if done.returncode == 2:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UsageError(words[0], said, "mend the adapter")
    if done.returncode:
        raise HarnessError(f"{shlex.join(argv)}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return json.loads(done.stdout)
