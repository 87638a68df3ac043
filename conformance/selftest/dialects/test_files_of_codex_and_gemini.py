"""Tests of settings in several files of Codex and of Gemini CLI.

The cases of Codex were tried by hand with Codex 0.171; what the sandbox allowed is in the name.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boxspec.verify.dialects import read
from boxspec.verify.meaning import Entry, Meaning

DEAD, ENFORCED, OTHER = Meaning.DEAD, Meaning.ENFORCED, Meaning.NOT_TESTABLE
WIDER, NARROWER = Meaning.WIDER, Meaning.NARROWER
SYSTEM, USER, PROJECT = "codex/config.toml", "home/.codex/config.toml", "project/.codex/config.toml"
BELOW, PROFILE = "project/web/.codex/config.toml", "home/.codex/web.config.toml"
MANAGED, REQUIRED = "codex/managed_config.toml", "codex/requirements.toml"
READ_ONLY, WRITES = 'sandbox_mode = "read-only"\n', 'sandbox_mode = "workspace-write"\n'
FULL = 'sandbox_mode = "danger-full-access"\n'
TABLE = "[sandbox_workspace_write]\n"
CHOSEN = 'default_permissions = "a"\n'
DENIES = f'{CHOSEN}[permissions.a.filesystem]\n"~/.ssh" = "deny"\n'
SHOWS = '[permissions.a.filesystem]\n"~/.ssh" = "read"\n'


def trust(level: str) -> str:
    return f'[projects."{{project}}"]\ntrust_level = "{level}"\n'


def entries(tmp_path: Path, tool: str, files: dict[str, str], of: str) -> list[Entry]:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{project}", str(tmp_path / "project")))
    paths = [tmp_path / name for name in files]
    found = read([(tool, path) for path in paths], tmp_path / "home", tmp_path / "project")
    return list(found[paths.index(tmp_path / of)].entries)


@pytest.mark.parametrize(
    ("files", "of", "value", "meaning", "why"),
    [
        # The file of the highest rank decides: project, profile, user, system.
        ({USER: READ_ONLY, PROJECT: WRITES}, USER, "read-only", DEAD, "config.toml:1"),
        ({USER: READ_ONLY, PROJECT: WRITES}, PROJECT, "workspace-write", ENFORCED, ""),
        ({USER: READ_ONLY, SYSTEM: FULL}, SYSTEM, "danger-full-access", DEAD, "config.toml:1"),
        ({USER: READ_ONLY, SYSTEM: FULL}, USER, "read-only", ENFORCED, ""),
        ({USER: READ_ONLY, PROFILE: WRITES}, USER, "read-only", DEAD, "web.config.toml:1"),
        ({PROFILE: FULL, PROJECT: READ_ONLY}, PROFILE, "danger-full-access", DEAD, "config.toml:1"),
        ({BELOW: READ_ONLY, PROJECT: WRITES}, PROJECT, "workspace-write", DEAD, "config.toml:1"),
        ({MANAGED: READ_ONLY, USER: FULL}, USER, "danger-full-access", DEAD, "managed_config"),
        # A list replaces that of another file. It is not joined with it.
        (
            {
                USER: f'{WRITES}{TABLE}writable_roots = ["/a"]\n',
                PROJECT: f'{TABLE}writable_roots = ["/b"]\n',
            },
            *(USER, "/a", DEAD, "config.toml:2"),
        ),
        # The mode of one file turns on the table of another one.
        (
            {USER: WRITES, PROJECT: f'{TABLE}writable_roots = ["/b"]\n'},
            *(PROJECT, "/b", ENFORCED, ""),
        ),
        (
            {USER: WRITES, PROJECT: f"{TABLE}network_access = true\n"},
            *(USER, "(not set)", DEAD, "config.toml:2"),
        ),
        # Tables are joined. A profile can be changed, or turned off, by another file.
        ({USER: DENIES, PROJECT: SHOWS}, USER, "~/.ssh = deny", DEAD, "config.toml:2"),
        ({USER: DENIES, PROJECT: WRITES}, USER, "~/.ssh = deny", DEAD, "sandbox_mode is set"),
        ({USER: CHOSEN, PROJECT: DENIES}, PROJECT, "~/.ssh = deny", ENFORCED, ""),
        # Codex reads the file of a project only if the project is trusted.
        (
            {USER: trust("untrusted"), PROJECT: DENIES},
            *(PROJECT, "~/.ssh = deny", DEAD, "config.toml:2"),
        ),
        (
            {USER: READ_ONLY + trust("untrusted"), PROJECT: FULL},
            *(USER, "read-only", ENFORCED, ""),
        ),
        ({USER: READ_ONLY, PROJECT: FULL}, PROJECT, "(not set)", OTHER, "names no trust_level"),
        # Nothing in the file of a project chooses a profile.
        ({USER: READ_ONLY, PROJECT: 'profile = "ci"\n'}, PROJECT, "ci", DEAD, "of a project"),
        # Codex does not start if it refuses one file.
        ({USER: READ_ONLY, PROJECT: "sandbox_mode = 3\n"}, USER, "read-only", DEAD, "no program"),
        ({USER: READ_ONLY, PROJECT: "x = [\n"}, USER, "read-only", DEAD, "no program"),
        # Requirements limit the modes, and add paths that cannot be read.
        (
            {REQUIRED: 'allowed_sandbox_modes = ["read-only"]\n', USER: WRITES},
            *(USER, "workspace-write", DEAD, "requirements.toml:1"),
        ),
        (
            {REQUIRED: 'allowed_sandbox_modes = ["read-only"]\n', USER: WRITES},
            *(REQUIRED, "['read-only']", ENFORCED, "no file can be written"),
        ),
        (
            {REQUIRED: 'allowed_sandbox_modes = ["read-only", "workspace-write"]\n', USER: WRITES},
            *(USER, "workspace-write", ENFORCED, ""),
        ),
        (
            {REQUIRED: '[permissions.filesystem]\ndeny_read = ["~/.ssh"]\n', USER: FULL},
            *(REQUIRED, "~/.ssh", ENFORCED, "each mode"),
        ),
        (
            {REQUIRED: '[permissions.filesystem]\ndeny_read = ["~/.ssh"]\n', USER: FULL},
            *(USER, "danger-full-access", DEAD, "requirements.toml:2"),
        ),
        ({REQUIRED: 'allowed_sandbox_mode = ["read-only"]\n'}, REQUIRED, "", Meaning.UNKNOWN, ""),
    ],
)
def test_the_meaning_depends_on_all_files_of_codex(
    tmp_path: Path, files: dict[str, str], of: str, value: str, meaning: Meaning, why: str
) -> None:
    found = entries(tmp_path, "codex", files, of)
    entry = next(each for each in found if value in ("", each.value) and each.why)
    assert entry.meaning is meaning, entry
    assert why in entry.why


def test_a_relative_path_of_requirements_belongs_to_their_folder(tmp_path: Path) -> None:
    text = '[permissions.filesystem]\ndeny_read = ["./keys"]\n'
    [entry] = entries(tmp_path, "codex", {REQUIRED: text}, REQUIRED)
    assert entry.rules == (("deny-read", str(tmp_path / "codex/keys")),)


DEFAULTS, OVERRIDES = "gemini-cli/system-defaults.json", "gemini-cli/settings.json"
OWN, WORKSPACE = "home/.gemini/settings.json", "project/.gemini/settings.json"


def tools(**found: object) -> str:
    return json.dumps({"tools": found})


def server(**found: object) -> str:
    return json.dumps({"mcpServers": {"a": found}})


@pytest.mark.parametrize(
    ("files", "of", "value", "meaning", "why"),
    [
        # The file of the highest rank decides: system, workspace, user, system defaults.
        ({OWN: tools(sandbox=True), WORKSPACE: tools(sandbox=False)}, OWN, "true", DEAD, "rank"),
        (
            {OWN: tools(sandbox=True), WORKSPACE: tools(sandbox=False)},
            *(WORKSPACE, "false", WIDER, "no program is confined"),
        ),
        (
            {OVERRIDES: tools(sandbox="docker"), WORKSPACE: tools(sandbox=False)},
            *(WORKSPACE, "false", DEAD, "settings.json:1"),
        ),
        (
            {DEFAULTS: tools(sandbox="docker"), OWN: tools(sandbox=False)},
            *(DEFAULTS, '"docker"', DEAD, "settings.json:1"),
        ),
        (
            {DEFAULTS: tools(sandbox=False), OVERRIDES: tools(sandbox=True)},
            *(OVERRIDES, "true", OTHER, "runs in the sandbox"),
        ),
        # Names of excluded tools are joined, other lists replace one another.
        (
            {OWN: tools(exclude=["Shell"]), WORKSPACE: tools(exclude=["web_fetch"])},
            *(OWN, "Shell", DEAD, "run_shell_command"),
        ),
        (
            {OWN: tools(exclude=["web_fetch"]), WORKSPACE: tools(exclude=["read_file"])},
            *(OWN, "web_fetch", OTHER, ""),
        ),
        (
            {OWN: tools(core=["read_file"]), WORKSPACE: tools(core=["run_shell_command"])},
            *(OWN, '["read_file"]', DEAD, "rank"),
        ),
        (
            {OWN: tools(sandboxAllowedPaths=["/a"]), WORKSPACE: tools(sandboxAllowedPaths=["/b"])},
            *(OWN, '["/a"]', DEAD, "rank"),
        ),
        # A server is replaced as a whole.
        (
            {OVERRIDES: server(command="safe"), OWN: server(command="x", trust=True)},
            *(OWN, "", DEAD, "settings.json:1"),
        ),
        # Gemini CLI does not start if a file is no JSON. It allows comments.
        ({OWN: tools(sandbox=True), WORKSPACE: '{"tools": '}, OWN, "true", DEAD, "does not start"),
        (
            {OWN: tools(sandbox=True), WORKSPACE: '{// no\n"tools": {"sandbox": false}}'},
            *(OWN, "true", DEAD, "settings.json:2"),
        ),
    ],
)
def test_the_meaning_depends_on_all_files_of_gemini(
    tmp_path: Path, files: dict[str, str], of: str, value: str, meaning: Meaning, why: str
) -> None:
    found = entries(tmp_path, "gemini", files, of)
    entry = next(each for each in found if value in ("", each.value) and each.why)
    assert entry.meaning is meaning, entry
    assert why in entry.why
