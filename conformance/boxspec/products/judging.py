"""Run the suite against a product, and store the result so that it can be shown again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from boxspec import folders
from boxspec.errors import UsageError
from boxspec.judge.kit import kit
from boxspec.places import ROOT, case_root, scratch
from boxspec.printable import one_line
from boxspec.products.declared import Product
from boxspec.products.installing import state
from boxspec.random_names import random_name
from boxspec.report.result import Result, read

# After SIGTERM a run may take this long to end the processes that it has started.
SWEEP_S = 60
# Exit statuses of a run that was completed.
SCORED = (0, 1, 3, 4)
Facts = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """Selects the tests that run against each product of a matrix.

    contracts, topics: empty for all that the product declares.
    jobs: how many long tests run at once; None for the default number on this machine.
    """

    contracts: Sequence[str] = ()
    topics: Sequence[str] = ()
    limit_s: float = 1800
    jobs: int | None = None

    def contracts_of(self, product: Product) -> list[str]:
        return [name for name in product.contracts if not self.contracts or name in self.contracts]

    def topics_of(self, product: Product) -> list[str]:
        """Return the topics to run; empty for all.

        Raise UsageError if the product has none of the selected topics.
        """
        if not self.topics or not product.topics:
            return list(self.topics or product.topics)
        found = [name for name in self.topics if name in product.topics]
        if not found:
            raise UsageError(
                product.word, "is not judged by these topics", f"it has {product.topics}"
            )
        return found


@dataclass
class Judged:
    """A product with its result.

    result: None if missing.
    why: the reason if the result is missing or incomplete.
    claims: the answers to the questions that the contract's view asks before the run (view.py).
    """

    product: Product
    version: str = ""
    result: Result | None = None
    why: str = ""
    claims: Facts = field(default_factory=dict)


def run(judged: Judged, question: Question, results: Path) -> None:
    """Run the suite within this time limit. The result file stays in the folder `results`."""
    file = place(results, judged.product)
    file.unlink(missing_ok=True)
    with _folders() as env:
        judged.why = _run(_words(judged.product, question, file), env, question.limit_s)
    if file.exists():
        judged.result = read(str(file))
    else:
        judged.why = judged.why or "no score"


def place(results: Path, product: Product) -> Path:
    return results / f"{product.word.replace(':', '-').replace('/', '-')}.json"


def keep(judged: Judged, question: Question, host: Facts, results: Path) -> None:
    """Store the answer next to its result. An incomplete answer is not stored.

    host: the facts about the host that a verdict depends on.
    """
    if judged.why:
        return
    file = place(results / "columns", judged.product)
    file.parent.mkdir(exist_ok=True)
    asked = _question_facts(judged.product, question, host)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({"asked": asked, "claims": judged.claims}), encoding="utf-8")
    new.replace(file)


def last_result(product: Product, results: Path) -> Judged:
    """Return the last result in the folder `results` without a new run.

    The result may be from any selection of tests.
    """
    file = place(results, product)
    if not file.exists():
        return Judged(product, why=state(product).why or "no result")
    result = read(str(file))
    version = str(result.plain["target"]["implementation"].get("version", ""))
    return Judged(
        product, version, result, claims=_stored_facts(product, results).get("claims", {})
    )


def kept_answer(product: Product, question: Question, host: Facts, results: Path) -> Judged | None:
    """Return the stored answer if it is still valid, else None.

    It is valid if the selection, the kit, the installed version and the host are unchanged. A
    matrix must not mix answers that differ in one of these.
    """
    found = _stored_facts(product, results)
    if found.get("asked") != json.loads(json.dumps(_question_facts(product, question, host))):
        return None
    return last_result(product, results) if place(results, product).exists() else None


def _stored_facts(product: Product, results: Path) -> Facts:
    try:
        found = json.loads(place(results / "columns", product).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _question_facts(product: Product, question: Question, host: Facts) -> Facts:
    chosen = {**asdict(question), "limit_s": None, "jobs": None, "topics": sorted(question.topics)}
    now = {"shim": product.shim(), "version": state(product).version, "kit": kit(), "host": host}
    return {**chosen, **now}


def _words(product: Product, question: Question, file: Path) -> list[str]:
    words = ["run", "--shim", product.shim(), "--profile", "all", "--no-cache"]
    words += ["--json", str(file.absolute())]
    words += ["--backend", product.backend] if product.backend else []
    for name in question.contracts_of(product):
        words += ["--contract", name]
    for name in question.topics_of(product):
        words += ["--topic", name]
    return [*words, "-j", str(question.jobs)] if question.jobs else words


@contextlib.contextmanager
def _folders() -> Iterator[dict[str, str]]:
    """Make folders for temporary files and workspaces, and delete them after the run.

    Files that failing tests keep are deleted too. The command that is shown for a cell creates them
    again.
    """
    # A product sees these paths. They must not show that the product is tested.
    folder = Path(tempfile.mkdtemp(prefix=random_name(), dir=scratch()))
    register = case_root() / "grounds"
    cases = folders.make_registered(case_root().parent, random_name(), register)
    try:
        for each in (folder, cases):
            # Some cases run as another user.
            each.chmod(0o755)
        path = str(ROOT / "conformance")
        places = {"TMPDIR": str(folder), "BOXSPEC_CASE_ROOT": str(cases), "PYTHONPATH": path}
        yield {**os.environ, **places, "PATH": _path()}
    finally:
        for each in (folder, cases):
            folders.delete(each)


def _path() -> str:
    """Return a PATH in which python3 is a program.

    The shim of a product is a script of python3, and is started for each attempt. If python3 is a
    script too, which looks for the chosen version, a fifth of the processor time goes into it.
    """
    path, own = os.environ.get("PATH", os.defpath), Path(sys.base_prefix) / "bin"
    found = shutil.which("python3", path=path)
    with contextlib.suppress(OSError):
        if found and Path(found).read_bytes()[:2] == b"#!" and (own / "python3").exists():
            return f"{own}{os.pathsep}{path}"
    return path


def _run(words: Sequence[str], env: dict[str, str], limit_s: float) -> str:
    """Return the reason why the result is incomplete, or an empty string."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "boxspec", *words],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    try:
        _, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        _end(process)
        return f"the run did not end within {limit_s:g} s"
    except BaseException:
        _end(process)
        raise
    if process.returncode in SCORED:
        return ""
    lines = errors.decode("utf-8", "replace").strip().splitlines() or ["no output"]
    found = [line for line in lines if line.startswith("boxspec: ")] or lines
    return f"no score: {one_line(found[0])}"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=SWEEP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
