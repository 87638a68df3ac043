"""SBPL-FLAG: under the wrapper, the provider's own sandbox is switched off."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from contracts.sbpl.client import SbplCase

FULL = "--sandbox danger-full-access"


def expect_wrapped(case: SbplCase, provider: str | None, before: str, after: str) -> None:
    """Wrap the command `before`, and compare the result with `after`. Blanks separate the words of
    both."""
    argv = case.sbpl.wrapped(before.split(), provider=provider)
    expect("the command after the wrapper", b" ".join(argv[3:]).decode(), after)


CODEX = {
    "nothing": ("codex", f"codex {FULL}"),
    "a mode": ("codex --sandbox read-only", f"codex {FULL}"),
    "another mode": ("codex --sandbox workspace-write x", f"codex {FULL} x"),
    "the very mode": (f"codex {FULL} x", f"codex {FULL} x"),
    "exec": ("codex exec hi", f"codex exec {FULL} hi"),
    "e": ("codex e hi", f"codex e {FULL} hi"),
    "exec with a mode": ("codex exec --sandbox read-only hi", f"codex exec {FULL} hi"),
    "a path": ("/opt/bin/codex exec hi", f"/opt/bin/codex exec {FULL} hi"),
    "a setting": ("codex -c sandbox_mode=read-only x", f"codex {FULL} x"),
    "full-auto": ("codex --full-auto x", f"codex {FULL} x"),
    "full-auto after a word": ("codex x --full-auto y", f"codex {FULL} x y"),
    "full-auto of exec": ("codex exec x --full-auto", f"codex exec {FULL} x"),
    "a setting after a word": ("codex x -c sandbox_mode=a y", f"codex {FULL} x y"),
}


@requires("SBPL-FLAG-01")
@pytest.mark.parametrize("name", CODEX)
def test_codex_runs_with_full_access_and_no_other_mode(case: SbplCase, name: str) -> None:
    expect_wrapped(case, "codex", *CODEX[name])


@requires("SBPL-FLAG-02")
@pytest.mark.parametrize("flag", ["-s", "--sandbox"])
def test_gemini_loses_its_own_sandbox(case: SbplCase, flag: str) -> None:
    expect_wrapped(case, "gemini", f"gemini {flag} -p hi", "gemini -p hi")
    expect_wrapped(case, "gemini", f"gemini -p hi {flag}", "gemini -p hi")
    expect_wrapped(case, "gemini", "gemini -p hi", "gemini -p hi")


@requires("SBPL-FLAG-03")
@pytest.mark.parametrize("provider", ["claude", None])
@pytest.mark.parametrize(
    "argv",
    [
        "claude -p hi",
        "claude --sandbox read-only -s",
        "codex exec --sandbox read-only",
        "gemini --sandbox -s",
        "x --full-auto -c sandbox_mode=read-only --sandbox=docker",
    ],
)
def test_a_command_of_another_provider_is_wrapped_unchanged(
    case: SbplCase, provider: str | None, argv: str
) -> None:
    expect_wrapped(case, provider, argv, argv)


FORMS = {
    "codex, --flag=value": ("codex", "codex --sandbox=read-only x", f"codex {FULL} x"),
    "codex, -s value": ("codex", "codex -s read-only x", f"codex {FULL} x"),
    "codex, -s=value": ("codex", "codex -s=read-only x", f"codex {FULL} x"),
    "codex, --flag=": ("codex", "codex --sandbox= x", f"codex {FULL} x"),
    "codex, -svalue": ("codex", "codex -sread-only x", f"codex {FULL} x"),
    "codex, twice": ("codex", "codex a -s read-only b --sandbox=x c", f"codex a {FULL} b c"),
    "codex, --config": ("codex", "codex --config sandbox_mode=x y", f"codex {FULL} y"),
    "codex, --config=": ("codex", "codex --config=sandbox_mode=x y", f"codex {FULL} y"),
    "codex, settings twice": (
        "codex",
        "codex -c sandbox_mode=a x --config=sandbox_mode=b",
        f"codex {FULL} x",
    ),
    "codex, a flag and a setting": (
        "codex",
        "codex x -c sandbox_mode=a -s read-only --full-auto y",
        f"codex x {FULL} y",
    ),
    "gemini, --flag=value": ("gemini", "gemini --sandbox=docker x", "gemini x"),
    "gemini, -s=value": ("gemini", "gemini -s=true x", "gemini x"),
    "gemini, --flag=": ("gemini", "gemini --sandbox= x", "gemini x"),
    "gemini, twice": ("gemini", "gemini -s --sandbox x --sandbox=y -s", "gemini x"),
    **{
        f"gemini, {flag} {value}": ("gemini", f"gemini {flag} {value} x", "gemini x")
        for flag in ("-s", "--sandbox")
        for value in ("true", "false", "docker", "podman", "sandbox-exec")
    },
}


@requires("SBPL-FLAG-04")
@pytest.mark.parametrize("name", FORMS)
def test_each_form_of_a_flag_counts(case: SbplCase, name: str) -> None:
    expect_wrapped(case, *FORMS[name])


AFTER_TWO_DASHES = {
    "codex": (
        "codex -- --sandbox read-only --full-auto -c sandbox_mode=x",
        f"codex {FULL} -- --sandbox read-only --full-auto -c sandbox_mode=x",
    ),
    "codex, with a flag in front": (
        "codex -s read-only x -- -s read-only",
        f"codex {FULL} x -- -s read-only",
    ),
    "gemini": ("gemini -- --sandbox -s -s=x", "gemini -- --sandbox -s -s=x"),
    "gemini, with a flag in front": ("gemini -s x -- -s true", "gemini x -- -s true"),
    "codex, twice": ("codex x -- -s a -- -s b", f"codex {FULL} x -- -s a -- -s b"),
    "gemini, twice": ("gemini -- -s -- --sandbox x", "gemini -- -s -- --sandbox x"),
    "codex, a flag just in front": ("codex -s -- read-only", f"codex {FULL} -- read-only"),
    "gemini, a flag just in front": ("gemini -s -- true", "gemini -- true"),
}


@requires("SBPL-FLAG-05")
@pytest.mark.parametrize("name", AFTER_TWO_DASHES)
def test_no_word_after_two_dashes_is_changed(case: SbplCase, name: str) -> None:
    expect_wrapped(case, name.partition(",")[0], *AFTER_TWO_DASHES[name])


OTHERS = {
    "codex": (
        "codex --sandboxed --sandbox-x=1 --full-autos -c model=o3 -c sandbox_modes=x"
        " --config a=b x",
        f"codex {FULL} --sandboxed --sandbox-x=1 --full-autos -c model=o3 -c sandbox_modes=x"
        " --config a=b x",
    ),
    "codex, in order": ("codex -s a 1 2 --model o3 3", f"codex {FULL} 1 2 --model o3 3"),
    "codex, a setting without a value": ("codex x -c", f"codex {FULL} x -c"),
    "codex, a long setting without a value": ("codex x --config", f"codex {FULL} x --config"),
    "codex, modes without a sandbox": (
        "codex --yolo --dangerously-bypass-approvals-and-sandbox x",
        f"codex {FULL} --yolo --dangerously-bypass-approvals-and-sandbox x",
    ),
    "codex, exec later": ("codex x exec y", f"codex {FULL} x exec y"),
    "gemini": (
        "gemini --sandbox-image=x --sandboxed -sx --s -S -p hi",
        "gemini --sandbox-image=x --sandboxed -sx --s -S -p hi",
    ),
    "gemini, a word that is not a value": ("gemini -s fix it", "gemini fix it"),
    "gemini, a value by itself": ("gemini true docker", "gemini true docker"),
    "gemini, a word after a value": (
        "gemini --sandbox=x docker -s=true podman --sandbox= false",
        "gemini docker podman false",
    ),
    "gemini, a second value": ("gemini -s true false x", "gemini false x"),
    "gemini, a setting of codex": ("gemini --full-auto -c a", "gemini --full-auto -c a"),
    "gemini, the program": ("docker -s x", "docker x"),
    "codex, the program": ("exec exec x", f"exec exec {FULL} x"),
}


@requires("SBPL-FLAG-06")
@pytest.mark.parametrize("name", OTHERS)
def test_all_other_arguments_stay(case: SbplCase, name: str) -> None:
    expect_wrapped(case, name.partition(",")[0], *OTHERS[name])


EMPTY = [b"", b"x", b"", b"\xff\xfe", b" ", b"", b"a\nb", b""]


@requires("SBPL-FLAG-06")
@pytest.mark.parametrize("provider", ["codex", "gemini"])
@pytest.mark.parametrize("given", ["no flag", "a flag"])
def test_words_that_are_empty_or_not_utf_8_stay(case: SbplCase, provider: str, given: str) -> None:
    program, full = provider.encode(), [word.encode() for word in FULL.split()]
    flag = [] if given == "no flag" else [b"-s=x"]
    argv = case.sbpl.wrapped([program, *flag, *EMPTY], provider=provider)
    ours = full if provider == "codex" else []
    expect("the command after the wrapper", argv[3:], [program, *ours, *EMPTY])


MISSING = {
    "short": ("codex -s --model x", f"codex {FULL} --model x"),
    "long": ("codex --sandbox -m x", f"codex {FULL} -m x"),
    "and more of them": ("codex -s --sandbox -s x y", f"codex {FULL} y"),
    "at the end": ("codex x -s", f"codex x {FULL}"),
    "long, at the end": ("codex x --sandbox", f"codex x {FULL}"),
    "twice, at the end": ("codex -s a x -s", f"codex {FULL} x"),
    "before a dash": ("codex exec -s -", f"codex exec {FULL} -"),
    "and a setting": ("codex -s -c sandbox_mode=x y", f"codex {FULL} y"),
}


@requires("SBPL-FLAG-07")
@pytest.mark.parametrize("name", MISSING)
def test_a_missing_mode_does_not_remove_the_next_flag(case: SbplCase, name: str) -> None:
    expect_wrapped(case, "codex", *MISSING[name])


# Words that are similar to a value or a flag, but are neither.
NEAR_VALUES = [b"TRUE", b"True", b"Docker", b"true ", b" true", b"true\t", b"truex", b"tru",
               b"docker.io", b"podman\n", b"sandbox-exec2", b"\xef\xbd\x94rue", b"yes"]  # fmt: skip
NEAR_FLAGS = [b"--Sandbox", b"--SANDBOX", b"--sandbox ", b" --sandbox", b"--sandboxx",
              b"--sandbo", b"-S", b"- s", b"--Full-Auto", b"\xe2\x80\x93s", b"--Sandbox=true",
              b"--SANDBOX=true", b" --sandbox=true", b"--sandbox =true", b"-S=true",
              b"\t-s", b"--no-sandbox", b"--sandbox-image"]  # fmt: skip
NEAR_FLAGS_OF_CODEX = [*NEAR_FLAGS, b"-Sread-only", b" -sread-only", b"--FULL-AUTO",
                       b"--full-auto ", b" --full-auto", b"-C", b"--Config",
                       b"--Config=sandbox_mode=x", b" --config=sandbox_mode=x"]  # fmt: skip
# Words that are similar to `exec` and `--`, but are neither.
NEAR_EXEC = [b"EXEC", b"Exec", b"exec ", b" exec", b"E", b"execute", b"exe", b"ex"]
NEAR_DASHES = [b"---", b"----", b"-- ", b" --", b"\xe2\x80\x94", b"--=", b"-"]


@requires("SBPL-FLAG-06")
@pytest.mark.parametrize("flag", [b"--sandbox", b"-s"])
def test_a_word_like_a_value_of_gemini_stays(case: SbplCase, flag: bytes) -> None:
    for word in NEAR_VALUES:
        got = case.sbpl.wrapped([b"gemini", flag, word, b"x"], provider="gemini")
        expect(f"the command with {flag!r} {word!r}", got[3:], [b"gemini", word, b"x"])
        plain = case.sbpl.wrapped([b"gemini", flag, b"true", b"x"], provider="gemini")
        expect(f"the command with {flag!r} b'true'", plain[3:], [b"gemini", b"x"])


@requires("SBPL-FLAG-06")
def test_a_word_like_a_flag_of_gemini_stays(case: SbplCase) -> None:
    for word in NEAR_FLAGS:
        got = case.sbpl.wrapped([b"gemini", word, b"true"], provider="gemini")
        expect(f"the command with {word!r}", got[3:], [b"gemini", word, b"true"])


@requires("SBPL-FLAG-06")
def test_a_word_like_a_flag_of_codex_stays(case: SbplCase) -> None:
    full = [word.encode() for word in FULL.split()]
    for word in NEAR_FLAGS_OF_CODEX:
        got = case.sbpl.wrapped([b"codex", word, b"sandbox_mode=x"], provider="codex")
        expect(f"the command with {word!r}", got[3:], [b"codex", *full, word, b"sandbox_mode=x"])


@requires("SBPL-FLAG-06")
def test_only_exec_moves_the_place_of_the_mode(case: SbplCase) -> None:
    full = [word.encode() for word in FULL.split()]
    for word in NEAR_EXEC:
        got = case.sbpl.wrapped([b"codex", word, b"x"], provider="codex")
        expect(f"the command with {word!r}", got[3:], [b"codex", *full, word, b"x"])
        plain = case.sbpl.wrapped([b"codex", b"exec", b"x"], provider="codex")
        expect("the command with exec", plain[3:], [b"codex", b"exec", *full, b"x"])


@requires("SBPL-FLAG-04")
@pytest.mark.parametrize("provider", ["codex", "gemini"])
def test_a_flag_counts_after_a_word_like_two_dashes(case: SbplCase, provider: str) -> None:
    full = [word.encode() for word in FULL.split()] if provider == "codex" else []
    program = provider.encode()
    for word in NEAR_DASHES:
        got = case.sbpl.wrapped([program, word, b"--sandbox=x", b"y"], provider=provider)
        expect(f"the command with {word!r}", got[3:], [program, word, *full, b"y"])


NEAR_SETTINGS = [b" sandbox_mode=x", b"\tsandbox_mode=x", b"Sandbox_Mode=x", b"sandbox_mode",
                 b"sandbox_mode =x", b"sandbox-mode=x", b'"sandbox_mode"=x', b"sandbox_mod=x",
                 b"x.sandbox_mode=x", b"xsandbox_mode=x", b"model=sandbox_mode=x"]  # fmt: skip


@requires("SBPL-FLAG-06")
def test_a_word_like_a_setting_of_codex_stays(case: SbplCase) -> None:
    full = [word.encode() for word in FULL.split()]
    for word in NEAR_SETTINGS:
        for given in ([b"-c", word], [b"--config", word], [b"--config=" + word]):
            got = case.sbpl.wrapped([b"codex", *given, b"x"], provider="codex")
            expect(f"the command with {given}", got[3:], [b"codex", *full, *given, b"x"])


# Settings of codex for its sandbox mode, as its documentation writes strings.
QUOTED = ['sandbox_mode="workspace-write"', "sandbox_mode='read-only'", 'sandbox_mode=""',
          "sandbox_mode=", "sandbox_mode= x", 'sandbox_mode="a b"']  # fmt: skip


@requires("SBPL-FLAG-01")
@pytest.mark.parametrize("setting", QUOTED)
def test_a_mode_with_any_value_is_removed(case: SbplCase, setting: str) -> None:
    for given in (["-c", setting], ["--config", setting], [f"--config={setting}"]):
        wrapped = case.sbpl.wrapped(["codex", *given, "x"], provider="codex")
        found = [word.decode() for word in wrapped[3:]]
        expect(f"the command for {given}", found, ["codex", *FULL.split(), "x"])
