"""A result in its JSON form, which was read from a file or just made by a run.

All outputs are made from this form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_rs import Validator, validator_for

from boxspec.errors import UsageError
from boxspec.judge.failure_block import block_lines
from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requirements import contract_of, load
from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.printable import one_line

SCHEMAS = Path(__file__).with_name("schemas")
# A larger file cannot be a result, because a run of all contracts makes about 5 MB.
MAX_BYTES = 200_000_000
REMEDY = "name a file that `boxspec run --json` of this version wrote"

Plain = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """A result.

    plain: the document, see schemas/result.json.
    requirements, tests: the parts of the document, by id.
    """

    plain: Plain
    requirements: Mapping[str, Plain] = field(repr=False)
    tests: Mapping[str, Plain] = field(repr=False)

    @classmethod
    def of(cls, plain: Plain) -> Result:
        requirements = {each["id"]: each for each in plain["requirements"]}
        return cls(plain, requirements, {each["id"]: each for each in plain["tests"]})

    @property
    def implementation(self) -> str:
        """Return the name of the implementation without its version."""
        implementation = self.plain["target"]["implementation"]
        return one_line(implementation.get("name") or " ".join(self.plain["target"]["argv"]))

    @property
    def name(self) -> str:
        """Return the name of the implementation with its version, and with the backend if one was
        named."""
        implementation = self.plain["target"]["implementation"]
        version = f" {one_line(implementation['version'])}" if implementation.get("version") else ""
        backend = self.plain["selection"]["backend"]
        return f"{self.implementation}{version}" + (f" · {one_line(backend)}" if backend else "")

    @property
    def is_control(self) -> bool:
        """True for a control, in which the suite must find failures."""
        return bool(self.plain["target"]["implementation"].get("control"))

    @property
    def how(self) -> RunFlags:
        """Return the options of the run. Results of older versions of the kit lack some of them."""
        chosen = {each.name: each.default for each in fields(RunFlags)} | self.plain["selection"]
        given = {each.name: chosen[each.name] for each in fields(RunFlags)}
        return RunFlags(**given | {"shim": self.shim})

    def how_to_repeat(self, contract: str) -> RunFlags:
        """Return the options that repeat a test of this contract. The backend that the kit chose is
        named."""
        chosen = self.plain["selection"].get("chosen", {}).get(contract)
        return self.how if self.how.backend or not chosen else replace(self.how, backend=chosen)

    @property
    def started(self) -> str:
        return one_line(self.plain["started"])

    @property
    def words(self) -> str:
        return one_line(self.plain["outcome"]["words"])

    @property
    def status(self) -> int:
        return int(self.plain["outcome"]["status"])

    @property
    def shim(self) -> str | None:
        shim: str | None = self.plain["target"]["shim"]
        return shim

    def profile_of(self, name: str) -> str:
        """Return `contract` or `hardened`, even for a requirement that was not selected."""
        if name in self.requirements:
            return str(self.requirements[name]["profile"])
        return load()[name].profile if name in load() else "contract"

    def suite_of(self, test: Plain) -> str:
        first = test["requirements"][0]
        return f"{contract_of(first)}.{self.profile_of(first)}"

    def is_known(self, test: Plain) -> bool:
        """True if the baseline accepts each requirement that this test broke."""
        mine = [self.requirements.get(name) for name in test["requirements"]]
        broke = [each for each in mine if each and test["id"] in each["failing"]]
        return bool(broke) and all(each["known"] for each in broke)

    def fractions(self, contract: str | None = None) -> list[str]:
        """Return texts such as `contract MUST 114/121 SHOULD 31/34`, one for each profile."""
        counts = self._counts(contract)
        parts = []
        for profile in ("contract", "hardened"):
            shown = []
            for level in ("must", "should", "may"):
                of = counts[profile][level]
                if of["of"] or level == "must":
                    shown.append(f"{level.upper()} {of['conforms']}/{of['of']}")
            parts.append(f"{profile} {' '.join(shown)}")
        return parts

    def _counts(self, contract: str | None) -> Plain:
        summary: Plain = self.plain["summary"]
        counts: Plain = summary if contract is None else summary["contracts"][contract]
        return counts

    def verdicts(self, name: str, contract: str | None = None) -> int:
        return int(self._counts(contract)["verdicts"].get(name, 0))

    def denominators(self) -> str:
        """Return the fractions of each profile, and the counts of the other verdicts."""
        summary = self.plain["summary"]
        parts = self.fractions()
        parts += [f"{name} {self.verdicts(name.replace(' ', '-'))}" for name in UNDECIDED]
        parts.append(f"known {summary['known']}")
        if summary["late"]:
            parts.append(f"late {summary['late']}")
        return " · ".join(parts)

    def facts(self) -> dict[str, str]:
        """Return the facts that can change a verdict, each in one line."""
        host, kit = self.plain["host"], self.plain["kit"]
        commit = f", commit {kit['commit']}" if kit["commit"] else ""
        changed = " with changes" if kit["modified"] else ""
        selection, vectors = self.plain["selection"], self.plain["summary"]["vectors"]
        given = {
            "implementation": self.name,
            "shim": self.shim or f"{' '.join(self.plain['target']['argv'])} (the reference)",
            "host": f"{host['system']} {host['release']} {host['machine']}, {host['cpus']} cpus",
            "user": "root" if host["root"] else "not root",
            "python": host["python"],
            "kit": f"boxspec {kit['version']}{commit}{changed}",
            "spec": self.plain["spec_version"],
            "contracts": " ".join(selection["contracts"]) or "none",
            "not declared": " ".join(selection["not_declared"]) or "none",
            "profile": selection["profile"],
            "backend": selection["backend"]
            or ", ".join(selection.get("chosen", {}).values())
            or "the shim's first",
            "seed": selection["seed"],
            "started": self.started,
            "duration": f"{self.plain['summary']['duration_s']:.1f} s",
            "vectors failed": f"{vectors['failed']} of {vectors['of']}",
            "command": self.plain["command"],
        }
        return {name: one_line(value) for name, value in given.items()}


UNDECIDED = ("not measured", "not applicable")


def block_of(result: Result, test: Plain) -> list[str]:
    """Return the lines of the failure block of a test."""
    names = ("id", "verdict", "what", "expected", "got", "reason", "request", "evidence", "folder")
    given = {name: test[name] for name in names if name in test}
    given["verdict"] = Verdict(given["verdict"])
    record = Record(requirements=list(test["requirements"]), **given)
    return block_lines(record, result.how_to_repeat(contract_of(record.requirements[0])))


def is_failure(test: Plain) -> bool:
    return Verdict(test["verdict"]) in BROKEN


def is_error(test: Plain) -> bool:
    return Verdict(test["verdict"]) is Verdict.HARNESS_ERROR


@cache
def _schema(name: str) -> Validator:
    return validator_for(json.loads((SCHEMAS / name).read_bytes()))


def document(flag: str, name: str) -> Any:
    """Read a JSON file; raise a UsageError that names it."""
    place = f"{flag} {name}".strip()
    try:
        path = Path(name)
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(place, f"is larger than {MAX_BYTES} bytes", REMEDY)
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise UsageError(place, why.strerror or str(why), "check the path") from None
    except (ValueError, RecursionError) as why:
        raise UsageError(place, f"is not valid JSON: {why}", REMEDY) from None


def checked(place: str, plain: Any, schema: str = "result.json") -> Any:
    """Return a valid document; raise a UsageError that names the first violation of the schema."""
    problem = next(iter(_schema(schema).iter_errors(plain)), None)
    if problem is not None:
        where = "/".join(str(part) for part in problem.instance_path) or "top level"
        raise UsageError(place, one_line(f"{where}: {problem.message}"[:300]), REMEDY)
    return plain


def read(name: str, flag: str = "") -> Result:
    return Result.of(checked(f"{flag} {name}".strip(), document(flag, name)))
