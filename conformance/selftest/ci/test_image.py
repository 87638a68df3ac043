"""Tests of ci/image with fake tools that log their arguments: the options, the entry point, and the
page that shows how to use the image.

A whole image is built by hand, because that downloads 100 MB.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, ROOT

TOOL = """\
#!/bin/sh
for word in "$(basename "$0")" "$@"; do printf '%s\\0' "$word"; done >>{log}
printf '\\1' >>{log}
case $* in *oci-archive:*) name=${{*##*oci-archive:}}; echo image >"${{name%%:*}}" ;; esac
"""
FAKES = ("ci/setup", ".venv/bin/python", "bin/mmdebstrap", "bin/buildah")
SECTION = (CONFORMANCE / "judging.md").read_text().split("## Run it in a container\n")[1]
PAGE = SECTION.split("\n## ")[0]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root builds an image")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with ci/image, and fake tools in place of the real ones."""
    for name in FAKES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TOOL.format(log=tmp_path / "log"))
        file.chmod(0o755)
    for name in ("ci/image", "ci/lib.sh", "conformance/boxspec/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def image(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (checkout / "tmp").mkdir(exist_ok=True)
    env = {"PATH": f"{checkout}/bin:/usr/bin:/bin", "TMPDIR": str(checkout / "tmp")}
    argv = [str(checkout / "ci/image"), *words]
    return subprocess.run(argv, env=env, cwd=checkout, capture_output=True, text=True)


def calls(checkout: Path, tool: str) -> list[list[str]]:
    logged = (checkout / "log").read_text().split("\1")[:-1]
    return [words for each in logged if (words := each.split("\0")[:-1])[0] == tool]


@root_only
def test_the_entry_point_is_the_command_of_the_wheel(checkout: Path) -> None:
    done = image(checkout)
    assert done.returncode == 0, done.stderr
    (config,) = [words for words in calls(checkout, "buildah") if "config" in words]
    (entry,) = json.loads(config[config.index("--entrypoint") + 1])
    project = tomllib.loads((CONFORMANCE / "pyproject.toml").read_text())["project"]
    assert [entry] == list(project["scripts"])
    assert f"org.opencontainers.image.version={version()}" in config
    assert list((checkout / "tmp").iterdir()) == []


def version() -> str:
    text = (CONFORMANCE / "boxspec/__init__.py").read_text()
    return str(re.findall(r'^__version__ = "(.*)"$', text, re.M)[0])


@root_only
def test_the_page_loads_the_archive_and_runs_its_image(checkout: Path) -> None:
    assert image(checkout).returncode == 0
    commit = calls(checkout, "buildah")[-1]
    _, archive, name, tag = commit[-1].split(":")
    assert f"podman load --input {Path(archive).relative_to(checkout)}\n" in PAGE
    assert (name, tag) == ("boxspec", "latest")  # podman finds this image without a registry
    runs = re.findall(r"podman run --rm (?:--volume \S+ )?(\S+)", PAGE)
    assert len(runs) == 5
    assert set(runs) == {name}
    (config,) = [words for words in calls(checkout, "buildah") if "config" in words]
    mounted = set(re.findall(r'--volume "\$PWD:(\S+)"', PAGE))
    assert mounted == {config[config.index("--workingdir") + 1]}


@root_only
def test_each_option_has_its_effect(checkout: Path) -> None:
    (checkout / "mine.whl").touch()
    words = ["--wheel", "mine.whl", "--output", "mine.tar", "--mirror", "http://m", "--add", "git"]
    done = image(checkout, *words, "--add", "nodejs")
    assert done.returncode == 0, done.stderr
    assert calls(checkout, "python")[0][-1] == str(checkout / "mine.whl")
    (system,) = calls(checkout, "mmdebstrap")
    assert system[-1] == "http://m"
    (packages,) = [word for word in system if word.startswith("--include=")]
    assert packages.endswith(",git,nodejs")
    assert (checkout / "mine.tar").read_text() == "image\n"


def test_help_error_and_page_name_the_same_options(checkout: Path) -> None:
    shown = image(checkout, "--help")
    refused = image(checkout, "--tag")
    assert (shown.returncode, refused.returncode) == (0, 2)
    options = set(re.findall(r"ci/image +(--\w+)", shown.stdout))
    assert options == set(re.findall(r"--\w+", refused.stderr.split("known:")[1]))
    assert set(re.findall(r"ci/image (--\w+)", PAGE)) <= {*options, "--help"}


@pytest.mark.parametrize("option", ["--wheel", "--output", "--mirror", "--add"])
def test_an_option_without_a_value_is_refused(checkout: Path, option: str) -> None:
    done = image(checkout, option)
    assert (done.returncode, done.stderr) == (2, f"ci/image: {option} needs a value\n")


@pytest.mark.parametrize("tool", ["mmdebstrap", "buildah"])
def test_a_missing_tool_is_named_with_its_package(checkout: Path, tool: str) -> None:
    (checkout / "bin" / tool).unlink()
    for name in ("bash", "dirname", "readlink", "realpath"):
        (checkout / "bin" / name).symlink_to(str(shutil.which(name)))
    env = {"PATH": f"{checkout}/bin"}
    done = subprocess.run(
        [checkout / "bin/bash", checkout / "ci/image"], env=env, capture_output=True, text=True
    )
    assert (done.returncode, f"no {tool}: apt-get install" in done.stderr) == (2, True)
