"""PROCESS-BACKEND: the program of a process handle is confined in the same way as that of a run."""

from __future__ import annotations

from typing import Any

from boxspec.api import expect, requires
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import read_some
from contracts.shared import talker
from contracts.shared.talker import Outside

HERE = "process.backend"


def over_script(case: ProcessCase, there: Outside, name: str | None) -> tuple[list[list[str]], Any]:
    """Return the answers of the two handles of one script, line by line, and the result."""
    program, args = talker.words()
    steps = [step("open", on) for on in "ab"]
    for line in there.lines():
        for on in "ab":
            steps.append(step("write", on, data=f"{line}\n".encode()))
            steps.append(step("read_until", on, stream="stdout", until=b"\n"))
    steps += [step("close", on) for on in "ab"]
    handles = {on: handle(program, args) for on in "ab"}
    used = None if name is None else talker.use(name, there.workspace)
    seen = case.process.script(handles, steps, backend=used, within_s=30)
    at = [2 + 2 * i + 1 for i in range(8)]
    said = [seen.data(each).decode("utf-8", "replace").strip() for each in at]
    return [said[::2], said[1::2]], seen.result


def over_bridge(case: ProcessCase, there: Outside, name: str | None) -> tuple[list[str], Any]:
    program, args = talker.words()
    used = None if name is None else talker.use(name, there.workspace)
    said = []
    options: dict[str, Any] = {"stdin": "pipe", "stdout": "pipe", "backend": used, "within_s": 30}
    with case.process.start_bridge(program, args, **options) as shim:
        for line in there.lines():
            shim.stdin.write(f"{line}\n".encode())
            said.append(read_some(shim.stdout.fileno()).decode("utf-8", "replace").strip())
        shim.stdin.close()
        seen = shim.finish()
    return [each for each in said if each], seen.result


@requires("PROCESS-BACKEND-01", capability=HERE, needs=["PROCESS-OPEN-01"])
def test_handles_are_refused_and_answer_on(case: ProcessCase) -> None:
    with talker.outside() as there:
        control, _ = over_script(case, there, None)
        expect(
            "answers of the allowed counterpart, outside a sandbox",
            control,
            [["did"] * 4] * 2,
            verdict="unproven",
        )
        expect(
            "what the observers outside received",
            there.effects(),
            (talker.CANARY + "xx", 2),
            verdict="unproven",
        )

        def ask(name: str) -> None:
            said, result = over_script(case, there, name)
            for each in said:
                talker.expect_refused(case, each, there, result, name)

        talker.ask_each(case, ask)


@requires("PROCESS-BACKEND-01", capability=HERE)
def test_a_bridged_program_is_refused_and_answers_on(case: ProcessCase) -> None:
    with talker.outside() as there:
        control, _ = over_bridge(case, there, None)
        talker.expect_control(control, there)

        def ask(name: str) -> None:
            said, result = over_bridge(case, there, name)
            talker.expect_refused(case, said, there, result, name)

        talker.ask_each(case, ask)


@requires("PROCESS-BACKEND-02", capability=HERE)
def test_a_program_that_is_not_there_inside_is_an_error_of_open(case: ProcessCase) -> None:
    with talker.outside() as there:
        for name in talker.backends(case):
            used = talker.use(name, there.workspace)
            absent = {"a": handle(str(there.workspace / "absent"))}
            seen = case.process.script(absent, [step("open")], backend=used)
            error = seen.steps[0].get("error", {})
            expect(f"the kind of error ({name})", error.get("kind"), "execution")
