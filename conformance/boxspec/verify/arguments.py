"""Arguments of a program that a command must pass on as they are.

A command may join the words of the program to one text, and give it to a shell outside. Then a word
of the program is executed outside. If the command leaves the words unquoted, blanks split them.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.row import IDLE, Attempt, Line, Target
from boxspec.verify.scene import Scene
from boxspec.verify.words import INSIDE

# The control runs the program, and then the other words as text of a shell.
EVALUATES = ["/bin/sh", "-c", '"$1" "$2"; shift 2; eval "$*"', "sh"]
ROW = "arguments"
EXECUTED = "a word of the program was executed outside by a shell"
BY_A_PROGRAM_INSIDE = (
    "a program inside can write where a word of it would make a mark, so a mark does not show that"
    " the word was executed outside"
)


def unclear_words(scene: Scene) -> dict[str, str]:
    """Return the row with a reason if a program inside can make the marks, too."""
    unclear = bool(scene.more_words) and not scene.control and scene.words.is_writable_inside()
    return {ROW: BY_A_PROGRAM_INSIDE} if unclear else {}


@dataclass(frozen=True)
class ExecutedWords(Target):
    """Words of the program that the command executes outside."""

    def attempts(self, scene: Scene) -> list[Attempt]:
        words = scene.words

        def effects(result: ProbeResult) -> list[str]:
            return [EXECUTED] if words.executed() else []

        shown, params = "words of the program", {"denied": words.marks / INSIDE}
        inside = Attempt("d_create", "a file beside the marks", {**params}, lambda result: [])
        return [Attempt(IDLE, shown, {}, effects), *([] if scene.control else [inside])]

    def lines(self, scene: Scene) -> list[Line]:
        words = scene.words
        inside = f": >{shlex.quote(str(words.marks / INSIDE))}"
        return [Line(inside, "words", lambda output: [EXECUTED] if words.executed() else [])]


@dataclass(frozen=True)
class Arguments(Target):
    """Arguments that arrive in the program as they are.

    A command may take the text of a shell line, which a shell inside evaluates.
    """

    def lines(self, scene: Scene) -> list[Line]:
        words = scene.words

        def effects(output: bytes) -> list[str]:
            wanted = (scene.words.split, scene.words.evaluated)
            arrived = any(f"<{each}>".encode() in output for each in wanted)
            return ["arguments arrived"] if arrived else []

        line = "printf '<%s>\\n' \"$@\""
        return [Line(line, f"the argument '{words.split}' arrives in a program", effects)]
