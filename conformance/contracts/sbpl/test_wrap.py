"""SBPL-WRAP: the command that runs under a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.api import expect, one_of, requires, satisfies
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase, WrapFields

WRAPPER = b"/usr/bin/sandbox-exec"
HERE = Path(WRAPPER.decode()).exists()
MISSING = one_of("execution", "policy_denied")
BEGIN = [WRAPPER, b"-f", sbpl.FILE.encode()]


@requires("SBPL-WRAP-01")
@pytest.mark.parametrize("argv", [["true"], ["/bin/sh", "-c", "exit 3"], ["a b", "", "é"]])
def test_a_command_runs_under_the_wrapper(case: SbplCase, argv: list[str]) -> None:
    answer = case.sbpl.wrap(argv, wrapper="present")
    expect("the command", sbpl.argv_of(answer), BEGIN + [word.encode() for word in argv])
    expect("whether the command is wrapped", answer.result["wrapped"], True)
    expect("warnings", answer.result["warnings"], [])


@requires("SBPL-WRAP-01")
def test_the_file_is_the_one_that_was_named(case: SbplCase) -> None:
    for file in ("/opt/p.sb", "/opt/a b/é.sb", b"/opt/\xff.sb"):
        argv = case.sbpl.wrapped(["true"], file=file)
        wanted = file if isinstance(file, bytes) else file.encode()
        expect("the command", argv, [WRAPPER, b"-f", wanted, b"true"])


@requires("SBPL-WRAP-01")
def test_the_name_of_the_file_stays_even_if_it_is_a_link(case: SbplCase) -> None:
    target, link = case.tmp / "p.sb", case.tmp / "link"
    target.write_text("(version 1)\n")
    link.symlink_to(target)
    for file in (link, target, f"{case.tmp}/./p.sb", f"{case.tmp}//link"):
        argv = case.sbpl.wrapped(["true"], file=str(file))
        expect("the command", argv, [WRAPPER, b"-f", str(file).encode(), b"true"])


@requires("SBPL-WRAP-02")
@pytest.mark.parametrize("provider", [None, "codex", "claude", "gemini"])
def test_without_the_wrapper_a_command_is_refused(case: SbplCase, provider: str | None) -> None:
    for fallback in (False, None):
        answer = case.sbpl.wrap(
            ["true"], wrapper="missing", allow_fallback=fallback, provider=provider
        )
        expect("kind of the error", answer.error["kind"], MISSING, {"answer": answer.raw})
        expect("the message", answer.error["message"], sbpl.naming(WRAPPER.decode()))
    there = case.sbpl.wrap(["true"], wrapper="present", provider=provider)
    expect("whether the command is wrapped if the wrapper exists", there.result["wrapped"], True)


@requires("SBPL-WRAP-02")
def test_the_wrapper_is_looked_for(case: SbplCase) -> None:
    answer = case.sbpl.wrap(["true"])
    if HERE:
        expect("whether the command is wrapped", answer.result["wrapped"], True)
    else:
        expect("kind of the error", answer.error["kind"], MISSING, {"answer": answer.raw})


@requires("SBPL-WRAP-03")
@pytest.mark.parametrize("argv", [["true"], ["sh", "-c", "exit 3"], ["-f", "", "é", "--"]])
def test_a_fallback_is_the_command_as_it_was_given(case: SbplCase, argv: list[str]) -> None:
    answer = case.sbpl.wrap(argv, wrapper="missing", allow_fallback=True)
    expect("the command", sbpl.argv_of(answer), [word.encode() for word in argv])
    expect("whether the command is wrapped", answer.result["wrapped"], False)


@requires("SBPL-WRAP-03")
@pytest.mark.parametrize("provider", [None, "codex", "gemini"])
def test_a_fallback_passes_byte_for_byte(case: SbplCase, provider: str | None) -> None:
    argv = [b"x", b"", b"\xff\xfe", b"a\xc3", b" ", b"", b"a\nb"]
    answer = case.sbpl.wrap(argv, wrapper="missing", allow_fallback=True, provider=provider)
    expect("the command", sbpl.argv_of(answer), argv)


OWN_FLAGS = {
    "codex": ["codex", "exec", "--sandbox", "workspace-write", "--full-auto", "x"],
    "gemini": ["gemini", "--sandbox", "-s", "true", "-p", "x"],
    "claude": ["claude", "-p", "x"],
}


@requires("SBPL-WRAP-04")
@pytest.mark.parametrize("provider", OWN_FLAGS)
def test_a_fallback_keeps_the_flags_of_the_provider_and_warns(
    case: SbplCase, provider: str
) -> None:
    argv = OWN_FLAGS[provider]
    answer = case.sbpl.wrap(argv, wrapper="missing", allow_fallback=True, provider=provider)
    expect("the command", sbpl.argv_of(answer), [word.encode() for word in argv])
    warned = satisfies("a warning", lambda got: any(word.strip() for word in got))
    expect("the warnings", answer.result["warnings"], warned)


@requires("SBPL-WRAP-04")
@pytest.mark.parametrize("provider", OWN_FLAGS)
def test_with_the_wrapper_there_is_no_fallback(case: SbplCase, provider: str) -> None:
    fields: WrapFields = {"wrapper": "present", "provider": provider}
    given = case.sbpl.wrap(OWN_FLAGS[provider], **(fields | {"allow_fallback": True}))
    expect("whether the command is wrapped", given.result["wrapped"], True)
    strict = case.sbpl.wrapped(OWN_FLAGS[provider], **fields)
    expect("the command, with `allow_fallback`", sbpl.argv_of(given), strict)


@requires("SBPL-WRAP-05")
def test_a_wrapper_in_the_path_is_not_the_wrapper(case: SbplCase) -> None:
    """Place another `sandbox-exec` at the start of PATH, and one in the current directory."""
    planted = case.tmp / "sandbox-exec"
    planted.write_text("#!/bin/sh\nexit 0\n")
    planted.chmod(0o755)
    env = {"PATH": f"{case.tmp}:/usr/bin:/bin"}
    message = sbpl.wrap_message(["true"], wrapper="present")
    named = case.send(message, shim_env=env, state=["--cwd", str(case.tmp)])
    expect("the first word of the command", sbpl.argv_of(named)[0], WRAPPER)
    found: list[WrapFields] = [{}, {"wrapper": "missing"}]
    for more in found:
        looked = case.send(
            sbpl.wrap_message(["true"], **more), shim_env=env, state=["--cwd", str(case.tmp)]
        )
        if HERE and not more:
            expect("the first word of the command", sbpl.argv_of(looked)[0], WRAPPER)
        else:
            expect("kind of the error", looked.error["kind"], MISSING, {"answer": looked.raw})


ARGUMENTS: dict[str, list[bytes]] = {
    "empty ones": [b"x", b"", b"", b"y", b""],
    "blanks and newlines": [b"x", b" ", b"a b", b"\n", b"a\nb", b"\t"],
    "quotes": [b"x", b'"', b"'", b"\\", b"`id`", b"$(id)", b"$HOME", b"*"],
    "no UTF-8": [b"x", b"\xff\xfe", b"a\xc3", b"\x80"],
    "flags of the wrapper": [b"x", b"-f", b"-f", b"-p", b"(version 1)", b"-n", b"-D", b"A=b"],
    "two dashes": [b"x", b"--", b"--", b"-f", b"a"],
    "a program with a dash": [b"./-x", b"-a"],
    "many": [b"x", *(b"%d" % number for number in range(2000))],
    "a long one": [b"x", b"y" * 100_000],
}


@requires("SBPL-WRAP-06")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_pass_byte_for_byte(case: SbplCase, name: str) -> None:
    expect("the command", case.sbpl.wrapped(ARGUMENTS[name]), BEGIN + ARGUMENTS[name])


@requires("SBPL-WRAP-07")
def test_an_empty_command_is_refused(case: SbplCase) -> None:
    sbpl.refused("an empty command", case.sbpl.wrap([], wrapper="present"))
    fallback = case.sbpl.wrap([], wrapper="missing", allow_fallback=True)
    sbpl.refused("an empty command, as a fallback", fallback)
    expect("the wrapped command of one word", case.sbpl.wrapped(["x"]), [*BEGIN, b"x"])


@requires("SBPL-WRAP-07")
@pytest.mark.parametrize("file", ["p.sb", "./p.sb", "../p.sb", "~/p.sb", "", "-"])
def test_a_file_that_is_not_absolute_is_refused(case: SbplCase, file: str) -> None:
    sbpl.refused(f"the file {file!r}", case.sbpl.wrap(["x"], wrapper="present", file=file))
    expect(
        "the wrapped command's FILE, with an absolute path",
        case.sbpl.wrapped(["x"], file="/p.sb")[2],
        b"/p.sb",
    )


@requires("SBPL-WRAP-07")
@pytest.mark.parametrize("folder", ["profiles", "./profiles", ""])
def test_a_directory_that_is_not_absolute_is_refused(case: SbplCase, folder: str) -> None:
    given: WrapFields = {"wrapper": "present", "text": "(version 1)\n"}
    sbpl.refused(f"the directory {folder!r}", case.sbpl.wrap(["x"], **(given | {"dir": folder})))
    expect(
        "whether an absolute path is accepted",
        case.sbpl.wrap(["x"], **(given | {"dir": case.tmp})).ok,
        True,
    )


@requires("SBPL-WRAP-07")
@pytest.mark.parametrize("argv", [[""], ["", "x"]], ids=["alone", "with an argument"])
@pytest.mark.parametrize("wrapper", ["present", "missing"])
def test_an_empty_program_is_refused(case: SbplCase, argv: list[str], wrapper: str) -> None:
    fields: WrapFields = {"wrapper": wrapper, "allow_fallback": True}
    sbpl.refused(f"the command {argv}", case.sbpl.wrap(argv, **fields))
    expect(
        "whether the allowed counterpart is wrapped",
        case.sbpl.wrap(["x", ""], **fields).ok,
        True,
    )


@requires("SBPL-WRAP-08")
@pytest.mark.parametrize("program", ["-p", "-f", "-D", "-x", "-", "--"])
def test_a_program_is_never_read_as_an_option_of_the_wrapper(case: SbplCase, program: str) -> None:
    more = ["(version 1)(allow default)", "/bin/sh"]
    answer = case.sbpl.wrap([program, *more], wrapper="present")
    if answer.ok:
        after_a_slash = satisfies(
            "a path to it", lambda got: got[:1] != b"-" and got.endswith(b"/" + program.encode())
        )
        expect("the word after FILE in the command", sbpl.argv_of(answer)[3], after_a_slash)
    else:
        sbpl.refused(f"the program {program!r}", answer)
    there = [f"./{program}".encode(), *(word.encode() for word in more)]
    expect(
        "the wrapped command of a program named by its path",
        case.sbpl.wrapped(there),
        BEGIN + there,
    )
