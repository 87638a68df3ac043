"""The plan of one start, which the probe program reads, and the records that it leaves."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from boxspec.subject.observe.inotify import OPEN, Inotify
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.observe.probes import Said
from boxspec.verify.row import Attempt, Record
from boxspec.verify.scene import Scene

REPORT_MOST = 16 << 20
START, END = "start", "end"
# If the plan was opened this long ago, the program runs, even if no report begins.
OPENED_S = 0.5


class Plan:
    """Written into the workspace of a scene. A watch of the kernel reports that it was opened."""

    def __init__(self, scene: Scene, attempts: Iterable[Attempt]) -> None:
        self._key = secrets.token_hex(16)
        self.path = scene.fresh(scene.root)
        self._report = scene.fresh(scene.root)
        self._counterparts = scene.work_folder()
        lines = [f"key={self._key}", f"report={self._report}"]
        for each in attempts:
            known = {"ws": scene.root, "armed": each.probe, **each.params}
            known["sibling"] = self._counterparts / each.id
            if each.after_start:
                known["wait"] = scene.marker
            lines += [f"try={each.id}", *(f"{name}={value}" for name, value in known.items())]
        self.path.write_text("".join(f"{line}\n" for line in lines))
        self._watch = Inotify()
        self._watch.watch(str(self.path), OPEN)
        self._opened: Deadline | None = None

    def witnessed(self) -> bool:
        """True if an observer outside saw the program work: a file that it made, or the kernel's
        notice that the plan was opened."""
        made = any(each.read_bytes() == b"sibling" for each in _files(self._counterparts))
        return self._opened is not None or bool(self._watch.read()) or made

    def runs(self) -> bool:
        """True once the program works inside: it has begun its report, or it has opened the plan
        some time ago and the workspace of its sandbox is not this one."""
        if self._opened is None and self._watch.read():
            self._opened = Deadline(OPENED_S)
        return START.encode() in _head(self._report) or bool(self._opened and self._opened.over())

    def records(self, stdout: bytes) -> dict[str, Record]:
        """Return the sealed records, by id: from the report outside, and from the output of the
        command, which has them also if the workspace cannot be written."""
        found: dict[str, Record] = {}
        for text in (_head(self._report), stdout):
            for line in text.decode("utf-8", "surrogateescape").splitlines():
                found.update(self._record(line))
        return found

    def _record(self, line: str) -> Mapping[str, Record]:
        try:
            raw = json.loads(line)
            fields = [raw[name] for name in ("id", "ended", "output")]
            parts = [each.encode("utf-8", "surrogateescape") + b"\0" for each in fields]
            seal = hashlib.sha256(b"".join([self._key.encode() + b"\0", *parts])).hexdigest()
            if raw["seal"] != seal:
                return {}
        except (ValueError, TypeError, KeyError, AttributeError):
            return {}
        return {fields[0]: Record(fields[1], Said.of(parts[2][:-1]))}

    def close(self) -> None:
        self._watch.close()


def _head(path: Path) -> bytes:
    """The report, unless it is a link or anything else than a file."""
    if path.is_symlink() or not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(REPORT_MOST)


def _files(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.is_file() and not each.is_symlink()]
