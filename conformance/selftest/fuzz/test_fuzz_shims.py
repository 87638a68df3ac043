"""`boxspec fuzz` with shims that are slow, wrong or crash: findings, by kind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from boxspec.fuzz import afl, builds, crash_report, seeds, targets
from selftest.tools import FAKE, ROOT, boxspec, left_below, named_block, run

pytestmark = pytest.mark.turns(6)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def test_a_shim_that_dies_is_a_finding_and_not_the_end(work: Path) -> None:
    words = ["shim_diff", "--shim", f"{FAKE} hello-then-dies", "--time", "6s", "--work", str(work)]
    done = boxspec("fuzz", *words, "--as-it-is")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "\nshim_diff: shim-died: " in done.stdout
    assert re.search(r" · [6-9]\.\d s · .* 1 finding$", done.stdout.splitlines()[-1])
    assert f"BOXSPEC_FUZZ_SHIM='{FAKE} hello-then-dies'" in done.stdout
    assert left_below(work) == []


# A shim that answers hello correctly; its argument says how it answers other requests.
ODD = """\
#!/usr/bin/env python3
import json, os, sys, time

for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "unsupported": {"capability": message["op"], "why": "odd"}}
    if message["op"] == "hello":
        answer = {"id": message["id"], "result": {"nonce": message["nonce"], "pid": os.getpid()}}
    elif sys.argv[1] == "hangs":
        time.sleep(600)
    elif sys.argv[1] == "leaves":
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        os._exit(1)
    elif sys.argv[1] == "short":
        continue
    elif sys.argv[1] == "long":
        print(json.dumps(answer))
    elif sys.argv[1] == "huge":
        print("x" * 100_000_000, end="", flush=True)
    elif sys.argv[1] == "prose":
        answer = "I am no JSON"
    elif sys.argv[1] == "other":
        answer["id"] += "0"
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("how", "key"),
    [
        ("hangs", "shim-hung"),
        ("leaves", "shim-hung"),
        ("short", "shim-short"),
        ("long", "shim-long"),
        ("huge", "shim-long"),
        ("prose", "differs [a-z-]+-an-object"),
        ("other", "differs [a-z-]+-id"),
    ],
)
def test_an_odd_shim_is_a_finding_and_nothing_is_left(how: str, key: str, work: Path) -> None:
    shim = work.parent / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    # On a busy machine the first answer may take 4 s, and a hundred megabytes longer.
    seconds = "12s" if how == "huge" else "8s"
    words = ["--shim", f"{shim} {how}", "--time", seconds, "--work", str(work), "--as-it-is"]
    # Only the test of a hang sets a short time limit for the shim.
    env = {"BOXSPEC_FUZZ_SHIM_TIMEOUT_MS": "300" if key == "shim-hung" else "5000"}
    done = boxspec("fuzz", "shim_diff", *words, env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(f"^shim_diff: {key}: ", done.stdout, re.M), done.stdout
    assert "request" in done.stdout and "ended early" not in done.stdout
    assert left_below(work) == []


# A busy machine finds little in one run. A later run goes on with the files of the work folder.
MOST_RUNS = 8


def _runs_until(wanted: set[str], *words: str) -> list[str]:
    """Repeat this run of the fuzzer until all these kinds of differences were seen; return the
    outputs."""
    outputs: list[str] = []
    while len(outputs) < MOST_RUNS and not wanted <= {*_kinds("".join(outputs))}:
        done = boxspec("fuzz", "shim_diff", *words)
        assert done.returncode == 1, done.stdout + done.stderr
        outputs.append(done.stdout)
    return outputs


def _kinds(output: str) -> list[str]:
    return re.findall(r"^shim_diff: differs ([a-z-]+): ", output, re.M)


def test_differences_of_a_shim_are_grouped_and_shortened(work: Path, tmp_path: Path) -> None:
    shim = tmp_path / "glob-shim"
    shim.write_text(named_block(ROOT / "fuzz" / "README.md", "glob-shim"))
    shim.chmod(0o755)
    words = ["--shim", str(shim), "--time", "10s", "--work", str(work)]
    wanted = {"glob-match-match", "glob-match-error", "path-normalize-error"}
    outputs = _runs_until(wanted, *words)
    kinds = _kinds("".join(outputs))
    assert wanted <= {*kinds}
    for output in outputs:
        assert len(_kinds(output)) == len(set(_kinds(output)))
    block = "".join(outputs).partition("shim_diff: differs glob-match-match: ")[2]
    asked = re.search(r"^    pattern +(\S.*)$", block, re.M)
    assert asked is not None and len(asked[1]) < 16, block
    # The other kinds are ignored, so that only this one is left.
    others = [each for each in dict.fromkeys(kinds) if each != "glob-match-error"]
    aside = [word for each in others for word in ("--ignore", f"differs {each}")]
    left = _kinds(
        "".join(_runs_until({"glob-match-error"}, *words, *aside, "--fresh", "--as-it-is"))
    )
    assert "glob-match-error" in left
    assert not {*left} & {*others}


# A shim that crashes on requests that match its first argument, and supports no operation.
DIES_OF = """\
#!/usr/bin/env python3
import json, os, re, sys

for line in sys.stdin:
    message = json.loads(line)
    text = message.get("text", "")
    if re.search({"levels": r"\\[{50000}", "letters": r"([a-zA-Z])\\1{280}"}[sys.argv[1]], text):
        os._exit(3)
    answer = {"id": message["id"], "unsupported": {"capability": message["op"], "why": "odd"}}
    if message["op"] == "hello":
        answer = {"id": message["id"], "result": {"nonce": message["nonce"], "pid": os.getpid()}}
    print(json.dumps(answer), flush=True)
"""


def test_a_parser_that_falls_over_length_is_found(work: Path) -> None:
    made = seeds.makers()["shim_diff"]()
    seeds.write(made, work / "alone", seeds.LONGEST_ALONE)
    deep = next(each for each in (work / "alone").iterdir() if b"[" * 50_000 in each.read_bytes())
    # A batch of all requests that are derived from a file.
    (work / "batch").write_bytes(b'\0\xf8"abcdefghijklmnopqrstuvwxyz"')
    shim = work.parent / "dies"
    shim.write_text(DIES_OF)
    shim.chmod(0o755)
    for what, path in (("levels", deep), ("letters", work / "batch")):
        words: list[str | Path] = ["--shim", f"{shim} {what}", "--work", work]
        done = boxspec("fuzz", "shim_diff", *words, "--as-it-is", "--replay", path)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stdout.startswith("shim_diff: shim-died: ")
        # The report must not print a file of a hundred thousand brackets.
        assert max(map(len, done.stdout.splitlines())) < 5000


def test_a_sanitizers_report_that_takes_its_time_is_no_hang(work: Path) -> None:
    shim = work.parent / "late"
    slow = 'sys.stderr.write("==1==ERROR: AddressSanitizer: heap-buffer-overflow\\n"); '
    slow += 'sys.stderr.flush(); __import__("time").sleep(600)'
    shim.write_text(DIES_OF.replace("os._exit(3)", slow))
    shim.chmod(0o755)
    work.mkdir()
    (work / "batch").write_bytes(b'\0\xf8"abcdefghijklmnopqrstuvwxyz"')
    words: list[str | Path] = ["--shim", f"{shim} letters", "--work", work, "--as-it-is"]
    env = {"BOXSPEC_FUZZ_SHIM_TIMEOUT_MS": "1000"}
    done = boxspec("fuzz", "shim_diff", *words, "--replay", work / "batch", env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("shim_diff: shim-died heap-buffer-overflow: "), done.stdout


# A shim around the reference that rewrites some answers in an equivalent form.
WRITES_OTHERWISE = """\
#!/usr/bin/env python3
import json, re, subprocess, sys

RULES = {"matched_rule", "read", "modify", "except", "rule"}


def stars(value):
    if isinstance(value, str):
        return re.sub(r"[*]{2,}", "****", value)
    if isinstance(value, dict):
        return {key: stars(each) for key, each in value.items()}
    return [stars(each) for each in value]


def other(value):
    if isinstance(value, list):
        return [other(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: stars(each) if key in RULES else other(each) for key, each in value.items()}
    for problem in made.get("problems") or ():
        if "second time" in problem["message"]:
            # What is wrong inside of the repeated value, too.
            inside = {**problem, "pointer": problem["pointer"] + "/x", "message": "more"}
            made["problems"] = [*made["problems"], inside]
    return made


asked = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    asked.stdin.write(line)
    asked.stdin.flush()
    answer = json.loads(asked.stdout.readline())
    if json.loads(line)["op"] == "hello":
        sys.stdout.write(json.dumps(answer) + "\\n")
    else:
        sys.stdout.write(json.dumps(other(answer)) + "\\n")
    sys.stdout.flush()
"""


# A shim around the reference with two mistakes in the same member of an answer: globs with a single
# star never match, and a question mark matches nothing.
TWO_MISTAKES = """\
#!/usr/bin/env python3
import json, re, subprocess, sys

asked = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    asked.stdin.write(line)
    asked.stdin.flush()
    answer, message = json.loads(asked.stdout.readline()), json.loads(line)
    glob = message.get("pattern", "")
    for each in answer.get("result", {}).get("items", ()):
        if message["op"] == "glob.match" and re.search(r"(?<![*])[*](?![*])|[?]", glob):
            each["match"] = False
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""


def test_one_finding_of_a_class_can_be_set_aside(work: Path) -> None:
    shim = work.parent / "two"
    shim.write_text(TWO_MISTAKES)
    shim.chmod(0o755)
    work.mkdir()
    # A batch of generated requests, with both mistakes.
    (work / "batch").write_bytes(b"\0abc7")
    binary = builds.binary("fuzz-libfuzzer", targets.named("shim_diff"))
    reference = ROOT / "build" / "release" / "reference" / "boxspec-ref"
    key = "differs glob-match-match"
    found = []
    for aside in ([], ["+star"], ["+question"], ["+star", "+question"], [""]):
        known = ",".join(f"{key}{each}" for each in aside)
        env = {"BOXSPEC_FUZZ_SHIM": f"{shim} {reference}", "BOXSPEC_FUZZ_KNOWN": known}
        done = run([binary, work / "batch"], env=env)
        report = crash_report.read(done.stderr)
        found.append(report and {*report.marks.split("+")} & {"star", "question"})
    assert found == [{"star"}, {"question"}, {"star"}, None, None]


def test_answers_that_the_contract_allows_are_no_finding(work: Path) -> None:
    shim = work.parent / "otherwise"
    shim.write_text(WRITES_OTHERWISE)
    shim.chmod(0o755)
    reference = ROOT / "build" / "release" / "reference" / "boxspec-ref"
    words = ["--shim", f"{shim} {reference}", "--time", "16s", "--work", str(work), "--as-it-is"]
    done = boxspec("fuzz", "shim_diff", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    # The oracle runs the files of the vectors first, so a count above zero shows that the rules of
    # answers were tested.
    assert re.search(r" · [1-9][\d.]* k? ?runs, ", done.stdout), done.stdout


def test_afl_continues_if_a_shim_differs_on_each_seed(tmp_path: Path) -> None:
    shim = tmp_path / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    binary = builds.binary("fuzz-afl", targets.named("shim_diff"))
    first = sorted((ROOT / "fuzz" / "corpus" / "shim_diff").iterdir())[:4]
    env = {**os.environ, "BOXSPEC_FUZZ_SHIM": f"{shim} other"}
    assert afl.crashing(binary, first, env) != []
    found = afl.differing(binary, first, env)
    assert any(re.fullmatch("differs [a-z-]+-id", key) for key in found), found
    assert afl.crashing(binary, first, {**env, "BOXSPEC_FUZZ_KNOWN": ",".join(found)}) == []


def test_a_shim_that_is_too_slow_for_the_time_is_not_called_clean(work: Path) -> None:
    shim = work.parent / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    words = ["--shim", f"{shim} hangs", "--time", "1s", "--work", str(work)]
    done = boxspec("fuzz", "shim_diff", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the shim did not answer" in done.stderr and "--time" in done.stderr


def test_a_shim_that_does_not_start_is_wrong_use(work: Path) -> None:
    words = ["shim_diff", "--shim", f"{FAKE} crash", "--time", "20s", "--work", str(work)]
    done = boxspec("fuzz", *words)
    assert done.returncode == 2, done.stdout
    assert "the shim does not start" in done.stderr
    assert "the shim does not start" not in done.stdout
