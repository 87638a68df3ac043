"""MODULE-BACKEND: the execution of a module in a sandbox."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import NotApplicable, expect, one_of, requires
from contracts.module.client import ModuleCase
from contracts.module.judging import FOREVER, end, noted, quoted
from contracts.shared import talker
from contracts.shared.talker import Outside

HERE = "module.backend"


def module(case: ModuleCase, root: Any, name: str | None) -> Any:
    program, args = talker.words(talker.ANSWERS)
    line = " ".join(map(quoted, (program, *args)))
    # HERE is replaced by the directory of the module, which the caller does not know.
    case.module.script("talks", f'sed "s|HERE|$PWD|g" | {line}')
    used = None if name is None else talker.use(name, None)
    return case.module.execute("talks", root, backend=used, within_s=30)


def lines(there: Outside) -> list[str]:
    return [each.replace(str(there.workspace), "HERE") for each in there.lines()]


@requires("MODULE-BACKEND-01", capability=HERE)
def test_a_module_is_refused_and_answers(case: ModuleCase) -> None:
    with talker.outside() as there:
        control = module(case, lines(there), None)
        expect("outcome of the module without a sandbox", end(control), "value", verdict="unproven")
        talker.expect_control(control.value, there)

        def ask(name: str) -> None:
            seen = module(case, lines(there), name)
            expect(f"outcome of the module ({name})", end(seen), "value")
            talker.expect_refused(case, seen.value, there, seen.result, name)

        talker.ask_each(case, ask)


@requires("MODULE-BACKEND-02", capability=HERE)
def test_the_workspace_of_a_module_is_only_its_directory(case: ModuleCase) -> None:
    beside = case.tmp / "directories" / "beside"
    body = f"(: >{quoted(beside)}) 2>/dev/null; (: >own) && echo 1"
    case.module.script("writes", body)
    control = case.module.execute("writes")
    expect(
        "outcome of the module without a sandbox, and whether the file was created",
        (end(control), beside.exists()),
        ("value", True),
        verdict="unproven",
    )

    def ask(name: str) -> None:
        beside.unlink(missing_ok=True)
        seen = case.module.execute("writes", backend=talker.use(name, None), within_s=30)
        talker.need_enforcement(case, seen.result, name)
        got = (end(seen), beside.exists())
        expect(
            f"outcome of the module, and whether it wrote next to its directory ({name})",
            got,
            ("value", False),
        )

    talker.ask_each(case, ask)


@requires("MODULE-BACKEND-03", capability=HERE, needs=["MODULE-BACKEND-01"])
def test_no_directory_of_the_sandbox_is_left(case: ModuleCase) -> None:
    tells = """printf '\\n["%s", "%s"]\\n' "$HOME" "$TMPDIR\""""
    case.module.script("answers", tells)
    case.module.script("fails", f"{tells} >&2; exit 3")

    def ask(name: str) -> None:
        places, ends = [], []
        for module_id in ("answers", "fails"):
            used = talker.use(name, None)
            seen = case.module.execute(module_id, backend=used, within_s=30)
            talker.need_enforcement(case, seen.result, name)
            ends.append(end(seen))
            told = seen.value or json.loads(str(seen.field("stderr")).strip().splitlines()[-1])
            places.append(told)
        # Two executions should have new directories. If both have the same name, the directory
        # existed before, or exists only inside.
        made = [place for pair in zip(*places, strict=True) if pair[0] != pair[1] for place in pair]
        if not made:
            raise NotApplicable(f"{name}: the directories have the same names each time")
        left = [place for place in made if Path(place).exists()]
        for place in left:
            with contextlib.suppress(OSError):
                Path(place).rmdir()
        wanted: tuple[list[str], list[str]] = (["value", "NonZeroExit"], [])
        expect(f"the ends, and the directories that are left ({name})", (ends, left), wanted)

    talker.ask_each(case, ask)


# How a module ends after it has made a file in its scratch directory, and the expected outcome.
ENDS = {
    "no JSON": ("echo {", "OutputParseFailed"),
    # BACKEND-LAUNCH-06 allows both
    "a signal": ("kill -KILL $$", one_of("Signaled", "NonZeroExit")),
    "a timeout": (FOREVER, "Timeout"),
}


@requires("MODULE-BACKEND-03", capability=HERE, needs=["MODULE-BACKEND-01"])
@pytest.mark.parametrize("how", ENDS)
def test_no_scratch_file_is_left_after_each_end(case: ModuleCase, how: str) -> None:
    body, outcome = ENDS[how]
    note = case.tmp / "note"
    home = case.folder / "home"
    home.mkdir()
    # The profile full-dev permits writes to HOME/.cache, so the module can leave a note.
    (home / ".cache").symlink_to(case.folder)
    # TMPDIR may be /tmp inside and outside. So the name must differ from that of any other file of
    # the host.
    file = f"$TMPDIR/{case.folder.name}-scratch"
    case.module.script("ends", f': >"{file}" && printf %s "{file}" >{quoted(note)}\n{body}')

    def ask(name: str) -> None:
        note.unlink(missing_ok=True)
        used = talker.use(name, None)
        used["context"]["profile"] = "full-dev"
        env = {"HOME": str(home), "XDG_RUNTIME_DIR": None}
        seen = case.module.execute("ends", backend=used, timeout_ms=1500, shim_env=env, within_s=30)
        talker.need_enforcement(case, seen.result, name)
        expect(f"outcome of the module ({name})", end(seen), outcome)
        left = [str(path) for path in (Path(noted(note)),) if path.exists()]
        # A runtime may keep files of its own there, so only directories count.
        left += sorted(path.name for path in case.module.below.iterdir() if path.is_dir())
        expect(f"files that the session left ({name})", left, [])

    talker.ask_each(case, ask)
