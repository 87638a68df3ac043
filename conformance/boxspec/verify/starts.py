"""The starts of one verification: of the probe program, of a shell, and at a terminal.

Each start is made twice, in two new scenes: without the command as the control, and with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shlex
import shutil
import struct
import termios
import tty
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from boxspec.random_names import random_name
from boxspec.subject.observe.facts import holds
from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.advice import advice
from boxspec.verify.arguments import EVALUATES, unclear_words
from boxspec.verify.command import Command
from boxspec.verify.errors import UntestableError
from boxspec.verify.janitor import Janitor
from boxspec.verify.launch import Ended, Start, launch
from boxspec.verify.layout import Layout, parents
from boxspec.verify.manner import OTHERS, Manner
from boxspec.verify.outcome import NO_END, Key, Outcome, Tried
from boxspec.verify.plan import END, START, Plan
from boxspec.verify.row import Attempt, Line, Row
from boxspec.verify.scene import Scene
from boxspec.verify.surroundings import turned
from boxspec.verify.terminal import Terminal, open_terminal
from boxspec.verify.witness import Witness

# If the program was ended before it finished the plan, the number of further starts for the rest.
AGAIN = 2
# The exit status of the program that makes the attempts, and of a launcher that fails. A command
# may start such a program again.
FAILS = 1
# Time for the kernel to end the processes of a sandbox after the sandbox has ended.
ENDS_S = 1.0
# Programs of the host that can run a script.
SHELLS = [["/bin/sh"], ["sh"], ["/usr/bin/env", "sh"]]

IN_A_SHELL = ["/bin/sh", "-c", '"$@"; exit $?', "sh"]

# The reason for each row that cannot be tested, by the id of the row.
Refused = dict[str, str]


class Starter:
    """Starts programs with the command, or without it as a control.

    furniture: rows whose decoys are in every scene, even if the rows are not tested. So the home
        directory and the workspace look the same in each start.
    """

    def __init__(
        self,
        janitor: Janitor,
        command: Command | None,
        limit_s: float,
        furniture: Sequence[Row],
        layout: Layout,
    ) -> None:
        self._janitor, self._command, self._layout = janitor, command, layout
        self._limit_s, self._furniture = limit_s, furniture
        self._parents = parents()
        self.starts = 0
        self.manner = Manner()
        # True if the command does not start without a folder that a rule denies.
        self.needs_folders = False
        # True to start the command with other variables of the environment.
        self.turned = False

    @property
    def is_control(self) -> bool:
        return self._command is None

    @contextlib.contextmanager
    def scene(
        self, rows: Iterable[Row], absent: bool = False, elsewhere: bool = False
    ) -> Iterator[tuple[Scene, dict[Key, Attempt], Refused]]:
        """Yield a scene with all decoys, the attempts of these rows, and the rows without attempts.

        absent: True to leave out the places `row.absent`.
        elsewhere: True to make the scene below another folder than all others, if there is one.
            Only the shell is started there. A command may confine only below one folder: then it
            either leaks in all other starts, or seems to confine the probe program and not the
            shell.
        """
        asked = {row.id for row in rows}
        others = [row for row in self._furniture if row.id not in asked]
        control = self.is_control
        parent, layout = self._parents[-1 if elsewhere else 0], self._layout
        with Scene(self._janitor, parent, control=control, layout=layout) as scene:
            if not scene.real:
                _furnish(scene, rows, others, absent, self.needs_folders)
            found, refused = _arranged(scene, rows, absent)
            yield scene, found, refused

    def run(
        self,
        scene: Scene,
        program: Sequence[str],
        flags: Sequence[str] = (),
        stdin: int | None = None,
        witness: Witness | None = None,
        wait_for_all: bool = False,
        stdout: int | None = None,
    ) -> Ended:
        argv = self._command.argv(scene, program) if self._command else list(program)
        if scene.prefix:
            argv = [str(shutil.which(scene.prefix[0])), *scene.prefix[1:], *argv]
        if self.manner.terminal and stdout is None:
            with Terminal() as shown:
                stdin = shown.theirs if stdin is None else stdin
                ended = self.run(scene, program, flags, stdin, witness, wait_for_all, shown.theirs)
            return replace(ended, stdout=shown.shown)
        usual = scene.environment(os.environ)
        env = turned(usual) if self.turned else usual
        self.starts += 1
        limit_s = self._limit_s
        # Without a sandbox, no processes inside must be ended.
        ends_s = ENDS_S if self._command else 0.0
        how = Start(argv, env, flags, stdin, limit_s, ends_s, witness, wait_for_all, stdout)
        return launch(self._janitor, scene, how)

    def planned(
        self, scene: Scene, attempts: Iterable[Attempt], status: int = 0
    ) -> tuple[Plan, list[str]]:
        """Make a plan of these attempts; return it with the words that start its program.

        status: the exit status of the program.
        """
        plan = Plan.of_attempts(scene, attempts, status)
        return plan, [self.manner.word(scene, path) for path in (scene.program, plan.path)]

    def adapt(self) -> bool:
        """Look for another manner in which the command runs a program; return True if there is
        one."""
        usual = self.manner
        for self.manner in OTHERS:
            with self.scene([]) as (scene, _, _):
                plan, words = self.planned(scene, [])
                scene.settle()
                ended = self.run(scene, words, witness=plan.witness)
                if self.manner.works(scene, plan.records(ended.stdout).get(START)):
                    return True
                if not ended.in_time:
                    break
        self.manner = usual
        return False


def _furnish(
    scene: Scene, rows: Iterable[Row], others: Sequence[Row], absent: bool, needs_folders: bool
) -> None:
    # All links are made first, because later decoys are written through them.
    for target in (target for row in [*rows, *others] for target in row.targets):
        target.link(scene)
    for target in (target for row in others for target in row.targets):
        with contextlib.suppress(UntestableError):
            target.furnish(scene)
    for place in (place for row in rows for place in row.absent if absent):
        scene.absent(scene.path(place), needs_folders=needs_folders)


def by_probes(starter: Starter, rows: Sequence[Row], absent: bool = False) -> Outcome:
    """Make all attempts of these rows.

    If the command ends the program early, the missing attempts are made in further starts.
    absent: True to leave out the places `row.absent`.
    """
    found = Outcome()
    for _ in range(1 + AGAIN):
        missing = _start_probes(starter, rows, found, absent)
        if not missing or not found.ran:
            break
    if absent and not found.ran and not found.hangs and not starter.needs_folders:
        starter.needs_folders = True
        return by_probes(starter, rows, absent)
    return found


def _arranged(
    scene: Scene, rows: Iterable[Row], absent: bool
) -> tuple[dict[Key, Attempt], Refused]:
    """Return the attempts of these rows, late ones last, and the reason for each row without
    attempts."""
    made: dict[Key, Attempt] = {}
    refused: Refused = {}
    for row in rows:
        attempts: list[Attempt] = []
        reasons: list[str] = []
        for target in row.absent_targets if absent and row.absent else row.targets:
            try:
                attempts += target.attempts(scene)
            except UntestableError as why:
                reasons.append(str(why))
        # In the user's real home directory only existing files can be tested. So a row may have
        # attempts, and also reasons why others are missing.
        if reasons and not (scene.real and attempts):
            refused[row.id] = reasons[0]
            continue
        made |= {(row.id, number): each for number, each in enumerate(attempts)}
    return dict(sorted(made.items(), key=lambda item: (item[1].late, item[1].after_start))), refused


def _start_probes(
    starter: Starter, rows: Sequence[Row], found: Outcome, absent: bool = False
) -> bool:
    """Start the probe program once. Return True if some attempts were not made."""
    with planned(starter, rows, found, absent, FAILS) as (scene, wanted, plan, words):
        words += scene.more_words
        if scene.more_words and starter.is_control:
            words = [*EVALUATES, *words]
        ended = starter.run(scene, words, witness=plan.witness)
        scene.left = ended.left
        complete = not collect(scene, found, wanted, plan, ended)
        found.cannot |= unclear_words(scene)
        return not complete


@contextlib.contextmanager
def planned(
    starter: Starter, rows: Sequence[Row], found: Outcome, absent: bool = False, status: int = 0
) -> Iterator[tuple[Scene, dict[Key, Attempt], Plan, list[str]]]:
    """Yield a scene with those attempts of these rows that the outcome lacks.

    The plan is in the scene, and the scene is settled. The yielded words start the probe program
    with this plan.
    """
    with starter.scene(rows, absent) as (scene, arranged, refused):
        found.cannot |= refused
        wanted = {key: each for key, each in arranged.items() if key not in found.tried}
        plan, words = starter.planned(scene, wanted.values(), status)
        scene.settle()
        yield scene, wanted, plan, words


def by_attempts(starter: Starter, scene: Scene, attempts: Iterable[Attempt]) -> Outcome:
    """Start the command once, and make these attempts. They belong to no row of the table."""
    wanted: dict[Key, Attempt] = {("", number): each for number, each in enumerate(attempts)}
    outcome = Outcome()
    plan, words = starter.planned(scene, wanted.values())
    collect(scene, outcome, wanted, plan, starter.run(scene, words, witness=plan.witness))
    return outcome


def collect(
    scene: Scene, found: Outcome, wanted: Mapping[Key, Attempt], plan: Plan, ended: Ended
) -> bool:
    """Add the results of a start to the outcome. Return True if some attempts were not made."""
    records = plan.records(ended.stdout)
    found.ran = found.ran or START in records
    found.confinement = plan.witness.confinement
    complete = END in records
    for key, each in wanted.items():
        record = records.get(each.id)
        effects = each.effects(record.result if record else ProbeResult())
        paths = [value for value in each.params.values() if isinstance(value, Path)]
        gone = (each.is_there is not None and not each.is_there()) or any(
            scene.is_displaced(path) for path in paths
        )
        found.tried[key] = Tried(
            each.shown, effects, each.way, record, each.group, each.unclear, gone, each.shared
        )
    if not ended.in_time:
        found.problem = f"{NO_END} ({ended.status})"
    elif START not in records:
        why = plan.witness.why or "the program ran, but its records were lost"
        # Leftover processes may belong to the prefix. Then they give no advice.
        hint = "" if scene.prefix else advice(plan.path, ended)
        found.problem = f"{why} ({ended.said}){hint}"
    if complete or not found.ran or not ended.in_time:
        return False
    missing = [key for key, each in wanted.items() if each.id not in records]
    # The first missing attempt ended the program, so it is not tried again.
    for key in missing[1:]:
        if not found.tried[key].effects:
            del found.tried[key]
    return len(missing) > 1


def by_shell(starter: Starter, rows: Sequence[Row]) -> Outcome:
    """Run the lines of these rows in a shell, which is an ordinary program of the host."""
    found = Outcome()
    with starter.scene([], elsewhere=True) as (scene, _, _):
        lines: dict[Key, Line] = {}
        for row in rows:
            each: list[Line] = []
            for target in row.targets:
                with contextlib.suppress(UntestableError):
                    each += target.lines(scene)
            lines |= {(row.id, number): line for number, line in enumerate(each)}
        if not lines:
            return found
        ran, made = secrets.token_hex(8), scene.fresh(scene.root)
        text = "".join(f"( {line.text} )\n" for line in lines.values())
        script = scene.fresh(scene.root)
        # A program that is not found has this status too, so a command may start it again.
        text = f"echo {ran} >{shlex.quote(str(made))}\necho {ran}\n{text}echo {ran}\nexit 127\n"
        # The command may show the workspace, as working directory, at another path.
        here = text.replace(str(scene.root), ".")
        script.write_text(f"if [ -e ./{script.name} ]; then\n{here}else\n{text}fi\n")
        scene.settle()
        # A command may treat a program specially because of its name, so the program is chosen at
        # random.
        words = [*secrets.choice(SHELLS), starter.manner.word(scene, script), *_more_words()]
        words += scene.more_words
        # In the other starts the parent process of the command is a program of the kit.
        scene.prefix = [] if starter.is_control else IN_A_SHELL
        # A confinement may depend on the streams. The other starts have /dev/null as stdin and
        # files for the output. This start has a closed pipe, and writes to a terminal.
        nothing, end = os.pipe()
        os.close(end)
        try:
            with Terminal() as terminal:
                stdin = terminal.theirs if starter.manner.terminal else nothing
                ended = starter.run(scene, words, stdin=stdin, stdout=terminal.theirs)
        finally:
            os.close(nothing)
        output = terminal.shown
        found.ran = output.count(ran.encode()) == 2
        if not ended.in_time:
            found.problem = f"{NO_END} ({ended.status})"
        elif not found.ran and holds(made, ran):
            found.problem = "a shell ran inside, but its output was lost"
        elif not found.ran:
            found.problem = f"a shell did not run inside ({_said(ended, output)})"
        found.output = "it had no effect" if found.ran else _said(ended, output)
        for key, line in lines.items():
            found.tried[key] = Tried(line.shown, line.effects(output))
    return found


def _more_words() -> list[str]:
    """Return arguments that the script ignores. A command may treat a program specially because of
    their number."""
    return [random_name() for _ in range(secrets.choice(range(2, 6)))]


def _said(ended: Ended, output: bytes) -> str:
    """Return the exit status, with the last line of the output if there is one."""
    return replace(ended, stderr=output).said


def by_themselves(starter: Starter, rows: Sequence[Row]) -> Outcome:
    """Make the attempts of these rows in a separate start."""
    found = Outcome()
    _start_probes(starter, rows, found)
    return found


def at_terminal(starter: Starter, rows: Sequence[Row]) -> Outcome:
    """Make the attempts of these rows in a program whose stdin is a terminal."""
    found = Outcome()
    with planned(starter, rows, found) as (scene, arranged, plan, words):
        ours, theirs = open_terminal()
        try:
            tty.setraw(theirs)
            flags = ["--setsid", "--leave-open", f"30={os.ttyname(theirs)}"]
            ended = starter.run(scene, words, flags, theirs, plan.witness)
            waiting = fcntl.ioctl(theirs, termios.FIONREAD, struct.pack("i", 0))
            scene.typed = int(struct.unpack("i", waiting)[0])
            collect(scene, found, arranged, plan, ended)
        finally:
            os.close(ours)
            os.close(theirs)
    return found


LEAVES = 'sleep 60 >&- 2>&- & : >"$TMPDIR/left"; mkdir "$XDG_RUNTIME_DIR/left"; exec "$@"'
# In the control this shell leaves a process and files, and starts the program.
CONTROL = ["/bin/sh", "-c", LEAVES, "sh"]


def at_rest(starter: Starter, rows: Sequence[Row]) -> Outcome:
    """Run a program without effects outside, and observe what the command itself leaves.

    These are files, processes, shared memory and control groups.
    """
    found = Outcome()
    with planned(starter, rows, found) as (scene, arranged, plan, words):
        words = [*CONTROL, *words] if starter.is_control else words
        ended = starter.run(scene, words, witness=plan.witness, wait_for_all=True)
        scene.left, scene.others_left = ended.left, ended.others
        scene.ran_in = plan.witness.cgroups
        # If the kit ended the command, its leftovers prove nothing.
        collect(scene, found, arranged if ended.in_time else {}, plan, ended)
    return found
