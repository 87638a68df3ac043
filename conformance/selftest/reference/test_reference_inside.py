"""Tests of the commands `bridge` and `module` of the reference, with a program inside a sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selftest.tools import REFERENCE, ROOT, Done, run

BACKENDS = ["landlock+seccomp", "bubblewrap+seccomp"]


def words_for(backend: str | None) -> list[str]:
    # Partial enforcement is accepted, because Landlock does not enforce each aspect.
    return ["--backend", backend, "--on-unavailable", "degrade"] if backend is not None else []


def tries(outside: Path, then: str) -> str:
    """Return a program that writes to an allowed and to a forbidden path."""
    return f": >mine\n( : >'{outside}' ) 2>/dev/null\n{then}\n"


def bridge(folder: Path, backend: str | None) -> Done:
    root = folder / "root"
    root.mkdir()
    program = tries(folder / "outside", 'read -r line; echo "$line back"; pwd >&2; exit 5')
    words = [*words_for(backend), "--root", str(root)] if backend is not None else []
    return run([REFERENCE, "bridge", *words, "--", "sh", "-c", program], stdin="there\n", cwd=root)


def module(folder: Path, backend: str | None) -> Done:
    place = folder / "extensions" / "tries"
    place.parent.mkdir()
    place.write_text(f"#!/bin/sh\n{tries(folder / 'outside', 'cat')}")
    place.chmod(0o755)
    words = ["--root", str(place.parent), *words_for(backend)]
    return run([REFERENCE, "module", *words, "tries"], stdin='{"a": [1, "there"]}')


@pytest.mark.parametrize("backend", [None, *BACKENDS])
def test_a_bridge_is_inside_the_sandbox_that_is_named(backend: str | None, tmp_path: Path) -> None:
    done = bridge(tmp_path, backend)
    assert (done.returncode, done.stdout) == (5, "there back\n"), done.stderr
    assert done.stderr.splitlines()[-1] == str(tmp_path / "root")
    assert ("not enforced: " in done.stderr) == (backend == "landlock+seccomp")
    assert (tmp_path / "root" / "mine").exists()
    assert (tmp_path / "outside").exists() == (backend is None)


@pytest.mark.parametrize("backend", [None, *BACKENDS])
def test_a_module_is_inside_the_sandbox_that_is_named(backend: str | None, tmp_path: Path) -> None:
    done = module(tmp_path, backend)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"a": [1, "there"]}), done.stderr
    # True if the root of the modules is below a directory that the sandbox replaces.
    lies_in_own = str(tmp_path.resolve()).startswith(("/tmp/", "/dev/"))
    lacks = backend == "landlock+seccomp" or (backend is not None and lies_in_own)
    assert ("not enforced: " in done.stderr) == lacks, done.stderr
    assert (tmp_path / "outside").exists() == (backend is None)


@pytest.mark.parametrize("command", ["bridge", "module"])
def test_partial_enforcement_is_refused(command: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "id").write_text(f"#!/bin/sh\n: >'{mark}'\necho 1\n")
    (tmp_path / "id").chmod(0o755)
    words = [command, "--backend", "landlock", "--root", str(tmp_path)]
    behind = ["--", str(tmp_path / "id")] if command == "bridge" else ["id"]
    done = run([REFERENCE, *words, *behind], stdin="1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "refused by the sandbox: landlock is partial" in done.stderr
    assert not mark.exists()


def test_a_refusal_because_of_a_rule_names_the_options_that_accept_it(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    spec = {"denyRead": ["**/*.key"]}
    policy.write_text(
        json.dumps({"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "p"}, "spec": spec})
    )
    words = [str(REFERENCE), "sandbox", "--root", str(tmp_path), "--policy", str(policy)]
    refused = run([*words, "--", "true"])
    assert refused.returncode == 3
    assert "refused by the sandbox: bubblewrap+seccomp is partial: rules that" in refused.stderr
    for option in (["--accept", "late-names"], ["--on-unavailable", "degrade"]):
        assert " ".join(option) in refused.stderr
        accepted = run([*words, *option, "--", "true"])
        assert accepted.returncode == 0, accepted.stderr


def test_a_policy_is_enforced_in_a_bridge(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret\n")
    (tmp_path / "plain").write_text("plain\n")
    policy = str(ROOT / "fixtures" / "policies" / "docs-only.json")
    words = [*words_for("bubblewrap+seccomp"), "--root", str(tmp_path), "--policy", policy]
    program = "cat plain; cat private/key 2>/dev/null || echo refused"
    done = run([REFERENCE, "bridge", *words, "--", "sh", "-c", program])
    assert (done.returncode, done.stdout) == (0, "plain\nrefused\n"), done.stderr


WRONG = {
    "an option about a sandbox that is not there": (
        ["bridge", "--confine", "read-only", "--", "true"],
        "--confine is about a sandbox: add --backend NAME",
    ),
    "the same of a module": (
        ["module", "--egress", "a:1", "id"],
        "--egress is about a sandbox: add --backend NAME",
    ),
    "a sandbox without a workspace": (
        ["bridge", "--backend", "landlock", "--", "true"],
        "--backend NAME and --root DIR go together",
    ),
    "a workspace without a sandbox": (
        ["bridge", "--root", "/", "--", "true"],
        "--backend NAME and --root DIR go together",
    ),
    "a backend that is not there": (
        ["module", "--backend", "none-such", "id"],
        "--backend none-such: there is no such backend",
    ),
    "a profile without a policy": (
        ["module", "--backend", "landlock", "--profile", "p", "id"],
        "add --policy FILE",
    ),
    "a policy that is not there": (
        ["module", "--backend", "landlock", "--policy", "/no/such/policy.json", "id"],
        "/no/such/policy.json",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_one_line(name: str) -> None:
    words, said = WRONG[name]
    done = run([REFERENCE, *words], stdin="1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert said in done.stderr
