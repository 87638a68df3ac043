"""A compiled text: its bytes, and the decisions of the evaluator about it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from boxspec.judge.expect import shown
from boxspec.judge.verdict import Blocked, Failure, Verdict
from boxspec.subject.client.b64 import Word, raw, unb64
from boxspec.subject.observed import Answer
from contracts.sbpl.seatbelt import operations
from contracts.sbpl.seatbelt.decide import Decider, Decision, Outcome
from contracts.sbpl.seatbelt.filters import NOTHING, Filter, Gap, Matching, Subject
from contracts.sbpl.seatbelt.forms import Profile, load
from contracts.sbpl.seatbelt.reader import Undecidable, Unreadable
from contracts.sbpl.seatbelt.regexes import Regex

UNLINK = "file-write-unlink"
WRITES = operations.leaves("file-write*")
CHANGES = tuple(name for name in WRITES if name != UNLINK)
READS = operations.leaves("file-read*")
# In most tests one operation is enough for all operations of its kind. Some tests are about single
# operations.
WRITE, READ = ("file-write-data",), ("file-read-data",)

SHOWN_LINES = 60


class Text:
    """The text of an answer. A test fails if one of its questions about the text is undecidable."""

    def __init__(self, data: bytes, root: Word = "/", unguarded: list[str] | None = None) -> None:
        self.data, self.root, self.unguarded = data, raw(root), unguarded
        try:
            self.profile: Profile = load(data)
        except Undecidable as why:
            raise Blocked(
                [named_by([])], f"line {why.line}: {why.words} is not known here"
            ) from None
        except Unreadable as why:
            raise Failure(
                "the text reads back",
                "a profile of the language that is known",
                f"line {why.line}: {why.words} ({why.kind})",
                self.evidence(),
                symptom=f"the text reads back: {why.words}",
            ) from None
        self.decider = Decider(self.profile)

    @staticmethod
    def of(answer: Answer, root: Word) -> Text:
        if answer.raw is not None and "error" in answer.raw:
            raise Failure(
                "the setup compiles",
                "a text",
                shown(answer.raw["error"]),
                verdict=Verdict.OVERREFUSED,
            )
        return Text(bytes_of(answer), root, answer.result.get("unguarded"))

    def evidence(self) -> dict[str, Any]:
        lines = self.data.decode("utf-8", "backslashreplace").splitlines()
        return {"text": [f"{number} {line}" for number, line in enumerate(lines, 1)][:SHOWN_LINES]}

    def under(self, name: Word) -> bytes:
        """Return the path for a name.

        `.` is the root. A name with a leading slash is absolute, any other name is below the root.
        """
        path = raw(name)
        if path.startswith(b"/"):
            return path
        return self.root if path == b"." else self.root.rstrip(b"/") + b"/" + path

    def regexes(self) -> list[Regex]:
        """Return all regular expressions in the text."""
        parts = [part for each in self._filters() for part in each.parts()]
        return [regex for part in parts if isinstance(part, Matching) for regex in part.regexes]

    def gaps(self) -> list[Gap]:
        """Return all unknown forms in the text."""
        return [gap for each in self._filters() for gap in each.unknown()]

    def _filters(self) -> list[Filter]:
        return [each.filter for each in self.profile.clauses if each.filter is not None]

    def decisions(self, names: Iterable[str], path: Word | None = None) -> dict[str, Decision]:
        subject = NOTHING if path is None else Subject(self.under(path))
        return self.decider.decide_all(names, subject)

    def allows(self, name: str, path: Word | None = None) -> bool:
        return self.decided(name, path, self.decisions([name], path)[name])

    def allows_call(self, policy: bytes, number: int) -> bool:
        """True if the text allows a call to a policy module of the kernel."""
        name = "system-mac-syscall"
        decision = self.decider.decide(name, Subject(policy=policy, call=number))
        return self.decided(name, policy, decision)

    def decided(self, name: str, path: Word | None, decision: Decision) -> bool:
        if decision.outcome in (Outcome.ALLOW, Outcome.DENY):
            return decision.allowed
        if decision.gaps and not any(gap.malformed for gap in decision.gaps):
            raise Blocked([named_by(decision.gaps)], decision.why)
        raise Failure(
            f"the decision about {name} {shown(path) if path is not None else ''}".strip(),
            "allow or deny",
            f"{decision.outcome}: {decision.why}",
            {"clauses": clauses(decision), **self.evidence()},
        )

    def expect(self, what: str, wanted: Mapping[Any, bool], names: Iterable[str] = WRITE) -> None:
        """Fail unless the decisions about all paths are as wanted, for each of the operations."""
        wrong = []
        blocked: Blocked | None = None
        for path, allowed in wanted.items():
            for name, decision in self.decisions(names, path).items():
                try:
                    if self.decided(name, path, decision) is not allowed:
                        wrong.append((path, name, decision))
                except Blocked as why:
                    blocked = blocked or why
        if wrong:
            self._fail(what, wanted, wrong)
        if blocked:
            raise blocked

    def _fail(
        self, what: str, wanted: Mapping[Any, bool], wrong: list[tuple[Any, str, Decision]]
    ) -> None:
        path, name, decision = min(wrong, key=lambda each: len(os.fsencode(each[0])))
        paths = list(dict.fromkeys(str(each[0]) for each in wrong))
        wide = any(each[2].allowed for each in wrong)
        raise Failure(
            f"{what}: {name} {shown(path)}",
            "allow" if wanted[path] else "deny",
            str(decision.outcome),
            {
                "decides": clauses(decision),
                "wrong": f"{len(paths)} of {len(wanted)} paths: {', '.join(paths[:12])}",
                **self.evidence(),
            },
            Verdict.FAILS if wide else Verdict.OVERREFUSED,
        )


def named_by(gaps: Iterable[Gap]) -> str:
    """Return the requirement that these unknown forms break."""
    return "SBPL-FILTER-07" if any(gap.dialect for gap in gaps) else "SBPL-FORM-04"


def bytes_of(answer: Answer) -> bytes:
    result = answer.result
    return unb64(result["text_b64"]) if "text_b64" in result else raw(result["text"])


def clauses(decision: Decision) -> str:
    """Return a text with the clause that decides in each reading."""
    deciding = dict.fromkeys(
        f"line {each.clause.line}: {each.clause}" if each.clause else "no clause"
        for each in (decision.last, decision.specific)
    )
    return "; ".join(deciding)


def both(yes: Iterable[Word], no: Iterable[Word]) -> dict[Word, bool]:
    """Return one mapping for paths that are allowed and paths that are denied. A test needs
    both."""
    return {**dict.fromkeys(yes, True), **dict.fromkeys(no, False)}
