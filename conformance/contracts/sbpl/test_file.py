"""SBPL-FILE: the file that has the text while the command runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boxspec.api import Answer, Observed, expect, requires, satisfies
from boxspec.subject.case import State
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase, WrapFields

TEXT = '(version 1)\n(deny default)\n; é "quoted"\n'


@contextmanager
def held(case: SbplCase, folder: Path, text: str = TEXT, state: State = ()) -> Iterator[Path]:
    """Start a wrap that has answered but not ended; yield the file that its answer names."""
    message = sbpl.wrap_message(["x"], text=text, dir=folder, wrapper="present")
    with case.launch(message, Observed, hold=True, state=state) as shim:
        shim.wait_response()
        answer = shim.exchange.answer(case.capabilities) or {}
        argv = sbpl.argv_of(Answer(answer))
        yield Path(os.fsdecode(argv[2]))
        shim.finish()


def folder(case: SbplCase, name: str) -> Path:
    made = case.tmp / name
    made.mkdir()
    return made


@requires("SBPL-FILE-01")
@pytest.mark.parametrize("umask", ["000", "022", "077", "277"])
def test_the_file_is_not_readable_for_other_users(case: SbplCase, umask: str) -> None:
    place = folder(case, "profiles")
    with held(case, place, state=["--umask", umask]) as file:
        expect("the directory of the file", file.parent, place)
        expect("what lies there", os.listdir(place), [file.name])
        expect("its bytes", file.read_bytes(), TEXT.encode())
        expect("its mode", oct(stat.S_IMODE(file.stat().st_mode)), "0o600")
        expect("whether it is a file", stat.S_ISREG(file.lstat().st_mode), True)


@requires("SBPL-FILE-01")
@pytest.mark.parametrize("text", ["", "(version 1)", "x" * 300_000], ids=["none", "short", "long"])
def test_the_file_holds_exactly_the_text(case: SbplCase, text: str) -> None:
    with held(case, folder(case, "profiles"), text) as file:
        expect("its bytes", file.read_bytes(), text.encode())


@requires("SBPL-FILE-01")
@pytest.mark.parametrize(
    "name", [b"a b", b'"', b"\xff", "é".encode(), b"e\xcc\x81", b"$HOME", b"~"]
)
def test_the_file_lies_in_the_directory_that_was_named(case: SbplCase, name: bytes) -> None:
    place = case.tmp / os.fsdecode(name)
    place.mkdir()
    with held(case, place) as file:
        expect("the directory of the file", file.parent, place)
        expect("its bytes", file.read_bytes(), TEXT.encode())


@requires("SBPL-FILE-02")
def test_each_wrap_has_a_file_of_its_own(case: SbplCase) -> None:
    place = folder(case, "profiles")
    with held(case, place) as one, held(case, place) as other:
        expect("whether two wraps share a file", one == other, False)
        expect("what lies there", sorted(os.listdir(place)), sorted([one.name, other.name]))


@requires("SBPL-FILE-02")
@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_an_existing_entry_is_not_opened(case: SbplCase, kind: str) -> None:
    """Another file is placed at each name that earlier wraps used."""
    place, victim = folder(case, "profiles"), case.tmp / "victim"
    victim.write_text("kept")
    used = []
    for _ in range(2):
        with held(case, place) as file:
            used.append(file)
    for file in set(used):
        if kind == "a link":
            file.symlink_to(victim)
        else:
            file.write_text("kept")
    with held(case, place) as file:
        expect("whether a name is used again", file in used, False)
        expect("its bytes", file.read_bytes(), TEXT.encode())
    kept = [each.read_text() for each in {victim, *used}]
    expect("what lay there before", set(kept), {"kept"})


@requires("SBPL-FILE-02")
@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_an_entry_at_the_last_name_is_not_opened(case: SbplCase, kind: str) -> None:
    """All wraps are made by one process, so that a name which only depends on the process number
    would repeat."""
    place, victim = folder(case, "profiles"), case.tmp / "victim"
    victim.write_text("kept")
    used: set[Path] = set()
    for turn in range(3):
        before = set(used)
        answer = case.sbpl.wrap(["x"], wrapper="present", text="(version 1)\n", dir=place)
        if answer.ok:
            file = Path(os.fsdecode(sbpl.argv_of(answer)[2]))
            expect(f"wrap {turn}: whether a name is used again that is taken", file in used, False)
            used.add(file)
        else:
            # A wrap whose file name exists may end in an error, but the first wrap may not.
            expect("whether a file was made once", bool(used), True, answer.raw)
        found = [each.read_text() if each.exists() else None for each in (victim, *before)]
        expect(f"wrap {turn}: what lay there before", set(found), {"kept"})
        for each in used - before:
            if kind == "a link":
                each.symlink_to(victim)
            else:
                each.write_text("kept")


@requires("SBPL-FILE-03")
def test_the_file_is_gone_after_the_end(case: SbplCase) -> None:
    place = folder(case, "profiles")
    with held(case, place) as file:
        expect("whether it is there meanwhile", file.exists(), True)
    expect("what is left", os.listdir(place), [])


@requires("SBPL-FILE-03")
def test_without_a_hold_the_file_is_gone_too(case: SbplCase) -> None:
    place = folder(case, "profiles")
    fields: WrapFields = {"text": TEXT, "dir": place, "wrapper": "present"}
    ran = case.send(sbpl.wrap_message(["x"], **fields))
    expect("the directory of the file", Path(os.fsdecode(sbpl.argv_of(ran)[2])).parent, place)
    expect("what run leaves", os.listdir(place), [])
    served = case.sbpl.wrap(["x"], **fields)
    expect("the directory of the file", Path(os.fsdecode(sbpl.argv_of(served)[2])).parent, place)
    expect("what serve leaves", os.listdir(place), [])


@requires("SBPL-FILE-04")
def test_a_refused_wrap_leaves_no_file(case: SbplCase) -> None:
    place = folder(case, "profiles")
    fields: WrapFields = {"text": TEXT, "dir": place}
    for argv, wrapper in ((["x"], "missing"), ([], "present"), ([], "missing")):
        answer = case.sbpl.wrap(argv, **(fields | {"wrapper": wrapper}))
        expect(f"whether {argv} with the wrapper {wrapper} is wrapped", answer.ok, False)
        expect("what is left", os.listdir(place), [])
    allowed = case.sbpl.wrap(["x"], **(fields | {"wrapper": "present"}))
    expect("whether the allowed counterpart is wrapped", allowed.ok, True)


@requires("SBPL-FILE-04")
def test_a_fallback_makes_no_file(case: SbplCase) -> None:
    """The modification time of the directory shows whether a file was created and removed."""
    place = folder(case, "profiles")
    os.utime(place, (1, 1))
    fields: WrapFields = {"text": TEXT, "dir": place, "wrapper": "missing", "allow_fallback": True}
    answer = case.sbpl.wrap(["x"], **fields)
    expect("the command", sbpl.argv_of(answer), [b"x"])
    expect("whether something was made there", place.stat().st_mtime, 1.0)
    message = sbpl.wrap_message(["x"], **fields)
    with case.launch(message, Observed, hold=True) as shim:
        shim.wait_response()
        expect("what lies there meanwhile", os.listdir(place), [])
        shim.finish()
    case.sbpl.wrap(["x"], **(fields | {"wrapper": "present"}))
    made = satisfies("a later time than before", lambda got: got > 1)
    expect("the same of a wrap that makes one", place.stat().st_mtime, made)


@requires("SBPL-FILE-04")
def test_a_partly_written_file_is_not_left(case: SbplCase) -> None:
    place, state = folder(case, "profiles"), ["--fsize", "65536", "--ignore", "XFSZ"]
    fields: WrapFields = {"dir": place, "wrapper": "present"}
    answer = case.send(sbpl.wrap_message(["x"], **(fields | {"text": "x" * 300_000})), state=state)
    expect("whether it is wrapped", answer.ok, False)
    expect("what is left", os.listdir(place), [])
    twin = case.send(sbpl.wrap_message(["x"], **(fields | {"text": "x" * 30_000})), state=state)
    expect("whether one that fits is wrapped", twin.ok, True)


@requires("SBPL-FILE-05")
def test_a_directory_that_cannot_be_written_to_is_an_error(case: SbplCase) -> None:
    no_folder = case.tmp / "file"
    no_folder.write_text("")
    for place in (case.tmp / "missing", no_folder, no_folder / "below"):
        answer = case.sbpl.wrap(["x"], text=TEXT, dir=place, wrapper="present")
        expect(f"kind of the error of {place}", answer.error["kind"], "io", {"answer": answer.raw})
        expect("the message", answer.error["message"], sbpl.naming(str(place)))
    good = case.sbpl.wrap(["x"], text=TEXT, dir=folder(case, "good"), wrapper="present")
    expect("whether a good one is wrapped", good.ok, True)
