"""Build the driver with the flags of the release preset, and make the lists of rules and paths.

The build folder is separate. So the figures belong to the current sources, and no other build
changes.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.figures import CouldNotRun

POLICY = Path(__file__).resolve().parent.parent
ROOT = POLICY.parents[2]
TOOLS = ("cmake", "ninja", "g++", "pkg-config")
LIBRARIES = {"re2": "libre2-dev", "libpcre2-8": "libpcre2-dev", "yaml-0.1": "libyaml-dev"}


@dataclass(frozen=True)
class Built:
    driver: Path
    program: Path  # path of boxspec-ref
    seeds: Path

    def seed(self, name: str) -> str:
        return str(self.seeds / name)


def _quietly(argv: Sequence[str | Path], what: str) -> None:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise CouldNotRun(f"{what} failed:\n{tail}")


def _require_packages() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if "pkg-config" not in missing:
        missing += [
            package
            for library, package in LIBRARIES.items()
            if subprocess.run(["pkg-config", "--exists", library], check=False).returncode != 0
        ]
    if missing:
        raise CouldNotRun(f"missing: {' '.join(missing)}; ci/setup --bench installs them")


def build(folder: Path) -> Built:
    _require_packages()
    options = ["-DBOXSPEC_TESTS=OFF", "-DBOXSPEC_BENCH_POLICY=ON"]
    _quietly(["cmake", "--preset", "release", "-B", folder, *options], "cmake")
    targets = ["boxspec-bench-policy", "boxspec-ref"]
    _quietly(["cmake", "--build", folder, "--target", *targets], "the build")
    seeds = folder / "policy-seeds"
    _quietly([sys.executable, POLICY / "seeds/expand.py", seeds], "expanding the seeds")
    return Built(
        folder / "reference/bench/policy/boxspec-bench-policy",
        folder / "reference/boxspec-ref",
        seeds,
    )
