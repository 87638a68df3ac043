"""The view of sandboxes: a matrix of their claims, and of one cell for each attempt."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Sequence

from boxspec.errors import NotConforming, ShimBroke, UsageError
from boxspec.judge.host import host
from boxspec.judge.verdict import Failure, Late, NotApplicable
from boxspec.places import ROOT
from boxspec.products.declared import Product
from boxspec.products.judging import Facts, Judged
from boxspec.products.view import Columns
from boxspec.subject.client.command import REFERENCE, reference_argv, shim_argv
from boxspec.subject.observe.probes import table
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from contracts.backend.client import BackendCase
from contracts.backend.host import landlock_abi, number
from contracts.backend.products import markdown
from contracts.backend.products.cells import TOPICS, Column, cell, without_evidence

PROFILES = ("repo-write", "read-only", "no-network", "full-dev", "ci-only")
# The word for the backends of the reference. If no name follows it, it means all of them.
OWN = "reference"
# A column needs the claims of its backend. The kit asks for them up to three times, because on a
# busy machine the probe of a backend may exceed its own time limit.
TURNS = 3
SYSCTLS = ("user.max_user_namespaces", "kernel.io_uring_disabled", "dev.tty.legacy_tiocsti")
# A matrix shows these facts about a backend, besides its cells. `shim` is left out, because it
# names a folder.
FACTS = ("control", "version", "mechanism", "why", "claims")


class Matrix:
    """The view of sandboxes (see boxspec.products.view.View)."""

    schema = "boxspec-matrix/1"
    topics: Sequence[str] = [*TOPICS]

    def own(self, word: str) -> list[Product]:
        kind, _, backend = word.partition(":")
        return _of_reference(backend) if kind in ("", OWN) else []

    def host(self) -> Facts:
        found = host()
        return {
            **{name: found[name] for name in ("system", "release", "machine", "root")},
            "distribution": platform.freedesktop_os_release().get("PRETTY_NAME", "?"),
            "landlock_abi": landlock_abi(),
            **{name: number(f"/proc/sys/{name.replace('.', '/')}") for name in SYSCTLS},
        }

    def ask(self, judged: Judged) -> None:
        for turn in range(TURNS):
            try:
                _ask_claims(judged)
                break
            except (NotConforming, ShimBroke, Failure, Late) as why:
                if turn == TURNS - 1 or not isinstance(why, Failure | Late):
                    judged.why = f"its claims cannot be asked: {why}"
                    return
        first = judged.claims["profiles"]["repo-write"]
        if first["overall"] == "unavailable":
            reasons = first["aspects"]["fs-write"].get("reasons", [])
            judged.why = f"unavailable here: {'; '.join(reasons)}"

    def plain(self, found: Sequence[Judged]) -> Facts:
        columns = [each.to_json() for each in _all_columns(found)]
        return {"schema": self.schema, "host": self.host(), "backends": columns}

    def columns(self, plain: Facts) -> Columns:
        return {
            each["name"]: (
                {name: each.get(name) for name in FACTS},
                {one["test"]: {"state": one["state"], "saw": one["saw"]} for one in each["cells"]},
            )
            for each in plain["backends"]
        }

    def page(self, command: str, found: Sequence[Judged]) -> str:
        return markdown.render(command, self.host(), _all_columns(found))

    def lines(self, found: Sequence[Judged]) -> Iterator[str]:
        return markdown.summary(_all_columns(found))


def _all_columns(found: Sequence[Judged]) -> list[Column]:
    columns = [column(each) for each in found]
    without_evidence(columns)
    return columns


def column(judged: Judged) -> Column:
    """Make the column of a backend from its claims and the result of its run."""
    product = judged.product
    made = Column(
        name=product.word,
        control=product.control,
        shim=product.shim(),
        backend=product.backend,
        version=judged.claims.get("version", ""),
        mechanism=judged.claims.get("mechanism", ""),
        why=judged.why,
        claims=judged.claims.get("profiles", {}),
    )
    if judged.result is not None:
        made.kit = judged.result.plain["kit"]
        known = table()
        tests = judged.result.plain["tests"]
        cells = [cell(test, known, made.shim, made.backend) for test in tests]
        made.cells = sorted(cells, key=lambda each: each.test)
    return made


def _ask_claims(judged: Judged) -> None:
    product, profiles = judged.product, {}
    session = Session(shim_argv(_absolute(product)), backend=product.backend)
    try:
        trust(session, contracts=[])
        said = session.hello["implementation"]
        case = BackendCase(session, "matrix")
        try:
            mechanism = "+".join(case.backend.mechanism(product.backend))
            for profile in PROFILES:
                try:
                    profiles[profile] = case.backend.probe(profile).result
                except NotApplicable:
                    continue
                if profiles[profile]["overall"] == "unavailable":
                    # No second try: each try takes long, and the backend does not start.
                    break
        finally:
            case.close(keep=False)
    finally:
        session.close()
    version = f"{said['name']} {said['version']}"
    judged.claims = {"version": version, "mechanism": mechanism, "profiles": profiles}


def _absolute(product: Product) -> str:
    return shlex.join(product.argv(product.run))


def _of_reference(backend: str) -> list[Product]:
    """Return one backend of the reference, or all that confine programs."""
    session = Session(reference_argv())
    try:
        trust(session, contracts=[])
        known = [name for name in session.hello.get("backends", {}) if name != "none"]
        version = session.hello["implementation"]["version"]
    finally:
        session.close()
    if backend and backend not in known:
        raise UsageError(f"{OWN}:{backend}", "no such backend", f"known: {', '.join(known)}")
    shim = str(REFERENCE)
    if REFERENCE.is_relative_to(ROOT):
        shim = f"{{root}}/{REFERENCE.relative_to(ROOT)}"
    return [
        Product(
            word=f"{OWN}:{name}",
            here=ROOT,
            name=name,
            about="a backend of the reference",
            documents="reference/README.md",
            contracts=["backend"],
            run=[shim],
            version=["echo", version],
            backend=name,
        )
        for name in ([backend] if backend else known)
    ]
