"""The plan of one start, which the probe program reads, and the records that the program writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from boxspec.subject.observe.facts import content
from boxspec.subject.observe.probes import ProbeResult
from boxspec.verify.row import Attempt, Record
from boxspec.verify.scene import Scene
from boxspec.verify.witness import Witness

REPORT_MOST = 16 << 20
START, END = "start", "end"


class Plan:
    """The plan file in the workspace of a scene. The witness holds the key of the sealed records.

    lines: the lines of the file after the first one, which names the report.
    """

    def __init__(self, scene: Scene, lines: Iterable[str], witness: Witness | None = None) -> None:
        self.witness = witness or Witness(scene.program)
        self.path = scene.fresh(scene.root)
        self._report = scene.fresh(scene.root)
        lines = [f"report={self._report}", *lines]
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        self.path.write_bytes(text)
        self._sealed = f"{self.witness.key}\0{hashlib.sha256(text).hexdigest()}\0".encode()

    @classmethod
    def of_attempts(cls, scene: Scene, attempts: Iterable[Attempt], status: int = 0) -> Plan:
        """status: the exit status of the program."""
        lines = [f"root={scene.root}", f"exit={status}"]
        # Several rows may judge one attempt.
        for each in {each.id: each for each in attempts}.values():
            known = {"ws": scene.root, "armed": each.probe, **each.params}
            if each.after_start:
                known["wait"] = scene.marker
            lines += [f"try={each.id}", *(f"{name}={value}" for name, value in known.items())]
        return cls(scene, lines)

    def records(self, stdout: bytes) -> dict[str, Record]:
        """Return the sealed records, by id.

        They are read from the report file and from the output of the command, because a program
        cannot write the report file if the workspace is not writable.
        """
        found: dict[str, Record] = {}
        for text in (_head(self._report), stdout):
            # A command may print millions of other lines, so only lines with a seal are parsed.
            for line in text.splitlines():
                if b'"seal"' in line:
                    found.update(self._record(line.decode("utf-8", "surrogateescape")))
        return found

    def _record(self, line: str) -> Mapping[str, Record]:
        try:
            raw = json.loads(line)
            fields = [raw[name] for name in ("id", "ended", "output")]
            parts = [each.encode("utf-8", "surrogateescape") + b"\0" for each in fields]
            seal = hashlib.sha256(b"".join([self._sealed, *parts])).hexdigest()
            if raw["seal"] != seal:
                return {}
        except (ValueError, TypeError, KeyError, AttributeError):
            return {}
        return {fields[0]: Record(fields[1], ProbeResult.of(parts[2][:-1]), fields[2])}


def _head(path: Path) -> bytes:
    """Return the beginning of the report. If it is not a regular file, it is ignored."""
    return b"" if path.is_symlink() else content(path, REPORT_MOST) or b""
