"""Tests of products that only seem to let attempts out: they have private copies or mounts, which a
program may change, or grant less than a profile."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, boxspec

pytestmark = pytest.mark.turns(6)

SHIM = CONFORMANCE / "shims" / "products" / "shim.py"
# This product gives each command private copies of the files, because several commands run at once.
COPIES = """
from products.adapter import EVERYTHING, FULLY, Adapter

LINE = '''
folder=$1/$$; root=$0; shift
mkdir "$folder" && cp -a "$root" "$folder/ws" && cp /etc/passwd "$folder/passwd" || exit 9
bwrap --dev-bind / / --bind "$folder/ws" "$root" --bind "$folder/passwd" /etc/passwd -- "$@"
code=$?; rm -rf "$folder"; exit $code
'''

class Product(Adapter):
    program = "bwrap"
    claims = EVERYTHING

    def command(self, argv, asked):
        return ["/bin/sh", "-c", LINE, asked.root, FOLDER, *argv]
"""


def verdicts(folder: Path, text: str, topic: str, chosen: str) -> dict[str, str]:
    product = folder / "product.py"
    product.write_text(text)
    out = folder / "result.json"
    words = ["run", "--shim", f"{SHIM} {product}", "--contract", "backend", "--profile", "all"]
    words += ["--topic", topic, "-k", chosen, "--json", str(out)]
    done = boxspec(*words)
    assert out.exists(), done.stderr
    tests = json.loads(out.read_text())["tests"]
    named = {test["id"].partition("::")[2]: test["verdict"] for test in tests}
    return {name.partition("[")[2].rstrip("]") or name: said for name, said in named.items()}


FILES = ("BACKEND-WRITE", "w_ws or w_etc")
PROBES = ("w_ws", "w_ws_change", "w_ws_unlink", "w_etc")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bwrap")
@pytest.mark.turns(6)
def test_a_change_of_a_copy_is_no_change_outside(tmp_path: Path) -> None:
    text = COPIES.replace("FOLDER", repr(str(tmp_path)))
    assert verdicts(tmp_path, text, *FILES) == dict.fromkeys(PROBES, "conforms")


@pytest.mark.turns(6)
def test_a_change_of_the_original_is_a_change_outside(tmp_path: Path) -> None:
    bare = COPIES.replace('["/bin/sh", "-c", LINE, asked.root, FOLDER, *argv]', "argv")
    assert verdicts(tmp_path, bare, *FILES) == dict.fromkeys(PROBES, "contradiction")


# A product that keeps root's capabilities in its own mount namespace, and does not claim the aspect
# kernel.
MOUNTS = """
from products.adapter import FULLY, Adapter

class Product(Adapter):
    program = "bwrap"
    claims = {"fs-write": FULLY}

    def command(self, argv, asked):
        words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", asked.root, asked.root]
        return [*words, "--cap-add", "ALL", "--", *argv]
"""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bwrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="bwrap keeps no rights for who is not root")
@pytest.mark.turns(6)
def test_a_mount_in_mounts_of_its_own_is_no_write_outside(tmp_path: Path) -> None:
    names = ("k_mount_tmpfs", "k_mount_proc", "k_chroot")
    found = verdicts(tmp_path, MOUNTS, "BACKEND-KERNEL", " or ".join(names))
    assert found == dict.fromkeys(names, "not-applicable")


# A product that grants neither the network nor directories outside the root, even if the profile
# does.
NARROW = """
from products.adapter import EVERYTHING, Adapter

class Product(Adapter):
    program = "bwrap"
    claims = EVERYTHING
    lacks = LACKS

    def command(self, argv, asked):
        words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", asked.root, asked.root]
        return [*words, "--unshare-net", "--", *argv]
"""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bwrap")
@pytest.mark.parametrize(
    ("lacks", "verdict"),
    [(("open network", "cache"), "not-applicable"), ((), "overrefused")],
    ids=["told", "not told"],
)
@pytest.mark.turns(6)
def test_declared_lacks_of_a_product_are_not_tested(
    tmp_path: Path, lacks: tuple[str, ...], verdict: str
) -> None:
    text = NARROW.replace("LACKS", repr(lacks))
    found = verdicts(tmp_path, text, "BACKEND-ALLOW", "open_network or cache_of")
    assert set(found.values()) == {verdict}
    assert {*found} == {"test_an_open_network_is_open", "None", "the cache", "the home"}


def test_the_callers_stdin_reaches_the_program_of_a_product() -> None:
    words = ["run", "--shim", f"{SHIM} none", "--backend", "none", "--contract", "backend"]
    done = boxspec(*words, "--profile", "all", "BACKEND-LAUNCH-08")
    assert done.returncode == 0, done.stdout
