"""MODULE-DIR: the temporary directory of an execution."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from boxspec.api import (
    HostLacks,
    NotApplicable,
    expect,
    one_of,
    requires,
    written,
)
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import (
    FOREVER,
    at_work,
    end,
    expect_home_gone,
    noted,
    noting_home,
    quoted,
    saying_so,
    time_out,
)


@requires("MODULE-DIR-01")
def test_the_directory_is_new_empty_and_private(case: ModuleCase) -> None:
    place = case.tmp / "facts"
    tell = 'printf "%s %s %s\\n" "$(ls -A "$HOME" | wc -l)" "$(stat -c %a "$HOME")" "$HOME"'
    case.module.script("tells", f"{tell} >>{quoted(place)}; echo 1")
    case.module.execute("tells")
    case.module.execute("tells")
    facts = [line.split(" ", 2) for line in noted(place).splitlines()]
    expect(
        "names in the fresh directory, and its mode",
        [each[:2] for each in facts],
        [["0", "700"]] * 2,
    )
    expect(
        "whether the second execution has another directory", len({each[2] for each in facts}), 2
    )


@requires("MODULE-DIR-01")
@pytest.mark.parametrize("umask", ["000", "077", "0177"])
def test_the_mode_of_the_directory_does_not_depend_on_the_umask(
    case: ModuleCase, umask: str
) -> None:
    place = case.tmp / "mode"
    place.touch()
    case.module.script("tells", f'stat -c %a "$HOME" >{quoted(place)}; echo 1')
    case.module.execute("tells", state=["--umask", umask])
    expect("mode of the module's directory", noted(place).strip(), "700")


# Values of TMPDIR in which no directory can be made.
NOWHERE = {
    "missing": "missing",
    "a file": "file",
    "below a file": "file/below",
    "a loop of links": "loop",
    "a name that is too long": "n" * 256,
}


@requires("MODULE-DIR-01")
@pytest.mark.parametrize("what", NOWHERE)
def test_no_module_runs_without_a_directory_of_its_own(case: ModuleCase, what: str) -> None:
    """Execute a module when its directory cannot be made in TMPDIR. The implementation may report
    an error, or make the directory in another place."""
    place = case.tmp / "facts"
    (case.tmp / "file").touch()
    (case.tmp / "loop").symlink_to("loop")
    case.module.script("tells", f"stat -c %a . >{quoted(place)}; ls -A >>{quoted(place)}; echo 1")
    below = {"TMPDIR": str(case.tmp / NOWHERE[what])}
    seen = case.module.execute("tells", shim_env=below, expect_result=False)
    expect("whether there is an answer", {"result", "error"}.isdisjoint(seen.raw or {}), False)
    found = written(place).decode(errors="replace") if place.exists() else "no module ran"
    expect("mode and content of the module's directory", found, one_of("no module ran", "700\n"))


ENDS = {
    "value": "echo 1",
    "NonZeroExit": "exit 3",
    "Signaled": "kill -KILL $$",
    "OutputParseFailed": "echo no",
    "OutputSizeExceeded": "exec head -c 67108865 /dev/zero",
}


@requires("MODULE-DIR-02", overlap=0.5)
@pytest.mark.parametrize("how", ENDS)
def test_the_directory_is_removed_after_every_end(case: ModuleCase, how: str) -> None:
    case.module.script("ends", noting_home(case, ENDS[how]))
    expect_home_gone(case, case.module.execute("ends", within_s=15))


def where_some_are_made(case: ModuleCase) -> Path:
    """Return the directory in which the modules' directories are made. The test does not apply if
    other programs may make directories there too."""
    case.module.script("control", noting_home(case, "echo 1"))
    case.module.execute("control")
    place = Path(noted(case.tmp / "home")).resolve().parent
    below = case.module.below.resolve()
    if place.is_relative_to(below):
        return below
    if place.is_relative_to(case.folder.resolve()):
        return place
    raise NotApplicable(
        f"the shim makes directories in {place}, where other programs may make some too"
    )


def folders_in(place: Path) -> list[str]:
    """Return the folders at any depth. Files are left out, because a runtime may create some
    there."""
    return sorted(f"{at}/{name}" for at, names, _ in os.walk(place) for name in names)


@requires("MODULE-DIR-02")
@pytest.mark.parametrize("how", ["missing", "../no", "NotWired"])
def test_no_directory_is_left_if_nothing_was_started(case: ModuleCase, how: str) -> None:
    place = where_some_are_made(case)
    before = folders_in(place)
    if how == "NotWired":
        case.module.execute("control", enabled=False)
    else:
        case.module.execute(how)
    expect("the folders where directories are made", folders_in(place), before)


@requires("MODULE-DIR-02")
def test_a_name_that_is_not_utf8_does_not_prevent_the_removal(case: ModuleCase) -> None:
    odd = 'mkdir "$(printf "a\\377")"; : >"$(printf "a\\377/b\\376\\n.")"; mkfifo fifo; : >-rf'
    case.module.script("names", noting_home(case, f"{odd}; echo 1"))
    seen = case.module.execute("names", within_s=15)
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)


@requires("MODULE-DIR-02")
def test_names_that_begin_with_dots_do_not_prevent_the_removal(case: ModuleCase) -> None:
    dots = "mkdir -p .a/..b ..c/... ....; : >.d; : >..e; : >..../..f; ln -s .. ..g"
    case.module.script("dots", noting_home(case, f"{dots}; echo 1"))
    seen = case.module.execute("dots", within_s=15)
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)


@requires("MODULE-DIR-02", overlap=0.5)
def test_the_directory_is_removed_after_a_timeout(case: ModuleCase) -> None:
    case.module.script("stays", noting_home(case, saying_so(case, FOREVER)))
    expect_home_gone(case, time_out(case, "stays", lambda: at_work(case)))


@requires("MODULE-DIR-02", overlap=1.0)
@pytest.mark.parametrize("how", ["timeout", "TERM"])
def test_the_directory_stays_until_the_module_has_ended(case: ModuleCase, how: str) -> None:
    """Execute a module that saves a file in its directory during its grace period."""
    events, place = case.events(), case.tmp / "found"
    looks = f'sleep 0.2; ls -d "$HOME" "$HOME/a/b/c" >{quoted(place)} 2>&1; exit 0'
    log = f"{quoted(P.slow_exit)} {quoted(events.path)} 0"
    body = f"trap {quoted(looks)} TERM\n{log}\nwhile :; do sleep 0.05; done"
    case.module.script("saves", noting_home(case, body))
    if how == "timeout":
        seen = time_out(case, "saves", lambda: bool(events.all("end")))
    else:
        with case.module.start("saves", within_s=20) as shim:
            events.wait("end")
            shim.signal("TERM")
            seen = shim.finish()
    home = noted(case.tmp / "home")
    expect(
        "what the module finds in its directory during the grace period",
        noted(place),
        f"{home}\n{home}/a/b/c\n",
    )
    expect_home_gone(case, seen)


@requires("MODULE-DIR-02")
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_the_directory_is_removed_after_a_signal_to_the_caller(case: ModuleCase, name: str) -> None:
    fifo, events = case.fifo("gate"), case.events()
    run = f"exec {quoted(P.gate)} {quoted(events.path)} {quoted(fifo)}"
    case.module.script("waits", noting_home(case, run))
    with case.module.start("waits", expect_result=False) as shim:
        events.wait("ready")
        shim.signal(name)
        shim.wait_exit()
        left = Path(noted(case.tmp / "home")).is_dir()
    expect("whether the module's directory still exists", left, False)


# Make a tree so deep that a path to its end is too long for the system.
DEEP = """
import os
for _ in range(1200):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
"""


@requires("MODULE-DIR-03", needs=["MODULE-TIME-02"])
def test_deep_nesting_does_not_prevent_the_removal(case: ModuleCase) -> None:
    dig = f"{quoted(Path(sys.executable).resolve())} -I -S -c {quoted(DEEP)} && echo 1"
    case.module.script("digs", noting_home(case, dig))
    seen = case.module.execute("digs")
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)


ENTRIES = 3000
MANY_ENTRIES = {
    "files": "seq $1 | xargs touch",
    "directories": "seq $1 | xargs mkdir",
    "files below a directory": "cd a/b && seq $1 | xargs touch",
}


@requires("MODULE-DIR-03", needs=["MODULE-TIME-02"])
@pytest.mark.parametrize("what", MANY_ENTRIES)
def test_thousands_of_entries_do_not_prevent_the_removal(case: ModuleCase, what: str) -> None:
    body = f"set -- {ENTRIES}; {MANY_ENTRIES[what]} && echo 1"
    case.module.script("fills", noting_home(case, body))
    seen = case.module.execute("fills", within_s=30)
    expect("outcome of the module", end(seen), "value")
    expect_home_gone(case, seen)


@requires("MODULE-DIR-03")
def test_modes_without_permissions_do_not_prevent_the_removal(case: ModuleCase) -> None:
    close = 'mkdir -p x/y/z; : >x/y/z/f; chmod 0 x/y/z x/y x; chmod 0500 "$HOME"'
    case.module.script("closes", noting_home(case, f"{close}; echo 1"))
    expect_home_gone(case, case.module.execute("closes"))


@requires("MODULE-DIR-03")
def test_the_target_of_a_link_stays(case: ModuleCase) -> None:
    kept = case.tmp / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    link = f'ln -s {quoted(kept)} "$HOME/link"; ln -s {quoted(kept)} "$HOME/a/deep"'
    case.module.script("links", noting_home(case, f"{link}; echo 1"))
    seen = case.module.execute("links")
    expect_home_gone(case, seen)
    expect("whether the target of the link still exists", (kept / "file").exists(), True)


@requires("MODULE-DIR-03")
def test_the_mode_of_a_links_target_stays(case: ModuleCase) -> None:
    """Remove a closed folder and a link. The removal must change the mode of the folder, but never
    the mode of a link's target."""
    kept = case.tmp / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (kept / "file").chmod(0o640)
    kept.chmod(0o750)
    links = f"mkdir x; ln -s {quoted(kept)} x/one; ln -s {quoted(kept / 'file')} x/two"
    case.module.script("links", noting_home(case, f"{links}; chmod 0500 x; echo 1"))
    seen = case.module.execute("links")
    expect_home_gone(case, seen)
    modes = [oct(stat.S_IMODE(each.stat().st_mode)) for each in (kept, kept / "file")]
    expect("modes of the links' targets", modes, [oct(0o750), oct(0o640)])


@requires("MODULE-DIR-02")
def test_a_module_may_remove_its_directory_itself(case: ModuleCase) -> None:
    body = 'cd /; rm -rf "$HOME"; echo 1'
    case.module.script("removes", noting_home(case, body))
    seen = case.module.execute("removes")
    got = (end(seen), seen.value, seen.result.get("directory_left"))
    expect(
        "outcome of the module, the value, and the directory reported as left",
        got,
        ("value", 1, None),
    )
    expect_home_gone(case, seen)


@requires("MODULE-DIR-05")
@pytest.mark.parametrize("what", ["a folder", "a file"])
def test_a_link_in_place_of_the_directory_is_not_followed(case: ModuleCase, what: str) -> None:
    kept = case.tmp / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    named = kept if what == "a folder" else kept / "file"
    named.chmod(0o750)
    swap = f'cd /; rm -rf "$HOME"; ln -s {quoted(named)} "$HOME"; echo 1'
    case.module.script("swaps", noting_home(case, swap))
    seen = case.module.execute("swaps", within_s=15)
    mode = stat.S_IMODE(named.stat().st_mode)
    got = (end(seen), (kept / "file").exists(), oct(mode))
    expect(
        "outcome of the module; whether the file is there; the mode",
        got,
        ("value", True, oct(0o750)),
    )


@requires("MODULE-DIR-08")
@pytest.mark.parametrize("where", [".", "a", "a/b/deep"])
def test_nothing_in_a_mounted_directory_is_changed(case: ModuleCase, where: str) -> None:
    """Execute a module whose directory contains a mount. The warden's flag `--bind` gives the shim
    its own mounts, so that the module's mount ends with the shim."""
    if os.geteuid() != 0:
        raise HostLacks("root", "only root can mount a directory")
    kept, other = case.tmp / "kept", case.tmp / "other"
    for each in (kept, kept / "folder", other):
        each.mkdir()
        each.chmod(0o755)
    (kept / "file").write_text("x")
    (kept / "file").chmod(0o644)
    point = f'"$HOME"/{where}'
    mount = f"mount --bind {quoted(kept)} {point} >&2"
    case.module.script(
        "mounts", noting_home(case, f"mkdir -p {point}; {mount} && echo 1 || echo 0")
    )
    seen = case.module.execute("mounts", state=["--bind", f"{other}={other}"], within_s=15)
    # An implementation may also prevent the module from mounting anything.
    expect("outcome of the module", (end(seen), seen.value in (0, 1)), ("value", True))
    found = {
        str(each.relative_to(case.tmp)): oct(stat.S_IMODE(each.lstat().st_mode))
        for each in (kept, *kept.rglob("*"))
    }
    expect(
        "the mounted directory and its contents, with their modes",
        found,
        {"kept": "0o755", "kept/folder": "0o755", "kept/file": "0o644"},
    )
    left = noted(case.tmp / "home") if seen.value == 1 else None
    expect("the reported directory", seen.result.get("directory_left"), left)
