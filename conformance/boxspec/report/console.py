"""What a person sees: host facts, progress, failures by requirement, the denominators."""

from __future__ import annotations

from typing import TextIO

from boxspec.judge.block import failure_block
from boxspec.judge.record import Record
from boxspec.judge.results import Judged, Tree, host
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.terminal import Terminal

# So many failing tests of one requirement are shown in full; the result file has them all.
BLOCKS = 3


class Console(Terminal):
    """What a run says, in order."""

    def __init__(self, out: TextIO | None = None, *, verbose: bool = False) -> None:
        super().__init__(out)
        self.verbose = verbose

    def header(self, argv: list[str], default: bool) -> None:
        facts = host()
        who = "as root" if facts["root"] else "not as root"
        self.write(
            f"boxspec · {facts['system']} {facts['release']} {facts['machine']}"
            f" · {facts['cpus']} cpus · Python {facts['python']} · {who}"
        )
        claim = " (the reference, no --shim was given)" if default else ""
        self.write(f"shim      {' '.join(argv)}{claim}")

    def progress(self, done: int, of: int, broken: int, name: str) -> None:
        if not self.verbose:
            bad = f" · {broken} not conforming" if broken else ""
            self.status(f"{done}/{of}{bad} · {name.rpartition('::')[2]}")

    def test(self, record: Record) -> None:
        """One line a test, in verbose runs."""
        if self.verbose:
            place = f"  {record.folder}" if record.folder else ""
            self.write(f"{record.verdict:<15}{record.seconds:7.2f} s  {record.id}{place}")

    def result(self, tree: Tree) -> None:
        self.clear()
        said = tree.hello.get("implementation", {})
        language = f", {said['language']}" if said.get("language") else ""
        self.write(f"target    {tree.name}{language}")
        if tree.not_declared:
            self.write(f"not declared: {', '.join(tree.not_declared)}")
        for judged in tree.judged:
            if judged.verdict in BROKEN or judged.verdict is Verdict.HARNESS_ERROR:
                self._failure(judged, tree.shim)
        for verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE):
            for judged in tree.judged:
                if judged.verdict is verdict:
                    self.write(f"{verdict}  {judged.requirement.id}: {judged.reason}")
        for judged in tree.judged:
            if judged.verdict is Verdict.CONFORMS:
                for reason in dict.fromkeys(each.reason for each in judged.records if each.reason):
                    self.write(f"conforms  {judged.requirement.id}: {reason}")
        for line in tree.stale:
            self.write(f"stale baseline  {line}")

    def _failure(self, judged: Judged, shim: str | None) -> None:
        records = [r for r in judged.records if r.verdict is not Verdict.CONFORMS]
        bad = [r for r in records if r.verdict in BROKEN or r.verdict is Verdict.HARNESS_ERROR]
        self.write()
        for index, record in enumerate(bad[:BLOCKS]):
            head, _, rest = failure_block(record, shim, judged.requirement.id).partition("\n")
            if index == 0:
                self.write(self.paint(head, "33" if judged.known else "1;31"))
            self.write(rest)
        if len(bad) > BLOCKS:
            self.write(f"  and {len(bad) - BLOCKS} more: " + ", ".join(r.id for r in bad[BLOCKS:]))

    def closing(self, tree: Tree, why_incomplete: str | None) -> None:
        self.write()
        if why_incomplete:
            self.write(self.paint(f"incomplete: {why_incomplete}", "33"))
        if len(tree.contracts) > 1:
            for contract in tree.contracts:
                self.write(f"{contract:<9} {' · '.join(fractions(tree, contract))}")
        self.write(self.paint(denominators(tree), "1"))


def fractions(tree: Tree, contract: str | None = None) -> list[str]:
    """`contract MUST 114/121 SHOULD 31/34` and the same for hardened; of one contract or of all."""
    parts = []
    for profile in ("contract", "hardened"):
        shown = []
        for level in ("MUST", "SHOULD", "MAY"):
            conforms, of = tree.of(profile, level, contract)
            if of or level == "MUST":
                shown.append(f"{level} {conforms}/{of}")
        parts.append(f"{profile} {' '.join(shown)}")
    return parts


def denominators(tree: Tree) -> str:
    parts = fractions(tree)
    parts.append(f"not measured {tree.count(Verdict.NOT_MEASURED)}")
    parts.append(f"not applicable {tree.count(Verdict.NOT_APPLICABLE)}")
    parts.append(f"known {tree.known}")
    return " · ".join(parts)
