"""SBPL-FILE: the file that contains the text while the command runs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boxspec.api import Answer, Observed, expect, requires, satisfies, written
from boxspec.subject.case import State
from boxspec.subject.client.b64 import Word
from contracts.sbpl import kit as sbpl
from contracts.sbpl.client import SbplCase, WrapFields

TEXT = '(version 1)\n(deny default)\n; é "quoted"\n'


@contextmanager
def held_file(case: SbplCase, folder: Path, text: Word = TEXT, state: State = ()) -> Iterator[Path]:
    """Yield the file that the answer of a wrap names, while the shim still waits at the fifo
    `hold`."""
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
    with held_file(case, place, state=["--umask", umask]) as file:
        expect("the directory of the file", file.parent, place)
        expect("files in the directory", os.listdir(place), [file.name])
        expect("content of FILE", written(file), TEXT.encode())
        expect("mode of FILE", oct(stat.S_IMODE(file.stat().st_mode)), "0o600")
        expect("whether FILE is a regular file", stat.S_ISREG(file.lstat().st_mode), True)


@requires("SBPL-FILE-01")
@pytest.mark.parametrize(
    "text",
    [
        *("", "(version 1)", "x" * 300_000, "\ufeff;\r\n;\r \t;\n\n\n", " ;\n\r\n", "\n;\u2028\r"),
        *(b'(literal "/\xff\xc3")\n', ";" + "x" * 2_000_000),
    ],
    ids=["none", "short", "long", "lines", "blanks", "breaks", "no UTF-8", "very long"],
)
def test_the_file_holds_exactly_the_text(case: SbplCase, text: str | bytes) -> None:
    with held_file(case, folder(case, "profiles"), text) as file:
        expect("content of FILE", written(file), text if isinstance(text, bytes) else text.encode())


@requires("SBPL-FILE-01")
@pytest.mark.parametrize(
    "name", [b"a b", b'"', b"\xff", "é".encode(), b"e\xcc\x81", b"$HOME", b"~"]
)
def test_the_file_lies_in_the_directory_that_was_named(case: SbplCase, name: bytes) -> None:
    place = case.tmp / os.fsdecode(name)
    place.mkdir()
    with held_file(case, place) as file:
        expect("the directory of the file", file.parent, place)
        expect("content of FILE", written(file), TEXT.encode())


@requires("SBPL-FILE-02")
def test_each_wrap_has_a_file_of_its_own(case: SbplCase) -> None:
    place = folder(case, "profiles")
    with held_file(case, place) as one, held_file(case, place) as other:
        expect("whether two wraps share a file", one == other, False)
        expect("files in the directory", sorted(os.listdir(place)), sorted([one.name, other.name]))


@requires("SBPL-FILE-02")
@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_an_existing_entry_is_not_opened(case: SbplCase, kind: str) -> None:
    """Place another file at each name that earlier wraps have used."""
    place, victim = folder(case, "profiles"), case.tmp / "victim"
    victim.write_text("kept")
    used = []
    for _ in range(2):
        with held_file(case, place) as file:
            used.append(file)
    for file in set(used):
        if kind == "a link":
            file.symlink_to(victim)
        else:
            file.write_text("kept")
    with held_file(case, place) as file:
        expect("whether FILE is an entry that existed before", file in used, False)
        expect("content of FILE", written(file), TEXT.encode())
    kept = [written(each).decode(errors="replace") for each in {victim, *used}]
    expect("content of the files that existed before", set(kept), {"kept"})


@requires("SBPL-FILE-02")
@pytest.mark.parametrize("kind", ["a link", "a file"])
def test_an_entry_at_the_last_name_is_not_opened(case: SbplCase, kind: str) -> None:
    """Make all wraps in one process: a name that depends only on the process number would
    repeat."""
    place, victim = folder(case, "profiles"), case.tmp / "victim"
    victim.write_text("kept")
    used: set[Path] = set()
    for turn in range(3):
        before = set(used)
        answer = case.sbpl.wrap(["x"], wrapper="present", text="(version 1)\n", dir=place)
        if answer.ok:
            file = Path(os.fsdecode(sbpl.argv_of(answer)[2]))
            expect(
                f"wrap {turn}: whether FILE is an entry that existed before", file in used, False
            )
            used.add(file)
        else:
            # If there is a file of that name, a later wrap may end in an error. The first wrap must
            # succeed.
            expect("whether the first wrap created a file", bool(used), True, answer.raw)
        found = [
            written(each).decode(errors="replace") if each.exists() else None
            for each in (victim, *before)
        ]
        expect(f"wrap {turn}: content of the entries that existed before", set(found), {"kept"})
        for each in used - before:
            if kind == "a link":
                each.symlink_to(victim)
            else:
                each.write_text("kept")


@requires("SBPL-FILE-03")
def test_the_file_is_gone_after_the_end(case: SbplCase) -> None:
    place = folder(case, "profiles")
    with held_file(case, place) as file:
        expect("whether FILE exists during the hold", file.exists(), True)
    expect("files left in the directory", os.listdir(place), [])


@requires("SBPL-FILE-03")
def test_without_a_hold_the_file_is_gone_too(case: SbplCase) -> None:
    place = folder(case, "profiles")
    fields: WrapFields = {"text": TEXT, "dir": place, "wrapper": "present"}
    ran = case.send(sbpl.wrap_message(["x"], **fields))
    expect("the directory of the file", Path(os.fsdecode(sbpl.argv_of(ran)[2])).parent, place)
    expect("files that `run` leaves in the directory", os.listdir(place), [])
    served = case.sbpl.wrap(["x"], **fields)
    expect("the directory of the file", Path(os.fsdecode(sbpl.argv_of(served)[2])).parent, place)
    expect("files that `serve` leaves in the directory", os.listdir(place), [])


@requires("SBPL-FILE-03")
def test_a_file_of_the_caller_stays(case: SbplCase) -> None:
    place = folder(case, "profiles")
    file = place / "p.sb"
    file.write_text(TEXT)
    file.chmod(0o640)
    message = sbpl.wrap_message(["x"], file=file, wrapper="present")
    for answer in (case.send(message), case.sbpl.wrap(["x"], file=file, wrapper="present")):
        expect("the file that the command names", sbpl.argv_of(answer)[2], os.fsencode(file))
        expect("files in the directory", os.listdir(place), [file.name])
        expect("content of FILE", written(file), TEXT.encode())
        expect("mode of FILE", oct(stat.S_IMODE(file.stat().st_mode)), "0o640")


@requires("SBPL-FILE-04")
def test_a_refused_wrap_leaves_no_file(case: SbplCase) -> None:
    place = folder(case, "profiles")
    fields: WrapFields = {"text": TEXT, "dir": place}
    for argv, wrapper in ((["x"], "missing"), ([], "present"), ([], "missing")):
        answer = case.sbpl.wrap(argv, **(fields | {"wrapper": wrapper}))
        expect(f"whether {argv} with the wrapper {wrapper} is wrapped", answer.ok, False)
        expect("files left in the directory", os.listdir(place), [])
    allowed = case.sbpl.wrap(["x"], **(fields | {"wrapper": "present"}))
    expect("whether the allowed counterpart is wrapped", allowed.ok, True)


@requires("SBPL-FILE-04")
def test_a_fallback_makes_no_file(case: SbplCase) -> None:
    """Wrap without a wrapper. The time of the directory shows whether a file was made and removed
    in it."""
    place = folder(case, "profiles")
    os.utime(place, (1, 1))
    fields: WrapFields = {"text": TEXT, "dir": place, "wrapper": "missing", "allow_fallback": True}
    answer = case.sbpl.wrap(["x"], **fields)
    expect("the command", sbpl.argv_of(answer), [b"x"])
    expect("whether a file was created", place.stat().st_mtime, 1.0)
    message = sbpl.wrap_message(["x"], **fields)
    with case.launch(message, Observed, hold=True) as shim:
        shim.wait_response()
        expect("files in the directory during the hold", os.listdir(place), [])
        shim.finish()
    case.sbpl.wrap(["x"], **(fields | {"wrapper": "present"}))
    made = satisfies("a later time than before", lambda got: got > 1)
    expect(
        "modification time of the directory, after a wrap that creates a file",
        place.stat().st_mtime,
        made,
    )


@requires("SBPL-FILE-04")
def test_a_partly_written_file_is_not_left(case: SbplCase) -> None:
    place, state = folder(case, "profiles"), ["--fsize", "65536", "--ignore", "XFSZ"]
    fields: WrapFields = {"dir": place, "wrapper": "present"}
    answer = case.send(sbpl.wrap_message(["x"], **(fields | {"text": "x" * 300_000})), state=state)
    expect("whether the command is wrapped", answer.ok, False)
    expect("files left in the directory", os.listdir(place), [])
    shorter = case.send(sbpl.wrap_message(["x"], **(fields | {"text": "x" * 30_000})), state=state)
    expect("whether a command with a smaller text is wrapped", shorter.ok, True)


# Clauses about a file in the directory `{place}`, each with True if it allows writing to the file.
WRITABLE = {
    "its directory": ('(allow file-write* (subpath "{place}"))', True),
    "a directory above": ('(allow file-write* (subpath "{above}"))', True),
    "a slash at the end": ('(allow file-write* (subpath "{place}/"))', True),
    "the root": ('(allow file-write* (subpath "/"))', True),
    "no filter": ("(allow file-write*)", True),
    "a wider operation": ('(allow file* (subpath "{place}"))', True),
    "every operation": ("(allow default)", True),
    "one operation": ('(allow file-write-data (subpath "{place}"))', True),
    "the second operation": ('(allow file-read* file-write* (subpath "{place}"))', True),
    "a regular expression": ('(allow file-write* (regex "^{place}/[^/]*$"))', True),
    "a regular expression of names": ('(allow file-write* (regex "^(.*/)?[^/]*\\\\.sb$"))', True),
    "the second filter": ('(allow file-write* (subpath "/usr") (subpath "{place}"))', True),
    "both filters": (
        '(allow file-write* (require-all (subpath "{above}") (subpath "{place}")))',
        True,
    ),
    "all but another": ('(allow file-write* (require-not (subpath "/usr")))', True),
    "a deny before": (
        '(deny file-write* (subpath "{place}"))\n(allow file-write* (subpath "{above}"))',
        True,
    ),
    "a deny of another": (
        '(allow file-write* (subpath "{place}"))\n(deny file-write* (subpath "{place}2"))',
        True,
    ),
    "a deny of the name alone": (
        '(allow file-write* (subpath "{place}"))\n(deny file-write* (literal "{place}"))',
        True,
    ),
    "a deny of reads": (
        '(allow file-write* (subpath "{place}"))\n(deny file-read* (subpath "{place}"))',
        True,
    ),
    "clauses on one line": ('(deny signal) (allow file-write* (subpath "{place}"))', True),
    "an expression that begins in the path": ('(allow file-write* (regex "/[^/]*$"))', True),
    "no clause": ("", False),
    "all but the directory": ('(allow file-write* (require-not (subpath "{place}")))', False),
    "all above but the directory": (
        '(allow file-write* (require-all (subpath "{above}") (require-not (subpath "{place}"))))',
        False,
    ),
    "a deny after": (
        '(allow file-write* (subpath "{above}"))\n(deny file-write* (subpath "{place}"))',
        False,
    ),
    "a deny of names after": (
        '(allow file-write* (subpath "{place}"))\n(deny file-write* (regex "^{place}/[^/]*$"))',
        False,
    ),
    "only reads": ('(allow file-read* (subpath "{place}"))', False),
    "another directory": ('(allow file-write* (subpath "{place}2"))', False),
    "the start of a name": ('(allow file-write* (subpath "{above}/profile"))', False),
    "a directory below": ('(allow file-write* (subpath "{place}/below"))', False),
    "the directory itself": ('(allow file-write* (literal "{place}"))', False),
    "names of another kind": ('(allow file-write* (regex "^{place}/[^/]*\\\\.c$"))', False),
    "one filter of two": (
        '(allow file-write* (require-all (subpath "{place}") (subpath "/usr")))',
        False,
    ),
    "a clause after a comment": ('; a comment\n(allow file-write* (subpath "{place}"))', True),
    "a deny after a comment": (
        '(allow file-write* (subpath "{place}")) ; all\n(deny file-write*) ; none',
        False,
    ),
    "a semicolon in a name": ('(allow file-write* (literal "/a;b") (subpath "{place}"))', True),
    "a comment inside a clause": ('(allow file-write* ; "(\n  (subpath "{place}"))', True),
    "a comment": ('; (allow file-write* (subpath "{place}"))', False),
    "a name that looks like a clause": (
        '(allow file-write* (subpath "/x)(allow file-write* (subpath {place}))"))',
        False,
    ),
    "a deny with a filter of two names before": (
        '(allow file-write*)\n(deny file-write* (subpath "/a" "/b") (subpath "{place}"))',
        False,
    ),
    "a deny with a parameter before": (
        '(allow file-write*)\n(deny file-write* (subpath (param "A")) (subpath "{place}"))',
        False,
    ),
    "a deny of something else with a list": (
        '(allow file-write*)\n(deny file-write* (subpath "{place}"))\n'
        '(allow process-exec (with no-log (allow file-write* (subpath "{place}"))))',
        False,
    ),
    "a definition that is not called": (
        '(define (f) (allow file-write* (subpath "{place}")))',
        False,
    ),
    "a name with a quote": ('(allow file-write* (subpath "/x\\"{place}"))', False),
}


def warned_of(case: SbplCase, place: Path, text: str) -> bool:
    """True if a warning of the wrap names this file."""
    answer = case.sbpl.wrap(["x"], text=text, dir=place, wrapper="present")
    file = os.fsdecode(sbpl.argv_of(answer)[2])
    named = [file in each for each in answer.result["warnings"]]
    expect("whether every warning names the file", all(named), True, answer.raw)
    return bool(named)


@requires("SBPL-FILE-06")
@pytest.mark.parametrize("name", WRITABLE)
def test_a_file_that_its_own_text_allows_to_write_is_named(case: SbplCase, name: str) -> None:
    clauses, wanted = WRITABLE[name]
    place = folder(case, "profiles")
    clauses = clauses.replace("{place}", str(place)).replace("{above}", str(case.tmp))
    text = f"(version 1)\n(deny default)\n{clauses}\n"
    expect(f"whether a warning names the file under {clauses!r}", warned_of(case, place, text),
           wanted)  # fmt: skip


@requires("SBPL-FILE-06")
def test_a_file_reached_through_a_link_is_judged_by_its_real_location(case: SbplCase) -> None:
    place, link = folder(case, "profiles"), case.tmp / "link"
    link.symlink_to(place)
    head = "(version 1)\n(deny default)\n"
    text = f'{head}(allow file-write* (subpath "{place}"))\n'
    expect("whether a warning names the file", warned_of(case, link, text), True)
    denied = f'{head}(allow file-write*)\n(deny file-write* (subpath "{place}"))\n'
    expect(
        "whether a warning names a file that the text denies", warned_of(case, link, denied), False
    )


@requires("SBPL-FILE-06")
def test_a_compiled_text_decides_about_its_own_file(case: SbplCase) -> None:
    place = folder(case, "profiles")
    # The folder of the case may lie below /tmp or /var. Such a root must be refused, so another
    # root is used.
    root = "/Users/u/ws"
    for modify, wanted in ((["profiles/**"], True), (["*/*.sb"], True), (["src/**"], False)):
        text = case.sbpl.compiled(sbpl.Setup(modify=modify, root=root)).data.decode()
        moved = [
            line.replace(root, re.escape(str(case.tmp)).replace("\\", "\\\\"))
            if "(regex " in line
            else line.replace(root, str(case.tmp))
            for line in text.splitlines(keepends=True)
        ]
        named = warned_of(case, place, "".join(moved))
        expect(f"whether a warning names the file under {modify}", named, wanted)


@requires("SBPL-FILE-05")
def test_a_directory_that_cannot_be_written_to_is_an_error(case: SbplCase) -> None:
    no_folder = case.tmp / "file"
    no_folder.write_text("")
    for place in (case.tmp / "missing", no_folder, no_folder / "below"):
        answer = case.sbpl.wrap(["x"], text=TEXT, dir=place, wrapper="present")
        expect(f"kind of the error of {place}", answer.error["kind"], "io", {"answer": answer.raw})
        expect("the message", answer.error["message"], sbpl.naming(str(place)))
    good = case.sbpl.wrap(["x"], text=TEXT, dir=folder(case, "good"), wrapper="present")
    expect("whether a good directory is accepted", good.ok, True)
