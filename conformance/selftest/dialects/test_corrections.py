"""Tests of pairs of settings: the first has a mistake that an entry names, the second is corrected
and raises no alarm.

Each pair is our own example of a kind of mistake that people reported in public.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from boxspec.verify.dialects import dialects
from boxspec.verify.meaning import Entry, Meaning, Where

DEAD, NARROWER, WIDER = Meaning.DEAD, Meaning.NARROWER, Meaning.WIDER
ALARMS = frozenset({DEAD, WIDER, Meaning.UNKNOWN})


@dataclass(frozen=True)
class Pair:
    """wrong, right: the texts. meaning, why: of the entry that names the mistake."""

    tool: str
    wrong: str
    right: str
    meaning: Meaning
    why: str


def srt(part: str, **lists: list[str]) -> str:
    return json.dumps({part: lists})


def claude(allow: list[str], deny: list[str]) -> str:
    sandbox = {"enabled": True, "allowUnsandboxedCommands": False}
    return json.dumps({"permissions": {"allow": allow, "deny": deny}, "sandbox": sandbox})


def codex(roots: str) -> str:
    head = 'sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\n'
    return f'{head}network_access = false\nwritable_roots = ["{roots}"]\n'


def variables(given: str) -> str:
    policy = '[shell_environment_policy]\nexclude = ["GITHUB_*"]\n'
    return f'sandbox_mode = "read-only"\n{policy}set = {{ {given} = "x" }}\n'


def profile(name: str) -> str:
    head = f'default_permissions = "{name}"\n[permissions.strict.filesystem]\n'
    return f'{head}"~/.ssh" = "none"\n'


def policy(tool: str) -> str:
    return f'[[rule]]\ntoolName = "{tool}"\ndecision = "deny"\npriority = 5\n'


PAIRS = {
    "a_home_directory_of_another_user": Pair(
        "srt",
        srt("filesystem", denyWrite=["~bob/.ssh"]),
        srt("filesystem", denyWrite=["/home/bob/.ssh"]),
        DEAD,
        "write the whole path",
    ),
    "a_domain_that_is_denied_too": Pair(
        "srt",
        srt("network", allowedDomains=["a.example.org:443"], deniedDomains=["*.example.org"]),
        srt("network", allowedDomains=["a.example.org:443"], deniedDomains=["*.example.org:22"]),
        DEAD,
        "takes precedence",
    ),
    "a_denied_domain_that_is_none": Pair(
        "srt",
        srt("network", deniedDomains=["https://example.org/"]),
        srt("network", deniedDomains=["example.org", "*"]),
        DEAD,
        "is not a domain",
    ),
    "a_glob_for_writes": Pair(
        "srt",
        srt("filesystem", allowWrite=["."], denyWrite=[".github/*.yml"]),
        srt("filesystem", allowWrite=["."], denyWrite=[".github/**"]),
        DEAD,
        "globs are skipped",
    ),
    "a_glob_for_edits": Pair(
        "claude",
        claude([], ["Edit(.github/*.yml)"]),
        claude([], ["Edit(.github/**)"]),
        DEAD,
        "globs are skipped",
    ),
    "an_address_for_the_web_tool": Pair(
        "claude",
        claude([], ["WebFetch(https://example.org/*)"]),
        claude([], ["WebFetch(domain:example.org)"]),
        DEAD,
        "write WebFetch(domain:example.org)",
    ),
    "an_allowed_file_in_a_denied_folder": Pair(
        "claude",
        claude(["Read(./keys/a.pub)"], ["Read(./keys/**)"]),
        claude(["Read(./keys/a.pub)"], ["Read(./keys/private/**)"]),
        DEAD,
        "Read(./keys/**) denies all of it",
    ),
    "an_allowed_command_with_a_denied_start": Pair(
        "claude",
        claude(["Bash(git push origin:*)"], ["Bash(git push:*)"]),
        claude(["Bash(git pushes:*)"], ["Bash(git push:*)"]),
        DEAD,
        "deny rules come first",
    ),
    "a_root_above_the_home_directory": Pair(
        "codex", codex("/"), codex("/srv/cache"), WIDER, "all of your home directory"
    ),
    "a_profile_that_is_missing": Pair(
        "codex", profile("stict"), profile("strict"), DEAD, "has no profile stict"
    ),
    "a_variable_that_is_excluded_and_set": Pair(
        "codex", variables("GITHUB_TOKEN"), variables("CI"), NARROWER, "gives GITHUB_TOKEN"
    ),
    "a_source_that_is_missing": Pair(
        "bwrap",
        "--ro-bind-try /no/such /etc/hosts",
        "--ro-bind-try /etc/hosts /etc/hosts",
        DEAD,
        "is skipped",
    ),
    "a_variable_that_is_cleared_later": Pair(
        "bwrap", "--setenv A b --clearenv", "--clearenv --setenv A b", DEAD, "--clearenv undoes it"
    ),
    "a_variable_that_is_unset_later": Pair(
        "bwrap", "--setenv A b --unsetenv A", "--unsetenv B --setenv A b", DEAD, "undoes it"
    ),
    "a_mount_that_is_closed_without_those_below": Pair(
        "bwrap", "--bind / / --remount-ro /", "--ro-bind / /", NARROWER, "mounts below it"
    ),
    "a_file_that_hides_a_folder": Pair(
        "bwrap", "--ro-bind /dev/null ~/keys", "--tmpfs ~/keys", DEAD, "does not start"
    ),
    "a_folder_that_hides_a_file": Pair(
        "bwrap", "--tmpfs ~/.netrc", "--ro-bind /dev/null ~/.netrc", DEAD, "does not start"
    ),
    "two_paths_in_one_command": Pair(
        "firejail",
        "blacklist ${HOME}/keys ${HOME}/.netrc\n",
        "blacklist ${HOME}/keys\nblacklist ${HOME}/.netrc\n",
        DEAD,
        "one line for each",
    ),
    "stars_that_cross_no_slash": Pair(
        "firejail", "blacklist ${HOME}/**/.env", "blacklist ${HOME}/*/.env", NARROWER, "one folder"
    ),
    "a_profile_that_is_not_there": Pair(
        "firejail", "include no-such.inc", "include there.inc", DEAD, "does not start"
    ),
    "a_tool_with_its_name_elsewhere": Pair(
        "gemini",
        '{"tools": {"exclude": ["Bash"]}}',
        '{"tools": {"exclude": ["run_shell_command"]}}',
        DEAD,
        "write run_shell_command",
    ),
    "a_rule_for_a_tool_that_is_misspelled": Pair(
        "gemini", policy("writeFile"), policy("write_file"), DEAD, "write write_file"
    ),
}


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Where:
    (tmp_path / "keys").mkdir()
    (tmp_path / ".netrc").touch()
    (tmp_path / "there.inc").touch()
    return Where(tmp_path, tmp_path / "project", tmp_path / "s.json")


@pytest.fixture(autouse=True)
def _firejail_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialects.firejail.INSTALLED", tmp_path)


def _alarms(entries: list[Entry]) -> list[Entry]:
    return [each for each in entries if each.meaning in ALARMS]


@pytest.mark.parametrize("name", PAIRS)
def test_an_entry_names_the_mistake(where: Where, name: str) -> None:
    pair = PAIRS[name]
    entries = dialects()[pair.tool].read(pair.wrong, where)
    assert any(each.meaning is pair.meaning and pair.why in each.why for each in entries), entries


@pytest.mark.parametrize("name", PAIRS)
def test_the_corrected_settings_raise_no_alarm(where: Where, name: str) -> None:
    pair = PAIRS[name]
    entries = dialects()[pair.tool].read(pair.right, where)
    assert _alarms(entries) == []
    assert all(pair.why not in each.why for each in entries)
