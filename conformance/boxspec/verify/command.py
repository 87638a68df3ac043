"""The command that confines programs. The words of a program are appended to the command.

Placeholders in the command are replaced: `{}` by the words of the program, `{sh}` by these words
quoted as one word for a shell, `{root}` and a lone `.` by the workspace, `{home}` by the home
directory of the run, and `{cwd}` by the folder of the caller.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.places import NOT_UTF_8, is_text
from boxspec.verify.paths import nearest_first
from boxspec.verify.scene import Scene


def home_of_caller() -> Path:
    """Return the home directory of the caller."""
    try:
        home = Path.home()
    except RuntimeError:
        problem = f"is not set, and the user {os.getuid()} has no home directory"
        raise UsageError("HOME", problem, "set HOME") from None
    if not is_text(home):
        raise UsageError(f"HOME={home}", NOT_UTF_8, "set HOME to another folder")
    return home


class Command:
    """The words after `--`, with the home directory and the working directory of the caller."""

    def __init__(self, words: Sequence[str], home: Path, cwd: Path, path: str) -> None:
        self.words = list(words)
        self._home, self._cwd = home, cwd
        self._program = self._found(path)

    @classmethod
    def of_caller(cls, words: Sequence[str]) -> Command:
        """Return the command as this process would start it."""
        return cls(words, home_of_caller(), Path.cwd(), os.environ.get("PATH", os.defpath))

    def _found(self, path: str) -> str:
        if not self.words:
            raise UsageError("COMMAND", "is missing", "write the start of your sandbox after --")
        if not self.words[0]:
            raise UsageError("COMMAND", "has an empty first word", "name a program after --")
        name = self.words[0].replace("{cwd}", str(self._cwd))
        found = str(self._cwd / name) if "/" in name else shutil.which(name, path=path)
        if found is None or shutil.which(found) is None:
            if found and Path(found).is_file():
                raise UsageError(name, "has no run bit", f"chmod +x {shlex.quote(name)}")
            remedy = "install it, or name a file that can be executed"
            raise UsageError(name, "is not a program that can be started", remedy)
        return found

    def argv(self, scene: Scene, program: Sequence[str]) -> list[str]:
        """Return the words that start this program confined, in this scene."""
        places = scene.places()
        words = [self._program, *(self._word(word, scene, places) for word in self.words[1:])]
        placed = any(mark in word for word in self.words for mark in ("{}", "{sh}"))
        made: list[str] = []
        for word in words if placed else [*words, "{}"]:
            if word == "{}":
                made += program
            else:
                made.append(word.replace("{sh}", shlex.join(program)))
        return made

    def _word(self, word: str, scene: Scene, places: Iterable[str]) -> str:
        # A lone `.` becomes an absolute path, because bubblewrap resolves a relative destination
        # against / and not against the working directory.
        if word == ".":
            return str(scene.root)
        made = word if scene.real else self._moved(word, scene, places)
        known = {"{root}": scene.root, "{home}": scene.home, "{cwd}": self._cwd}
        for mark, folder in known.items():
            made = made.replace(mark, str(folder))
        if made != word or word.startswith(("/", "-")) or not word or scene.real:
            return made
        # A path in the workspace stays relative. Any other relative path belongs to the folder of
        # the caller.
        inside = [str((scene.root / word).relative_to(scene.home))]
        if not related(inside[0], places) and (self._cwd / word).is_file():
            return str(self._cwd / word)
        return word

    def _moved(self, word: str, scene: Scene, places: Iterable[str]) -> str:
        """Return the word with the caller's home directory replaced by that of the scene.

        Only paths of decoys are changed. The shell of the caller has expanded `~` in them already.
        """
        here_of = {".": scene.root, "~": scene.home}
        for base, real in nearest_first(self._home, self._cwd):
            here = here_of[base]

            def place(found: re.Match[str], here: Path = here) -> str:
                path = here / found[1].strip("/")
                own = path.is_relative_to(scene.home) and str(path.relative_to(scene.home))
                return str(path) if own == "." or (own and related(own, places)) else found[0]

            if real != Path("/"):
                word = re.sub(
                    rf"(?<![^=:,]){re.escape(str(real))}((?:/[^=:,]*)?)(?![^=:,])", place, word
                )
        return word


def related(path: str, places: Iterable[str]) -> bool:
    """True if the path is one of these places, or lies above or below one of them."""
    return any(f"{each}/".startswith(f"{path}/") or path.startswith(f"{each}/") for each in places)
