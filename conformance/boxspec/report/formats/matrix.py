"""The matrix of results: one column per implementation, rows by contract and topic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from boxspec.judge.requirements import contract_of
from boxspec.judge.verdict import BROKEN, ORDER
from boxspec.report.result import Plain, Result

# The kinds of parts of a bar. Each has the name of one verdict of its kind.
KINDS = ("fails", "not-measured", "conforms")
# A longer name is shortened in the head of a narrow column.
SHORT = 28
# A part of a bar that is narrower than this share shows no number.
MIN_SHARE = 0.06


@dataclass(frozen=True)
class Share:
    """A part of a bar: `count` of `of` requirements."""

    count: int
    of: int

    @property
    def wide(self) -> bool:
        return self.count >= MIN_SHARE * self.of


def _kind(verdict: str) -> str:
    if verdict in BROKEN:
        return "fails"
    return "conforms" if verdict == "conforms" else "not-measured"


@dataclass(frozen=True)
class Run:
    """One column of the matrix.

    short: its name in the head of a narrow column. No other column has the same short name.
    slug: its fragment in links, which stays the same in later reports.
    group: the tab of the page in which the column is.
    """

    slug: str
    label: str
    group: str
    result: Result
    short: str = ""

    def verdict(self, name: str) -> str:
        each = self.result.requirements.get(name)
        return str(each["verdict"]) if each else "not asked"

    def broken(self) -> list[str]:
        """Return the broken requirements that the baseline does not accept, in page order."""
        mine = self.result.requirements
        return [
            name for name, each in mine.items() if each["verdict"] in BROKEN and not each["known"]
        ]

    @property
    def role(self) -> str:
        """Return the kind of implementation that the page shows, or an empty text."""
        if self.result.is_control:
            return "control, must fail"
        return {"backends": "sandbox", "peers": "library"}.get(self.group, "")

    def bars(self) -> Iterator[tuple[str, dict[str, Share]]]:
        """Yield each contract with its shares of three kinds: conforming, broken, undecided."""
        for contract in self.result.plain["selection"]["contracts"]:
            mine = [
                str(each["verdict"])
                for each in self.result.plain["requirements"]
                if each["contract"] == contract
            ]
            counts = Counter(_kind(verdict) for verdict in mine)
            yield (
                contract,
                {kind: Share(counts[kind], len(mine)) for kind in KINDS if counts[kind]},
            )

    def is_known(self, name: str) -> bool:
        each = self.result.requirements.get(name)
        return bool(each and each["known"])


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-") or "unnamed"


def runs_of(groups: Mapping[str, Sequence[Result]]) -> list[Run]:
    """Return the columns, with unique slugs and labels.

    Controls come last in their group. If names are equal, the version is added. If the versions are
    equal too, a number is added.
    """
    every = [
        (group, result)
        for group, results in groups.items()
        for result in sorted(results, key=lambda each: each.is_control)
    ]
    labels = _unique([result.name for _, result in every])
    backends = [result.plain["selection"]["backend"] for _, result in every]
    names = [
        f"{result.implementation} {backend or ''}"
        for (_, result), backend in zip(every, backends, strict=True)
    ]
    alike = Counter(slug(name) for name in names)
    slugs = _unique(
        [
            slug(name) if alike[slug(name)] == 1 else slug(label)
            for name, label in zip(names, labels, strict=True)
        ],
        "-",
    )
    shorts = _unique([_shortened(label) for label in labels])
    return [
        Run(f"impl-{own}", label, group, result, short)
        for (group, result), own, label, short in zip(every, slugs, labels, shorts, strict=True)
    ]


def _shortened(text: str) -> str:
    """Return a long name without its middle, because names of versions and backends differ at the
    end."""
    return text if len(text) <= SHORT else f"{text[: SHORT // 2]}…{text[-SHORT // 2 + 1 :]}"


def _unique(names: Sequence[str], sign: str = " #") -> list[str]:
    taken: set[str] = set()
    made = []
    for name in names:
        own, number = name, 2
        while own in taken:
            own, number = f"{name}{sign}{number}", number + 1
        taken.add(own)
        made.append(own)
    return made


@dataclass(frozen=True)
class Matrix:
    """The requirements and the runs of one group."""

    group: str
    runs: list[Run]

    @property
    def prefix(self) -> str:
        """Return a prefix that makes the ids of the group's rows unique.

        In the first tab it is empty.
        """
        return "" if self.group == "requirements" else f"{self.group}."

    def requirements(self) -> dict[str, Plain]:
        """Return the requirements that appear in any run, in the order of the runs."""
        return {name: each for run in self.runs for name, each in run.result.requirements.items()}

    def topics(self) -> Iterator[tuple[str, str, list[Plain]]]:
        """Yield each contract and topic with the requirements of the topic."""
        found: dict[tuple[str, str], list[Plain]] = {}
        order: dict[str, None] = {}
        for name, each in self.requirements().items():
            order.setdefault(contract_of(name))
            found.setdefault((contract_of(name), name.rsplit("-", 1)[0]), []).append(each)
        for contract in order:
            for (mine, topic), rows in found.items():
                if mine == contract:
                    yield contract, topic, sorted(rows, key=lambda each: _number(each["id"]))

    def contracts(self) -> list[str]:
        return list(dict.fromkeys(contract_of(name) for name in self.requirements()))

    def verdicts(self) -> dict[str, int]:
        """Count the cells by verdict, the worst verdict first."""
        count = Counter(run.verdict(name) for run in self.runs for name in self.requirements())
        order = [*map(str, ORDER), "not asked"]
        return {name: count[name] for name in order if count[name]}


def _number(name: str) -> int:
    return int(name.rsplit("-", 1)[1])
