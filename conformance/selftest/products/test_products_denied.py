"""Tests that an adapter gives the rules of a policy to its product, and reports the rules that it
cannot give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts.shared.documents import one_profile
from selftest.tools import CONFORMANCE, ROOT, ask

SHIM = ROOT / "conformance" / "shims" / "products" / "shim.py"
# This product prints the paths of the rules in place of a program's output.
PRINTS = """\
from products.adapter import EVERYTHING, Adapter


class Product(Adapter):
    program = "env"
    claims = EVERYTHING
    denies = frozenset({denies})
    special = "["

    def version(self):
        return "1"

    def command(self, argv, asked):
        if argv == ["/bin/true"]:
            return argv
        return ["/bin/echo", *asked.read_only, "/", *asked.hidden, "/", *asked.writable]
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    for name in ("a/kept", "a/b/kept", "own/file", "secret/key", "secret/more/key", "free"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).touch()
    (made / "link").symlink_to("secret")
    return made.resolve()


def _session(folder: Path, root: Path, denies: str = '{"modify", "read"}', **rules: Any) -> Any:
    file = folder / "mine.py"
    file.write_text(PRINTS.replace("{denies}", denies))
    message = {
        "id": "1",
        "op": "backend.run",
        "backend": "mine",
        "context": {
            "root": str(root),
            "profile": "repo-write",
            "policy": {**one_profile(**rules), "fs_profile": "p"},
        },
        "on_unavailable": "degrade",
        "calls": [{"request": {"program": "/bin/echo", "args": []}}],
    }
    return ask([SHIM, file], message, folder)


def _passed(answer: Any) -> list[list[str]]:
    """Return the paths that the product got: denied to change, denied to read, writable."""
    words = answer["result"]["calls"][0]["result"]["stdout"].split()
    first = words.index("/")
    second = words.index("/", first + 1)
    return [words[:first], words[first + 1 : second], words[second + 1 :]]


def test_a_product_gets_the_paths_that_exist(tmp_path: Path, workspace: Path) -> None:
    answer = _session(
        tmp_path, workspace, deny_modify=("**/kept",), deny_read=("secret", "secret/**")
    )
    assert _passed(answer) == [
        [f"{workspace}/a/b/kept", f"{workspace}/a/kept"],
        [f"{workspace}/secret"],
        [str(workspace)],
    ]


def test_a_product_gets_only_the_folders_that_a_profile_grants(
    tmp_path: Path, workspace: Path
) -> None:
    answer = _session(tmp_path, workspace, modify=("own/**", "link/**"))
    assert _passed(answer)[2] == [f"{workspace}/own"]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("**/*.key", "exist at the start"),
        ("late/name", "it is missing"),
        ("link", "it is a link"),
        ("link/key", "it is a link"),
    ],
)
def test_a_rule_that_cannot_be_passed_on_makes_its_aspect_partial(
    tmp_path: Path, workspace: Path, rule: str, why: str
) -> None:
    result = _session(tmp_path, workspace, deny_modify=(rule,))["result"]
    (named,) = [each for each in result["not_enforced"] if each["rule"] == rule]
    assert why in named["why"]
    assert result["enforcement"] == "partial"


def test_a_path_that_the_product_would_misread_is_left_out(tmp_path: Path, workspace: Path) -> None:
    (workspace / "secret" / "a[1]").touch()
    answer = _session(tmp_path, workspace, deny_modify=("secret/*",))
    assert _passed(answer)[0] == [f"{workspace}/secret/key", f"{workspace}/secret/more"]
    whys = [each["why"] for each in answer["result"]["not_enforced"]]
    assert any("secret/a[1]" in why for why in whys), whys


def test_a_product_without_denies_of_reading_claims_none(tmp_path: Path, workspace: Path) -> None:
    answer = _session(tmp_path, workspace, '{"modify"}', deny_read=("secret", "secret/**"))
    rules = {each["rule"] for each in answer["result"]["not_enforced"]}
    assert rules == {"secret", "secret/**"}
    assert answer["result"]["enforcement"] == "partial"


def test_a_product_without_denies_refuses_a_policy(tmp_path: Path, workspace: Path) -> None:
    answer = _session(tmp_path, workspace, "()", deny_read=("secret",))
    assert answer["unsupported"]["capability"] == "backend.policy"


def test_each_adapter_that_denies_passes_the_paths_on() -> None:
    for file in (CONFORMANCE / "shims" / "products" / "sandboxes").glob("*.py"):
        text = file.read_text()
        for line in (line for line in text.splitlines() if "denies =" in line):
            assert ("modify" in line) == ("asked.read_only" in text), file.name
            assert ("read" in line) == ("asked.hidden" in text), file.name
