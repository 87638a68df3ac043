"""Run the GitHub action and the GitLab template locally, as their runners run them.

    .venv/bin/python ci/try_templates.py WHEEL

Each template judges two shims, in separate folders: one that conforms in the tested part and one
that does not. The script checks what the runner would use: status, outputs, artifacts. It needs a
package index.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

CI = Path(__file__).resolve().parent
TEMPLATE = CI.parent / "conformance" / "shims" / "templates" / "exec" / "python" / "shim.py"


# The condition of the step that uploads; the runner evaluates it in its own language.
UPLOADS = (
    "${{ !cancelled() && inputs.sarif == 'true'"
    " && hashFiles(format('{0}/result.sarif', inputs.results)) != '' }}"
)


def script(text: str, folder: Path, env: Mapping[str, str], *shell: str) -> int:
    """Run a step's script as a file, with the runner's shell."""
    file = folder / ".step"
    file.write_text(text)
    return subprocess.run([*shell, file], cwd=folder, env=env).returncode


def github(
    folder: Path, given: Mapping[str, str], uploads: list[Path] | None = None
) -> tuple[int, dict[str, str], str]:
    """Return the status of a composite action, its outputs, and the step summary.

    Files that the action would upload to code scanning are added to `uploads`.
    """
    action = yaml.safe_load((CI / "action" / "action.yml").read_text())
    unknown = given.keys() - action["inputs"].keys()
    assert not unknown, f"inputs that the action does not have: {unknown}"
    inputs = action["inputs"].items()
    context = {f"inputs.{name}": str(of.get("default", "")) for name, of in inputs}
    context |= {f"inputs.{name}": value for name, value in given.items()}
    # Outputs of a step that did not run are empty.
    context |= {of["value"].strip("${} "): "" for of in action["outputs"].values()} | context
    context |= {"github.action_path": str(CI / "action"), "runner.temp": str(folder / "temp")}
    (folder / "temp").mkdir()
    files = {name: folder / "temp" / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.touch()
    status = 0
    for step in action["runs"]["steps"]:
        if "uses" in step:
            file = folder / evaluated(step["with"]["sarif_file"], context)
            assert step["if"] == UPLOADS, "an expression that is not known here"
            if uploads is not None and context["inputs.sarif"] == "true" and file.exists():
                uploads.append(file)
            continue
        if status:
            continue
        env = {name: evaluated(text, context) for name, text in step.get("env", {}).items()}
        env = {**os.environ, "CI": "true", **{name: str(f) for name, f in files.items()}, **env}
        assert "${{" not in step["run"], "an expression inside of a script is code in it"
        words = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
        assert step["shell"] == "bash"
        status = script(step["run"], folder, env, *words)
        if "id" in step:
            written = dict(
                line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().split()
            )
            context |= {
                f"steps.{step['id']}.outputs.{name}": text for name, text in written.items()
            }
    outputs = {name: evaluated(of["value"], context) for name, of in action["outputs"].items()}
    return status, outputs, files["GITHUB_STEP_SUMMARY"].read_text()


def evaluated(text: str, context: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{\s*([\w.]+)\s*\}\}", lambda found: context[found[1]], str(text))


def gitlab(
    folder: Path, given: Mapping[str, str], name: str = ".boxspec", part: str = ""
) -> tuple[int, list[Path]]:
    """Return the status of a job, and its artifact files. part: K/N of a job with `parallel: N`."""
    template = yaml.safe_load((CI / "templates" / "gitlab" / "boxspec.yml").read_text())
    job: dict[str, Any] = template[".boxspec"] | template[name]
    unknown = given.keys() - job["variables"].keys()
    assert not unknown, f"variables that the template does not have: {unknown}"
    variables = {**job["variables"], **given}
    if part:
        number, _, of = part.partition("/")
        variables |= {"CI_NODE_INDEX": number, "CI_NODE_TOTAL": of}
    # The runner joins both lists into one script, which ends at the first failing line.
    text = "set -eo pipefail\n" + "\n".join([*job["before_script"], *job["script"]])
    status = script(text, folder, {**os.environ, "CI": "true", **variables}, "bash")
    artifacts = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    names = [re.sub(r"\$(\w+)", lambda found: variables[found[1]], name) for name in artifacts]
    missing = [name for name in names if not (folder / name).exists()]
    assert not missing, f"artifacts that are not there: {missing}"
    return status, [folder / name for name in names]


RESULTS = "boxspec-results"
BROKEN: tuple[list[str], ...] = ([], ["EXEC-RESULT-01", "EXEC-RESULT-02", "EXEC-RESULT-03"])


def shims(folder: Path) -> None:
    """Write the template unchanged, and one that reports every exit as a success."""
    text = TEMPLATE.read_text()
    lie = text.replace('"success": code == 0,', '"success": code is not None,')
    assert lie != text
    for name, words in (("good.py", text), ("bad.py", lie)):
        (folder / name).write_text(words)
        (folder / name).chmod(0o755)


def expect(what: str, expected: object, got: object) -> None:
    print(f"{'ok  ' if expected == got else 'FAIL'} {what}: {got!r}", flush=True)
    if expected != got:
        raise SystemExit(1)


def broken(results: Path) -> list[str]:
    """Return the requirements that fail according to the files that a runner collects."""
    tree = json.loads((results / "result.json").read_text())
    ElementTree.parse(results / "junit.xml")
    return sorted(each["id"] for each in tree["requirements"] if each["verdict"] == "fails")


# A topic whose requirements a shim around subprocess.run meets.
PART = "--topic EXEC-RESULT"


def main(wheel: str) -> None:
    for number, (status, shim) in enumerate([(0, "./good.py"), (1, "./bad.py")]):
        with tempfile.TemporaryDirectory(prefix="boxspec-templates-") as name:
            hub, lab = Path(name, "github"), Path(name, "gitlab")
            for folder in (hub, lab):
                folder.mkdir()
                shims(folder)
            profile = {"profile": "contract", "package": wheel, "arguments": PART}
            ended, outputs, summary = github(hub, {"shim": shim, **profile})
            expect("GitHub, status of the action", status, ended)
            expect("GitHub, its outputs", {"status": str(status), "results": RESULTS}, outputs)
            expect("GitHub, what is broken", BROKEN[number], broken(hub / RESULTS))
            expect(
                "GitHub, whether the summary names the failure",
                True,
                f"exit status {status}" in summary,
            )
            given = {"BOXSPEC_SHIM": shim, "BOXSPEC_PACKAGE": wheel, "BOXSPEC_ARGUMENTS": PART}
            ended, artifacts = gitlab(lab, given)
            expect("GitLab, status of the job", status, ended)
            expect("GitLab, what is broken", BROKEN[number], broken(artifacts[0]))
            in_parts(Path(name), number, status, {"shim": shim, "package": wheel})


def in_parts(folder: Path, number: int, status: int, given: Mapping[str, str]) -> None:
    """Run both templates in two parts, and join the results."""
    hub, lab = folder / "parts", folder / "parallel"
    for each in (hub, lab):
        each.mkdir()
        shims(each)
    for part in ("1", "2"):
        words = {"arguments": f"{PART} --shard {part}/2", "results": f"part-{part}"}
        github(hub, {**given, **words})
        shutil.rmtree(hub / "temp")
    uploads: list[Path] = []
    join = {"join": "part-*/result.json", "sarif": "true", "package": given["package"]}
    ended, _, _ = github(hub, join, uploads)
    expect("GitHub, status of the joined parts", status, ended)
    expect("GitHub, what is broken in the joined parts", BROKEN[number], broken(hub / RESULTS))
    expect("GitHub, whether the results are uploaded", [hub / RESULTS / "result.sarif"], uploads)
    mine = {"BOXSPEC_PACKAGE": given["package"], "BOXSPEC_ARGUMENTS": PART}
    for part in ("1/2", "2/2"):
        gitlab(lab, {**mine, "BOXSPEC_SHIM": given["shim"]}, part=part)
    ended, artifacts = gitlab(lab, mine, name=".boxspec-report")
    expect("GitLab, status of the joined parts", status, ended)
    expect("GitLab, what is broken in the joined parts", BROKEN[number], broken(artifacts[0]))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("ci/try_templates.py: name a wheel, as `ci/release` writes one")
    main(str(Path(sys.argv[1]).resolve()))
