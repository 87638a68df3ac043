"""The environment of a program inside."""

import contextlib
import os
from pathlib import Path

import pytest

from boxspec.api import Verdict, expect, one_of, requires, written
from contracts.backend.attempt import attempt, attempted_inside
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.reports import environment, report
from contracts.shared.requests import ExecRequest

KEPT = {
    "PATH": "/usr/bin:/bin",
    "USER": "u",
    "LOGNAME": "l",
    "SHELL": "/bin/sh",
    "TZ": "UTC",
    "LANG": "C",
    "LANGUAGE": "en",
    "LC_ALL": "C",
    "LC_TIME": "C",
}
DROPPED = (
    "BOXSPEC_SECRET",
    "LC_SECRET",
    "LC_",
    "LD_PRELOAD_X",
    "PATHS",
    "LANGX",
    "SSH_AUTH_SOCK",
    "path",
    # Names that launchers often keep, because many programs read them.
    *("TERM", "COLORTERM", "DISPLAY", "EDITOR", "PAGER", "HOSTNAME", "MAIL", "OLDPWD", "CI"),
    *("http_proxy", "HTTPS_PROXY", "NO_PROXY", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_ID"),
    *("GIT_AUTHOR_NAME", "GITHUB_TOKEN", "AWS_PROFILE", "VIRTUAL_ENV", "JAVA_HOME", "GOPATH"),
    *("SUDO_USER", "UID", "USERNAME", "TZDIR", "HOMEPATH", "SHELLOPTS_X", "LC_CTYPES", "lc_all"),
)


@requires("BACKEND-ENV-01", capability="backend.script")
def test_the_additions_of_wrap_win(case: BackendCase) -> None:
    with made_ground() as ground:
        found = report(
            case,
            ground,
            call={"env": {"clear_and_set": [["A", "1"], ["B", "2"]]}},
            script={"env": [["B", "3"], ["C", "4"]]},
            on_unavailable="refuse",
        )
        expect("the environment inside", environment(found), {"A": "1", "B": "3", "C": "4"})


@requires("BACKEND-ENV-01")
@pytest.mark.parametrize("profile", ["repo-write", "ci-only"])
def test_pairs_arrive_unchanged(case: BackendCase, profile: str) -> None:
    with made_ground() as ground:
        pairs = [["A", "1"], ["BOXSPEC_SECRET", "x y"], ["LC_SECRET", ""]]
        call: ExecRequest = {"env": {"clear_and_set": pairs}}
        given = environment(report(case, ground, call=call, profile=profile))
        expect(
            "the given variables inside the sandbox",
            {name: given.get(name) for name, _ in pairs},
            dict(pairs),
        )


# Variables with a meaning for a shell or the loader.
OTHERS = [
    ["LD_LIBRARY_PATH", "/nowhere"],
    ["TWO_LINES", "a\nb=c"],
    ["IFS", ","],
    ["BLANKS", " \tx "],
    ["DOLLAR", "$HOME ${PATH} $(id) `id` %s"],
    ["BACKSLASH", "a\\nb\\"],
    ["QUOTES", "'\""],
    ["CARRIAGE_RETURN", "a\r\n"],
    ["EQUALS", "=a=b="],
    ["LETTERS", "é漢😀"],
    ["EMPTY", ""],
]


@requires("BACKEND-ENV-01")
def test_variables_of_the_shell_and_the_loader_reach_the_program(case: BackendCase) -> None:
    with made_ground() as ground:
        given = environment(report(case, ground, call={"env": {"clear_and_set": OTHERS}}))
        expect(
            "the given variables inside the sandbox",
            {name: given.get(name) for name, _ in OTHERS},
            dict(OTHERS),
        )


# Names that a shell would not accept: a function of bash, and names that other tools use.
NAMES = [[name, "1"] for name in ("BASH_FUNC_x%%", "a.b", "a-b", "1", "é", "a b", "a", "A" * 300)]


@requires("BACKEND-ENV-01")
def test_variables_of_any_name_reach_the_program(case: BackendCase) -> None:
    with made_ground() as ground:
        given = environment(report(case, ground, call={"env": {"clear_and_set": NAMES}}))
        expect(
            "the given variables inside the sandbox",
            {name: given.get(name) for name, _ in NAMES},
            dict(NAMES),
        )


AMOUNTS = {
    "a long value": [["A", "x" * 100_000]],
    "two long values": [["A", "x" * 100_000], ["B", "y" * 100_000]],
    "thousands of names": [[f"N{number}", "x" * 20] for number in range(5000)],
}


@requires("BACKEND-ENV-01")
@pytest.mark.parametrize("what", AMOUNTS)
def test_an_environment_of_any_size_reaches_the_program(case: BackendCase, what: str) -> None:
    pairs = [*AMOUNTS[what], ["LAST", "1"]]
    with made_ground() as ground:
        given = environment(report(case, ground, call={"env": {"clear_and_set": pairs}}))
    missing = [name for name, value in pairs if given.get(name) != value]
    expect("variables that are missing or have another value", missing[:5], [])


@requires("BACKEND-ENV-01", needs=["BACKEND-CONTEXT-01"])
def test_a_directory_among_the_pairs_is_theirs_or_the_programs(case: BackendCase) -> None:
    """Give PWD among the pairs of a request.

    The value may be kept or replaced: bubblewrap(1) always sets PWD to the program's directory.
    """
    with made_ground() as ground:
        pairs = [["PWD", "/elsewhere"]]
        given = environment(report(case, ground, call={"env": {"clear_and_set": pairs}}))
        its_own = str(ground.ws.resolve())
        expect("PWD", given.get("PWD"), one_of("/elsewhere", its_own))


@requires("BACKEND-ENV-01")
def test_an_empty_list_of_pairs_is_an_empty_environment(case: BackendCase) -> None:
    with made_ground() as ground:
        names = ("USER", "LOGNAME", "LANG", "LC_ALL", "BOXSPEC_SECRET")
        caller = {**dict.fromkeys(names, ground.token), "HOME": str(ground.home)}
        # The token without `C.` would be a language of 16 letters, with which Node 20 dies at its
        # start, before it runs a shim.
        caller |= dict.fromkeys(("LANG", "LC_ALL"), f"C.{ground.token}")
        call: ExecRequest = {"env": {"clear_and_set": []}}
        given = environment(report(case, ground, call=call, shim_env=caller))
        expect(
            "variables that have the caller's value inside",
            [name for name in names if name in given],
            [],
        )


@requires("BACKEND-ENV-02")
def test_inherit_keeps_a_list_of_names(case: BackendCase) -> None:
    with made_ground() as ground:
        caller = {**KEPT, **dict.fromkeys(DROPPED, ground.token), "HOME": str(ground.home)}
        given = environment(report(case, ground, shim_env=caller))
        expect("variables that are passed", {name: given.get(name) for name in KEPT}, KEPT)
        # If HOME cannot be read inside, the scratch directory replaces it.
        homes = one_of(str(ground.home), given.get("TMPDIR", str(ground.home)))
        expect("HOME", given.get("HOME"), homes)
        expect("variables that must not be passed", sorted({*given} & {*DROPPED}), [])
        expect(
            "whether the secret is absent from the environment",
            ground.token in given.values(),
            False,
        )


@requires("BACKEND-ENV-04")
def test_a_hermetic_run_inherits_only_the_path(case: BackendCase) -> None:
    with made_ground() as ground:
        # The values are unique to this test, because a wrapper may set some of these variables
        # itself.
        mine = {name: f"/{ground.token}/{name}" for name in KEPT if name != "PATH"}
        caller = {**mine, "PATH": KEPT["PATH"], "HOME": str(ground.home)}
        given = environment(report(case, ground, profile="ci-only", shim_env=caller))
        found = {name for name, value in given.items() if value == caller.get(name)}
        expect("variables that have the caller's value inside", found, {"PATH"})


@requires("BACKEND-ENV-02")
def test_no_secret_of_the_caller_is_read(case: BackendCase) -> None:
    attempt(case, "e_env")


@requires("BACKEND-ENV-03", needs=["BACKEND-LIFE-02"])
def test_the_scratch_directory_is_private_and_is_removed(case: BackendCase) -> None:
    with made_ground() as ground:
        words = ground.write_params("o_scratch")
        session = case.backend.run(
            [
                {"program": words[0], "args": words[1:]},
                {"program": "/bin/sh", "args": ["-c", 'printf %s "$TMPDIR"']},
            ],
            root=ground.ws,
            profile="read-only",
            on_unavailable="degrade",
            shim_env={"TMPDIR": str(ground.out), "HOME": str(ground.home)},
        )
        attempted = attempted_inside(session)
        expect("result of creating a file below TMPDIR", str(attempted), "did")
        scratch = Path(session.calls[1].stdout.decode())
        its_own = scratch.is_absolute() and scratch != ground.out
        expect("whether TMPDIR of the second call is a new absolute path", its_own, True)
        # The scratch directory is private or removed, so no file that the program created in it may
        # be visible outside.
        left = [str(each) for each in (Path("/tmp"), scratch) if _has(each, ground.token)]
        expect("files left of the scratch directory", left, [])


@requires("BACKEND-ENV-03")
def test_the_mode_of_the_scratch_does_not_depend_on_the_umask(case: BackendCase) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/bin/sh", "args": ["-c", 'umask 077 && echo it >"$TMPDIR/made"']}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
            state=["--umask", "0177"],
        )
        session.need_enforcement()
        expect(
            "how the program that writes to the scratch directory ended",
            session.only.result["exit_code"],
            0,
        )


@requires("BACKEND-ENV-03")
def test_the_scratch_of_the_next_session_is_empty(case: BackendCase) -> None:
    with made_ground() as ground:
        words = ground.write_params("o_scratch")
        # Each call creates this file. The file must not exist before the call.
        for when in ("first", "next"):
            session = case.backend.run(
                [{"program": words[0], "args": words[1:]}],
                root=ground.ws,
                profile="repo-write",
                on_unavailable="degrade",
                shim_env={"HOME": str(ground.home)},
            )
            attempted = attempted_inside(session)
            expect(
                f"result of creating a file below TMPDIR, in the {when} session",
                str(attempted),
                "did",
            )


# The program leaves a directory in a directory, a link, and a directory that cannot be listed.
HELD = """umask 022; echo mine >"$TMPDIR/mine" && printf %s "$TMPDIR" >scratch
cd "$TMPDIR" && mkdir -p a/b/c closed && : >a/b/file && : >closed/file && ln -s "$OLDPWD" a/b/way
chmod 0 closed; cd "$OLDPWD" && : <gate && : <held"""


@requires("BACKEND-ENV-03")
def test_the_scratch_is_closed_to_others_and_is_removed(case: BackendCase) -> None:
    """Check a scratch directory while a program uses it, and after the session.

    The test applies only if the directory has the same path inside and outside.
    """
    with made_ground() as ground:
        gates = [ground.ws / name for name in ("gate", "held")]
        for gate in gates:
            os.mkfifo(gate)
        with case.backend.start(
            [{"program": "/bin/sh", "args": ["-c", HELD]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
        ) as shim:
            case.open_gate(gates[0])
            scratch = Path(written(ground.ws / "scratch").decode(errors="replace"))
            seen = (scratch / "mine").exists()
            mode = scratch.stat().st_mode & 0o777 if seen else 0
            case.open_gate(gates[1])
            session = shim.finish()
        session.need_enforcement()
        expect("exit code of the program", session.only.result["exit_code"], 0)
        expect("permissions of other users on the scratch directory", oct(mode & 0o077), "0o0")
        left = seen and scratch.exists()
        expect("whether the scratch directory exists after the session", left, False)
        expect("whether the target of a link in it exists", ground.program.exists(), True)


def _used_scratch(case: BackendCase, ground: Ground) -> Path:
    """Run a program that writes to its scratch directory, and return the path of the directory."""
    session = case.backend.run(
        [{"program": "/bin/sh", "args": ["-c", ': >"$TMPDIR/made"; printf %s "$TMPDIR" >scratch']}],
        root=ground.ws,
        profile="repo-write",
        on_unavailable="degrade",
        shim_env={"HOME": str(ground.home)},
    )
    session.need_enforcement()
    return Path(written(ground.ws / "scratch").decode(errors="replace"))


@requires("BACKEND-ENV-03")
def test_a_link_in_place_of_an_earlier_scratch_is_not_followed(case: BackendCase) -> None:
    """Put a link at the path of an earlier scratch directory.

    If the name of the directory can be predicted, another user may put a link there (CWE-377).
    """
    with made_ground() as ground, contextlib.ExitStack() as stack:
        scratch = _used_scratch(case, ground)
        ground.watch(ground.out)
        if scratch.parent.is_dir() and not scratch.exists():
            scratch.symlink_to(ground.out / "linked")
            stack.callback(scratch.unlink, missing_ok=True)
        _used_scratch(case, ground)
        expect("what changed outside", ground.changes(), [], verdict=Verdict.CONTRADICTION)


@requires("BACKEND-ENV-05")
@pytest.mark.parametrize("view", ["inside", "outside"])
def test_no_value_is_on_a_command_line(case: BackendCase, view: str) -> None:
    with made_ground() as ground:
        gates = [ground.ws / name for name in ("gate", "held")]
        for gate in gates:
            os.mkfifo(gate)
        pairs = [["PATH", "/usr/bin:/bin"], ["ACCESS_KEY", ground.token]]
        line = "cat /proc/[0-9]*/cmdline >seen 2>/dev/null; : <gate; : <held"
        with case.backend.start(
            [{"program": "/bin/sh", "args": ["-c", line], "env": {"clear_and_set": pairs}}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        ) as shim:
            case.open_gate(gates[0])
            lines = [_command_line(proc.pid) for proc in shim.descendants()]
            case.open_gate(gates[1])
            session = shim.finish()
        session.need_enforcement()
        expect("exit code of the program", session.only.result["exit_code"], 0)
        if view == "inside":
            lines = [written(ground.ws / "seen")]
        shown = [line.decode(errors="replace") for line in lines if ground.token.encode() in line]
        expect("command lines with a value", shown, [], verdict=Verdict.ESCAPED)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _has(folder: Path, token: str) -> bool:
    return (folder / token).exists()
