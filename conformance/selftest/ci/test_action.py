"""Tests of the GitHub action: its steps run as on a runner, with a fake boxspec that logs its
arguments.

ci/try_templates.py tests a real boxspec; that needs a wheel and a package index.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import ROOT

# A fake python3: `python3 -c` checks the version, `python3 -m venv FOLDER` creates the environment.
PYTHON = """\
#!/bin/sh
case $1 in
-c) exit {too_old} ;;
esac
mkdir -p "$3/bin"
printf '#!/bin/sh\\n' >"$3/bin/pip"
cp {here}/boxspec "$3/bin/boxspec"
chmod +x "$3/bin/pip"
"""
BOXSPEC = """\
#!/bin/sh
printf '%s\\n' "$@" >{here}/asked
[ {status} = 2 ] && echo 'boxspec: --shim ./x: no such file (check the path)' >&2 && exit 2
for word; do
    [ "$before" = --md ] && echo '## told in Markdown' >"$word"
    [ "$before" = --sarif ] && echo '{{}}' >"$word"
    before=$word
done
echo 'does not conform · exit status {status}'
exit {status}
"""
Act = Callable[..., tuple[int, dict[str, str], str]]


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Act:
    """Return a function that runs the action with a fake boxspec; it returns the exit status, the
    outputs and the summary."""
    spec = importlib.util.spec_from_file_location("templates", ROOT / "ci" / "try_templates.py")
    assert spec is not None and spec.loader is not None
    templates: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(templates)
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(
        status: int, too_old: int = 0, uploads: list[Path] | None = None, **given: str
    ) -> tuple[int, dict[str, str], str]:
        for name, text in (("python3", PYTHON), ("boxspec", BOXSPEC)):
            file = tmp_path / name
            file.write_text(text.format(here=tmp_path, status=status, too_old=too_old))
            file.chmod(0o755)
        told = templates.github(place, {"shim": "./my shim", **given}, uploads)
        assert isinstance(told, tuple)
        return told

    return make


def recorded_arguments(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_status_is_that_of_the_run_and_the_summary_is_its_markdown(
    act: Act, status: int
) -> None:
    ended, outputs, summary = act(status)
    assert (ended, outputs["status"]) == (status, str(status))
    assert summary == "## told in Markdown\n"


def test_words_stay_words_and_every_line_counts(act: Act, tmp_path: Path) -> None:
    (tmp_path / "work" / "x").touch()
    act(0, arguments="--topic *\n-k one\n", contract="exec policy", known="a b.toml")
    words = ["run", "--shim", "./my shim", "--topic", "*", "-k", "one"]
    words += ["--contract", "exec", "--contract", "policy", "--known", "a b.toml", "--strict"]
    assert recorded_arguments(tmp_path)[: len(words)] == words


def test_parts_are_joined_instead_of_a_run(act: Act, tmp_path: Path) -> None:
    for number in (1, 2):
        part = tmp_path / "work" / f"part-{number}" / "result.json"
        part.parent.mkdir()
        part.touch()
    assert act(1, join="part-*/result.json", shim="")[0] == 1
    assert recorded_arguments(tmp_path)[:3] == [
        "report",
        "part-1/result.json",
        "part-2/result.json",
    ]
    assert "--shim" not in recorded_arguments(tmp_path)


@pytest.mark.parametrize(("sarif", "count"), [("true", 1), ("false", 0)])
def test_failed_tests_are_uploaded_on_request(act: Act, sarif: str, count: int) -> None:
    uploads: list[Path] = []
    act(1, uploads=uploads, sarif=sarif)
    assert [file.name for file in uploads] == ["result.sarif"] * count


def test_the_summary_says_why_nothing_was_judged(act: Act, tmp_path: Path) -> None:
    (tmp_path / "work" / "boxspec-results").mkdir()
    for name in ("summary.md", "result.json"):
        (tmp_path / "work" / "boxspec-results" / name).write_text("of an earlier step\n")
    ended, outputs, summary = act(2)
    assert (ended, outputs["status"]) == (2, "2")
    assert "no such file (check the path)" in summary and "exit status 2" in summary
    assert "earlier" not in summary
    assert not (tmp_path / "work" / "boxspec-results" / "result.json").exists()


def test_a_full_disk_is_no_verdict(act: Act, tmp_path: Path) -> None:
    results = tmp_path / "work" / "boxspec-results"
    results.mkdir()
    (tmp_path / "tee").write_text("#!/bin/sh\ncat >/dev/null\nexit 1\n")
    (tmp_path / "tee").chmod(0o755)
    (tmp_path / "tail").symlink_to("/bin/true")
    assert act(0)[0] == 0


def test_an_old_python_is_reported_with_the_remedy(
    act: Act, capfd: pytest.CaptureFixture[str]
) -> None:
    assert act(0, too_old=1)[0] == 2
    assert "::error::boxspec needs Python 3.11" in (said := capfd.readouterr().out)
    assert "actions/setup-python" in said
