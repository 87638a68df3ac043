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
    """A text with a mistake and its correction, and the meaning and reason of the entry that names
    the mistake.
    """

    tool: str
    wrong: str
    right: str
    meaning: Meaning
    why: str


def srt(part: str, **lists: list[str]) -> str:
    network: dict[str, list[str]] = {"allowedDomains": [], "deniedDomains": []}
    files: dict[str, list[str]] = {"denyRead": [], "allowWrite": [], "denyWrite": []}
    found = {"network": network, "filesystem": files}
    found[part].update(lists)
    return json.dumps(found)


def claude(allow: list[str], deny: list[str]) -> str:
    sandbox = {"enabled": True, "allowUnsandboxedCommands": False}
    return json.dumps({"permissions": {"allow": allow, "deny": deny}, "sandbox": sandbox})


def codex(roots: str) -> str:
    head = 'sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\n'
    return f'{head}network_access = false\nwritable_roots = ["{roots}"]\n'


def files(lines: str) -> str:
    return f'default_permissions = "a"\n[permissions.a.filesystem]\n{lines}\n'


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
    "a_comment_in_the_settings": Pair(
        "srt",
        "// no keys\n" + srt("filesystem", denyRead=["~/keys"]),
        srt("filesystem", denyRead=["~/keys"]),
        DEAD,
        "is not JSON",
    ),
    "a_last_comma_in_the_settings": Pair(
        "srt",
        srt("filesystem", denyRead=["~/keys"]).replace("}}", "},}"),
        srt("filesystem", denyRead=["~/keys"]),
        DEAD,
        "refuses the file",
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
    "an_edit_that_the_sandbox_allows_too": Pair(
        "claude", claude(["Edit(~/.netrc)"], []), claude(["Edit(./a/**)"], []), WIDER, "allowWrite"
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
    "a_root_that_is_relative_to_the_settings": Pair(
        "codex", codex("../shared"), codex("~/.npm"), DEAD, "relative to the folder of the settings"
    ),
    "a_denied_path_that_no_shell_replaces": Pair(
        "codex", files('"$HOME/.aws" = "deny"'), files('"~/.aws" = "deny"'), DEAD, "no shell"
    ),
    "a_denied_path_of_no_folder": Pair(
        "codex",
        files('"secrets" = "deny"'),
        files('":workspace_roots" = { "." = "write", "secrets" = "none" }'),
        DEAD,
        "write it below :workspace_roots",
    ),
    "a_glob_that_is_not_denied": Pair(
        "codex", files('"/srv/*" = "read"'), files('"/srv" = "read"'), DEAD, "only deny"
    ),
    "a_home_directory_that_can_be_written": Pair(
        "srt",
        srt("filesystem", allowWrite=["~"]),
        srt("filesystem", allowWrite=["~/.cache"]),
        WIDER,
        "all of your home directory",
    ),
    "a_mount_of_the_home_directory": Pair(
        "bwrap", "--bind ~ ~", "--bind ~/keys ~/keys", WIDER, "all of your home directory"
    ),
    "a_profile_that_writes_the_home_directory": Pair(
        "codex", files('"~" = "write"'), files('"~/.cache" = "write"'), WIDER, "all of your home"
    ),
    "a_denied_folder_with_a_readable_file": Pair(
        "codex",
        files('"~/.ssh" = "deny"\n"~/.ssh/config" = "read"'),
        files('"~/.ssh" = "deny"\n"~/.config" = "read"'),
        NARROWER,
        "~/.ssh/config can be read again",
    ),
    "a_list_of_variables_without_its_default": Pair(
        "codex",
        "[shell_environment_policy]\nignore_default_excludes = true\n",
        "[shell_environment_policy]\nignore_default_excludes = false\n",
        WIDER,
        "TOKEN",
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
    "a_destination_that_is_relative": Pair(
        "bwrap", "--bind . .", '--bind "$PWD" "$PWD"', DEAD, "it means /: write"
    ),
    "a_folder_with_a_relative_destination": Pair(
        "bwrap", "--ro-bind src src", '--ro-bind "$PWD/src" "$PWD/src"', DEAD, "it means /src"
    ),
    "a_path_that_no_option_mounts": Pair(
        "bwrap",
        "--bind / / --remount-ro ~/keys",
        "--ro-bind / / --tmpfs ~/keys --remount-ro ~/keys",
        DEAD,
        "nothing is mounted",
    ),
    "a_hidden_folder_that_is_shown_elsewhere": Pair(
        "bwrap",
        "--ro-bind / / --tmpfs ~/keys --ro-bind / /mnt/host",
        "--ro-bind / / --tmpfs ~/keys --ro-bind /usr /mnt/host",
        NARROWER,
        "shows the files of the host there too",
    ),
    "a_home_directory_that_is_writable_elsewhere": Pair(
        "bwrap",
        "--ro-bind / / --bind / /mnt/host",
        "--ro-bind / / --bind ~/keys /mnt/host",
        WIDER,
        "all of your home directory",
    ),
    "a_network_that_is_shared_too_early": Pair(
        "bwrap",
        "--share-net --unshare-all",
        "--unshare-all",
        DEAD,
        "a later --unshare-all closes it again",
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
    "an_exception_after_the_blacklist": Pair(
        "firejail",
        "blacklist ${HOME}/keys\nnoblacklist ${HOME}/keys\n",
        "noblacklist ${HOME}/keys/a\nblacklist ${HOME}/keys\n",
        DEAD,
        "excepts nothing",
    ),
    "a_home_directory_that_is_shown_again": Pair(
        "firejail", "whitelist ${HOME}", "whitelist ${HOME}/keys", WIDER, "nothing of it is hidden"
    ),
    "stars_that_cross_no_slash": Pair(
        "firejail", "blacklist ${HOME}/**/.env", "blacklist ${HOME}/*/.env", NARROWER, "one folder"
    ),
    "a_profile_that_is_not_there": Pair(
        "firejail", "include no-such.inc", "include there.inc", DEAD, "does not start"
    ),
    "a_tool_whose_calls_have_another_name": Pair(
        "opencode",
        '{"permission": {"write": "deny"}}',
        '{"permission": {"edit": "deny"}}',
        DEAD,
        "write edit",
    ),
    "a_path_with_a_dot_in_front": Pair(
        "opencode",
        '{"permission": {"read": {"./keys/*": "deny"}}}',
        '{"permission": {"read": {"*keys/*": "deny"}}}',
        DEAD,
        "write */keys/*",
    ),
    "a_sandbox_that_is_none": Pair(
        "gemini",
        '{"tools": {"sandbox": "none"}}',
        '{"tools": {"sandbox": "docker"}}',
        DEAD,
        "is no sandbox",
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
