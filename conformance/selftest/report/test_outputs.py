"""Tests of each output of a result, read by an independent parser.

Names and evidence that a shim chooses have no effect in any of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for
from lxml import etree
from lxml import html as parser
from markdown_it import MarkdownIt
from tap.parser import Parser

from boxspec.cli.dev.faults import summary
from boxspec.errors import UsageError
from boxspec.faults.fault import catalogue
from boxspec.faults.outcome import Outcome
from boxspec.judge.verdict import NotMeasured, Verdict
from boxspec.report import json as json_report
from boxspec.report.formats import attestation, badge, junit, markdown, sarif, tap
from boxspec.report.result import SCHEMAS, Result, checked, is_failure, read
from selftest.report.made_results import HOSTILE, broken, made
from selftest.tools import FEW_TEXTS, RESULT_SCHEMA, ROOT, boxspec
from selftest.trees import HARDENED, MUST, OTHER_MUST

SARIF = SCHEMAS / "sarif.json"
XSD = etree.XMLSchema(etree.parse(Path(__file__).with_name("schemas") / "junit.xsd"))
KNOWN = "EXEC-ENV-02"


@pytest.fixture(scope="module")
def result() -> Result:
    """One result with a requirement of each kind (broken, not measured, known), and with texts of a
    hostile shim.
    """
    found = made(
        f"shim {HOSTILE}",
        only="exec",
        blamed={
            MUST: broken(HOSTILE),
            HARDENED: broken(verdict=Verdict.CONTRADICTION),
            OTHER_MUST: NotMeasured(f"nobody # looked {HOSTILE}"),
            KNOWN: broken("known"),
        },
    )
    plain = json.loads(json_report.render(found.plain))
    next(each for each in plain["requirements"] if each["id"] == KNOWN)["known"] = True
    return Result.of(plain)


# Statements ------------------------------------------------------------------------------------


def test_a_statement_has_the_digest_of_the_json_result(result: Result) -> None:
    statement = json.loads(attestation.render(result))
    digest = hashlib.sha256(json_report.render(result.plain).encode()).hexdigest()
    assert statement["subject"] == [{"name": "result.json", "digest": {"sha256": digest}}]
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    found = statement["predicate"]
    assert MUST in found["failedTests"] and KNOWN in found["warnedTests"]
    assert found["result"] == "FAILED" and found["configuration"][0]["uri"].startswith("pkg:pypi/")


# JSON ----------------------------------------------------------------------------------------


def test_a_result_is_read_as_it_was_written(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(json_report.render(result.plain))
    assert read(str(path)).plain == result.plain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("\x00\x01", "is not valid JSON"),
        ("[]", "top level"),
        ("{}", "required property"),
        ('{"schema": "boxspec-result/2"}', ""),
    ],
)
def test_a_file_that_is_no_result_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UsageError) as why:
        read(str(path))
    assert str(path) in str(why.value)
    assert said in str(why.value)
    assert "\n" not in str(why.value)


def test_a_verdict_that_there_is_not_is_named_by_its_place(result: Result, tmp_path: Path) -> None:
    plain = json.loads(json_report.render(result.plain))
    plain["tests"][3]["verdict"] = "fine"
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(UsageError, match="tests/3/verdict"):
        read(str(path))


def test_every_fact_of_the_schema_is_required() -> None:
    """Without its date, kit, commit or command a result cannot be compared with another one, so
    none may be missing."""
    required = json.loads(RESULT_SCHEMA.read_text())["required"]
    assert {"kit", "started", "command", "outcome", "host", "target"} <= {*required}


# SARIF ---------------------------------------------------------------------------------------


def test_sarif_follows_its_schema_and_names_each_failed_test(result: Result) -> None:
    document = json.loads(sarif.render(result))
    validator_for(json.loads(SARIF.read_text())).validate(document)
    (run,) = document["runs"]
    failed = [test for test in result.plain["tests"] if is_failure(test)]
    wanted = {(name, test["id"]) for test in failed for name in test["requirements"]}
    found = {(each["ruleId"], each["message"]["text"].split(": ")[0]) for each in run["results"]}
    assert found == wanted
    assert wanted


# JUnit ---------------------------------------------------------------------------------------


def test_junit_follows_its_schema(result: Result) -> None:
    XSD.assertValid(etree.fromstring(junit.render(result).encode()))


def test_junit_with_a_wrong_number_does_not(result: Result) -> None:
    """The schema refuses wrong values."""
    for wrong, right in (('line="0"', 'line="10"'), ('time="-1"', None), ('tests="x"', None)):
        name = wrong.partition("=")[0]
        text = re.sub(rf' {name}="[^"]*"', f" {wrong}", junit.render(result), count=1)
        assert not XSD.validate(etree.fromstring(text.encode())), right


def test_junit_has_file_line_and_the_time_of_the_shim(result: Result) -> None:
    cases = etree.fromstring(junit.render(result).encode()).iter("testcase")
    by_place = {(case.get("file"), case.get("name")): case for case in cases}
    for test in result.plain["tests"]:
        path, _, name = test["id"].partition("::")
        case = by_place[path, f"{name} [{' '.join(test['requirements'])}]"]
        assert case.get("line") == str(test["line"])
        assert case.get("time") == f"{test['shim_seconds']:.3f}"


def test_junit_has_denominators_host_and_versions(result: Result) -> None:
    suite = etree.fromstring(junit.render(result).encode()).find("testsuite[@name='exec.contract']")
    assert suite is not None
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    of = result.plain["summary"]["contracts"]["exec"]["contract"]["must"]
    assert properties["exec contract MUST"] == f"{of['conforms']}/{of['of']}"
    assert properties["all"] == result.denominators()
    assert {"host", "kit", "spec", "seed", "command", "vectors failed"} <= {*properties}


# TAP -----------------------------------------------------------------------------------------


def points(text: str) -> list[Any]:
    lines = list(Parser().parse_text(text))
    unknown = [line for line in lines if line.category == "unknown"]
    assert unknown == [], [str(line) for line in unknown]
    assert lines[0].category == "version"
    return lines


def test_tap_has_a_point_for_each_test(result: Result) -> None:
    lines = points(tap.render(result))
    plan = next(line for line in lines if line.category == "plan")
    found = [line for line in lines if line.category == "test"]
    assert plan.expected_tests == len(found) == len(result.plain["tests"])
    assert [line.number for line in found] == list(range(1, len(found) + 1))


def test_tap_matches_the_verdicts(result: Result) -> None:
    found = [line for line in points(tap.render(result)) if line.category == "test"]
    for point, test in zip(found, result.plain["tests"], strict=True):
        fails = test["verdict"] in ("fails", "contradiction")
        assert point.ok == (not fails), test["id"]
        assert point.skip == (test["verdict"] == "not-measured")
        assert point.todo == (fails and test["requirements"] == [KNOWN])


def test_tap_describes_a_failure_in_yaml(result: Result) -> None:
    found = [line for line in points(tap.render(result)) if line.category == "test"]
    told = [point.yaml_block for point in found if not point.ok and not point.todo]
    assert {each["verdict"] for each in told} == {"fails", "contradiction"}
    assert all(each["block"][0].startswith("EXEC-") for each in told)


def test_a_name_is_no_directive_of_tap(result: Result) -> None:
    plain = json.loads(json_report.render(result.plain))
    test = next(each for each in plain["tests"] if each["verdict"] == "conforms")
    test["id"] += "[a # SKIP \\ b]"
    lines = tap.render(Result.of(plain)).splitlines()
    line = next(each for each in lines if "[a " in each)
    assert "[a \\# SKIP \\\\ b]" in line
    assert re.search(r"(?<!\\)#", line) is None


# Markdown ------------------------------------------------------------------------------------


def test_markdown_has_no_element_but_its_own(result: Result) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown.render(result))
    every = [inner for token in tokens for inner in [token, *(token.children or [])]]
    html = [token.content for token in every if token.type in ("html_block", "html_inline")]
    tags = {tag for content in html for tag in re.findall(r"<(/?\w+)", content)}
    assert tags <= {"details", "/details", "summary", "/summary", "b", "/b"}
    assert not any(token.type in ("image", "link_open") for token in every)


def test_markdown_has_a_block_for_each_broken_requirement(result: Result) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown.render(result))
    blocks = [token.content for token in tokens if token.type == "fence"]
    assert [block.split()[0] for block in blocks] == [
        each["id"] for each in result.plain["requirements"] if each["failing"]
    ]


def test_markdown_fits_a_step_summary() -> None:
    """If not all failing requirements fit, the page says how many are left out."""
    every = {name: broken("x" * 50_000) for name in made(only="exec").requirements}
    text = markdown.render_all([made(only="exec", blamed=every)] * 3)
    assert len(text.encode()) < 1_000_000
    assert "more are in the result file" in text


# Badges --------------------------------------------------------------------------------------


def test_a_badge_is_svg_with_the_fraction(result: Result) -> None:
    svg = etree.fromstring(badge.as_svg(result).encode())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    must = result.plain["summary"]["contract"]["must"]
    texts = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["boxspec exec", f"MUST {must['conforms']}/{must['of']}"]


def test_a_badge_is_green_only_where_every_must_conforms(result: Result) -> None:
    good = made(only="exec", blamed={})
    assert json.loads(badge.as_json(good))["color"] == badge.GREEN
    endpoint = json.loads(badge.as_json(result))
    assert (endpoint["color"], endpoint["schemaVersion"]) == (badge.RED, 1)
    undecided = made(only="exec", blamed={MUST: NotMeasured("nobody looked")})
    assert json.loads(badge.as_json(undecided))["color"] == badge.YELLOW
    excused = {**result.plain, "outcome": {"status": 0, "words": "conforms but for 2 known"}}
    assert json.loads(badge.as_json(Result.of(excused)))["color"] == badge.YELLOW


def test_a_badge_of_another_suffix_is_refused_before_the_run(tmp_path: Path) -> None:
    done = boxspec("run", "-k", "test_text", "--badge", tmp_path / "badge.png")
    assert (done.returncode, done.stdout) == (2, "")
    assert "use a name that ends in .svg or .json" in done.stderr


# Live and later ------------------------------------------------------------------------------


@pytest.mark.turns(10)
def test_outputs_of_a_run_can_be_written_later(tmp_path: Path) -> None:
    """Each output of a run equals the output that is made later from its JSON. The stated line of
    each test is right."""
    shim = f"{ROOT}/conformance/shims/fake/fake.py honest"
    names = ("junit", "tap", "md", "html")
    flags = [word for name in names for word in (f"--{name}", tmp_path / f"live.{name}")]
    done = boxspec("run", "--shim", shim, "-k", FEW_TEXTS, "--json", tmp_path / "r.json", *flags)
    assert done.returncode == 0, done.stderr
    flags = [word for name in names for word in (f"--{name}", tmp_path / f"later.{name}")]
    assert boxspec("report", tmp_path / "r.json", *flags).returncode == 0
    for name in names:
        live, later = ((tmp_path / f"{when}.{name}").read_text() for when in ("live", "later"))
        assert live == later, name
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["outcome"] == {"status": 0, "words": "PASS: 1 of 1 required"}
    assert result["command"].startswith("./ci/boxspec run --shim ")
    for test in result["tests"]:
        path, _, name = test["id"].partition("::")
        body = "".join((ROOT / path).read_text().splitlines(True)[test["line"] - 1 :])
        assert body.startswith("@") or body.startswith(f"def {name.partition('[')[0]}(")
        assert f"def {name.partition('[')[0]}(" in body
        assert test["shim_seconds"] > 0


def test_vectors_are_counted_those_that_conform_too(tmp_path: Path) -> None:
    words = (
        "run",
        "--contract",
        "policy",
        "--topic",
        "POLICY-CHECK",
        "--json",
        tmp_path / "r.json",
    )
    assert boxspec(*words).returncode == 0
    result = json.loads((tmp_path / "r.json").read_text())
    asked = [test["cases"] for test in result["tests"] if "cases" in test]
    assert {each["failed"] for each in asked} == {0}
    assert result["summary"]["vectors"] == {"failed": 0, "of": sum(each["of"] for each in asked)}
    assert sum(each["of"] for each in asked) > 50


def test_several_results_of_one_file_are_columns_of_their_tab(tmp_path: Path) -> None:
    """A run that judges several backends, one after the other, writes them to one result file."""
    one = made("one", only="exec", tests=1, blamed={})
    many = [made("two", only="backend", tests=1, blamed={}, backend=name) for name in ("a", "b")]
    (tmp_path / "one.json").write_text(json_report.render(one.plain))
    results = [each.plain for each in many]
    wrapped = {"schema": "boxspec-matrix/1", "results": results}
    (tmp_path / "matrix.json").write_text(json_report.render(wrapped))
    words = ("report", tmp_path / "one.json", "--backends", tmp_path / "matrix.json")
    done = boxspec(*words, "--html", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = parser.parse(str(tmp_path / "page.html"))
    heads = page.findall(".//section[@id='panel-backends']//th[@class='who']")
    assert [each.text_content().strip() for each in heads] == ["two 1.0 · a", "two 1.0 · b"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--html", "{folder}/no/page.html"), "cannot be written"),
        ((), "has no output file"),
        (("--tap", "{folder}/x.tap", "{folder}/r.json"), "takes one result"),
        (("--md", "{folder}/x.md", "--faults", "{folder}/r.json"), "--faults {folder}/r.json: "),
    ],
)
def test_a_wrong_report_is_one_line_and_exit_2(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    result = made(only="sbpl", tests=1, blamed={})
    (tmp_path / "r.json").write_text(json_report.render(result.plain))
    given = [word.replace("{folder}", str(tmp_path)) for word in words]
    done = boxspec("report", tmp_path / "r.json", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert said.replace("{folder}", str(tmp_path)) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_output_of_faults_follows_its_schema() -> None:
    # `dev faults` leaves out those that only a forced order finds.
    asked = [each for each in catalogue() if each.role != "order"]
    outcomes = [Outcome(each, "named", [MUST]) for each in asked]
    tree = {
        "schema": "boxspec-faults/1",
        "scope": "named",
        "faults": [each.to_json() for each in outcomes],
        "summary": summary(outcomes),
    }
    assert {each.fault.role for each in outcomes} == {"fault", "control", "noop"}
    checked("it", json.loads(json.dumps(tree)), "faults.json")
    with pytest.raises(UsageError, match="faults/0"):
        checked("it", {**tree, "faults": [{}]}, "faults.json")
