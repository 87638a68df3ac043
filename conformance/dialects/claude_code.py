"""Claude Code: settings.json of the user or of a project.

Written for Claude Code 2.1 on Linux, from its documentation "Settings", "Permissions" and
"Sandboxing" (as of 2026-11). A file that is not JSON is discarded. Paths in permission rules: `//x`
is absolute, `~/x` lies in the home directory, `/x` is relative to the folder of the settings, `x`
and `./x` to the working directory. Paths in sandbox.filesystem: `/x` is absolute, `x` is relative
to the project, or to ~/.claude for the settings of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from boxspec.verify.meaning import Entry, Meaning, Where
from boxspec.verify.paths import is_glob
from dialects import sandbox_runtime as srt
from dialects.entries import (
    boolean,
    covers,
    document,
    not_json,
    noted,
    of_now,
    only_for_a_shell,
    texts,
    unknown,
    without_subtree,
)
from dialects.merging import File, read_together
from dialects.reading_json import Node
from dialects.sandbox_runtime import NETWORK, credentials, rules_of_files, rules_of_network

NAMES = ("claude", "claude-code")
WRITTEN_FOR = "Claude Code 2.1, 2026-11"
PERMISSIONS = (
    *("allow", "ask", "deny", "additionalDirectories", "defaultMode"),
    *("disableBypassPermissionsMode", "disableAutoMode", "blockWritesOutsideWorkingDirectories"),
    *("blockReadsOutsideWorkingDirectories", "denyInsteadOfPrompting"),
)
SANDBOX = (
    *("enabled", "failIfUnavailable", "autoAllowBashIfSandboxed", "excludedCommands"),
    *("allowUnsandboxedCommands", "filesystem", "network", "enableWeakerNestedSandbox"),
    *("enableWeakerNetworkIsolation", "ignoreViolations", "enabledPlatforms", "credentials"),
    *("bwrapPath", "socatPath", "ripgrep", "allowAppleEvents", "allowNestedUserNamespaces"),
)
# The platforms in enabledPlatforms. A sandbox on other platforms only is no sandbox here.
HERE = "linux"
MODES = {
    "default": (Meaning.NOT_TESTABLE, "Claude Code asks before calls that no rule allows"),
    "plan": (Meaning.NOT_TESTABLE, "Claude Code only reads"),
    "dontAsk": (Meaning.NOT_TESTABLE, "calls that no rule allows are refused"),
    "auto": (Meaning.WIDER, "a model decides instead of you"),
    "acceptEdits": (Meaning.WIDER, "files of the workspace are changed without a question"),
    "bypassPermissions": (Meaning.WIDER, "no call is asked about; only deny rules are left"),
}
NOTES = {
    "disableBypassPermissionsMode": (Meaning.NOT_TESTABLE, "Claude Code itself decides"),
    "disableAutoMode": (Meaning.NOT_TESTABLE, "Claude Code itself decides"),
    "blockWritesOutsideWorkingDirectories": (Meaning.NOT_TESTABLE, "only the file tools obey it"),
    "denyInsteadOfPrompting": (Meaning.NOT_TESTABLE, "Claude Code itself decides"),
}
SANDBOX_NOTES = {
    "failIfUnavailable": (Meaning.NOT_TESTABLE, "without a sandbox Claude Code does not start"),
    "autoAllowBashIfSandboxed": (Meaning.NOT_TESTABLE, "commands in the sandbox are not asked"),
    "ignoreViolations": (Meaning.NOT_TESTABLE, "violations that are not reported"),
    "allowNestedUserNamespaces": (
        Meaning.WIDER,
        "programs in the sandbox may make user namespaces, and so reach more of the kernel",
    ),
}
NETWORK_NOTES = {
    "strictAllowlist": (Meaning.NOT_TESTABLE, "other domains are refused without a question"),
    "allowManagedDomainsOnly": (Meaning.NOT_TESTABLE, "only settings of the administrator count"),
}
READS_OUTSIDE = "blockReadsOutsideWorkingDirectories"
FILE_NOTES = {"disabled": (Meaning.WIDER, "no rule about files is enforced")}
FILES = (
    *("allowWrite", "denyWrite", "denyRead", "allowRead", "allowManagedReadPathsOnly"),
    "disabled",
)
# Settings without a meaning for a sandbox.
OTHERS = (
    *("$schema", "model", "env", "hooks", "language", "theme", "verbose", "outputStyle"),
    *("includeCoAuthoredBy", "attribution", "cleanupPeriodDays", "statusLine", "enabledPlugins"),
    *("enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers"),
    *("alwaysThinkingEnabled", "effortLevel", "autoUpdates", "apiKeyHelper", "forceLoginMethod"),
    *("extraKnownMarketplaces", "spinnerTipsEnabled", "disableAllHooks", "companyAnnouncements"),
    *("skipDangerousModePermissionPrompt", "awsAuthRefresh", "otelHeadersHelper", "autoMode"),
)
ADDED = "permissions.additionalDirectories"
RULE = re.compile(r"(\w[\w*-]*)(?:\((.*)\))?", re.S)
OTHER_TOOLS = ("Bash", "WebFetch", "WebSearch", "Task", "Agent", "Skill", "NotebookRead")
READS, WRITES = ("Read", "Grep", "Glob", "LS"), ("Edit", "Write", "MultiEdit", "NotebookEdit")
ROOTS = ("etc", "home", "root", "usr", "var", "opt", "tmp", "srv", "mnt", "Users", "proc", "sys")


def read(text: str, where: Where) -> list[Entry]:
    found = document(text)
    if isinstance(found, Entry):
        return [found]
    made, wrong = _entries(found, where), not_json(text)
    why = "Claude Code discards the whole file, because it is not JSON"
    lost = [replace(each, meaning=Meaning.DEAD, why=why) for each in made]
    return made if wrong is None else [wrong, *lost]


def rank(where: Where) -> int:
    """Return the rank of a file: settings of the administrator, then those of the project for one
    user, of the project, and of the user."""
    if where.file.name.startswith("managed-settings"):
        return 3
    if where.file.name == "settings.local.json":
        return 2
    return 0 if where.is_of_the_user else 1


def read_all(files: Sequence[tuple[str, Where]]) -> list[list[Entry]]:
    """Return the entries of each file. Lists of all files count together, and a deny rule of one
    file overrides an allow rule of any other. For other keys the file of the highest rank decides.
    """
    made = [File(text, where, rank(where)) for text, where in files]
    usable = [each for each in made if each.node is not None and not_json(each.text) is None]
    return [
        read_together(each, [other for other in usable if other is not each], _entries)
        if each in usable
        else read(each.text, each.where)
        for each in made
    ]


def _entries(found: Node, where: Where) -> list[Entry]:
    made = [*unknown(found, ("permissions", "sandbox", *OTHERS))]
    sandbox = found.get("sandbox")
    enabled, wrong = boolean(sandbox.get("enabled") if sandbox else None, "sandbox.enabled")
    made += wrong
    elsewhere = _elsewhere(sandbox.get("enabledPlatforms") if sandbox else None)
    made += [elsewhere] if elsewhere else []
    enabled = enabled and elsewhere is None
    confined = enabled is True and not _files_are_off(sandbox)
    permissions = found.get("permissions")
    if permissions is not None:
        made += unknown(permissions, PERMISSIONS, "permissions")
        made += noted(permissions, NOTES, "permissions")
        made += _reads_outside(permissions.get(READS_OUTSIDE), confined)
        made += _mode(permissions.get("defaultMode"))
        folders, wrong = texts(permissions.get("additionalDirectories"), ADDED)
        both = "the file tools" + (", and programs in the sandbox," if confined else "")
        why = f"{both} may write these folders too"
        made += [
            *wrong,
            *(Entry(each.line, ADDED, each.value, Meaning.WIDER, why) for each in folders),
        ]
        denied: list[Node] = []
        for name in ("deny", "ask", "allow"):
            rules, wrong = texts(permissions.get(name), f"permissions.{name}")
            made += wrong
            found_rules = [(each, _permission(each, name, confined, where)) for each in rules]
            denied = rules if name == "deny" else denied
            for rule, entry in found_rules:
                over = [each.value for each in denied if name != "deny" and _has(each, rule)]
                why = f"{over[0]} denies all of it, and deny rules come first" if over else ""
                made.append(replace(entry, meaning=Meaning.DEAD, why=why) if over else entry)
    if sandbox is not None:
        made += _sandbox(sandbox, enabled is True, elsewhere is not None, where)
    return made


def _elsewhere(node: Node | None) -> Entry | None:
    """Return an entry if the sandbox is on only on other platforms."""
    names, _ = texts(node, "sandbox.enabledPlatforms")
    if node is None or not isinstance(node.value, list) or HERE in [each.value for each in names]:
        return None
    why = f"without {HERE} no program is confined here"
    return Entry(node.line, "sandbox.enabledPlatforms", node.shown, Meaning.WIDER, why)


def _reads_outside(node: Node | None, confined: bool) -> list[Entry]:
    value, wrong = boolean(node, f"permissions.{READS_OUTSIDE}")
    if node is None or not value:
        return wrong
    meaning, why = (
        Meaning.NOT_TESTABLE,
        "only the file tools obey it; a program in Bash can read all",
    )
    if confined:
        meaning, why = Meaning.ENFORCED, "the sandbox hides home directories, but no workspace"
    rules = (("deny-read", "~/.ssh"),) if confined else ()
    return [Entry(node.line, f"permissions.{READS_OUTSIDE}", node.shown, meaning, why, rules)]


def _mode(node: Node | None) -> Iterator[Entry]:
    if node is not None:
        value = node.value if isinstance(node.value, str) else node.shown
        meaning, why = MODES.get(value, (Meaning.DEAD, f"is not one of {', '.join(MODES)}"))
        yield Entry(node.line, "permissions.defaultMode", value, meaning, why)


def _permission(node: Node, name: str, confined: bool, where: Where) -> Entry:
    """The meaning of one rule such as Read(./.env)."""
    key = f"permissions.{name}"
    found = RULE.fullmatch(node.value)
    if found is None:
        why = "is not a rule: write Tool or Tool(what)"
        return Entry(node.line, key, node.value, Meaning.DEAD, why)
    tool, what = found[1], found[2]
    right = [each for each in READS + WRITES + OTHER_TOOLS if each.lower() == tool.lower()]
    if right and tool not in right:
        why = f"no tool has this name: write {right[0]}"
        return Entry(node.line, key, node.value, Meaning.DEAD, why)
    if tool == "WebFetch" and what is not None and not what.startswith("domain:"):
        why = "only domains are compared: write WebFetch(domain:example.org)"
        return Entry(node.line, key, node.value, Meaning.DEAD, why)
    if name == "allow" and tool == "Edit" and what and confined and _is_outside(what, where):
        why = "is added to allowWrite: programs in the sandbox can write it too"
        return Entry(node.line, key, node.value, Meaning.WIDER, why)
    if name != "deny" or tool not in READS + WRITES:
        why = "the tool itself decides, for its own calls; a program in Bash does not obey it"
        return Entry(node.line, key, node.value, Meaning.NOT_TESTABLE, why)
    if what is None:
        why = "removes the tool; programs that Bash starts are not bound by it"
        return Entry(node.line, key, node.value, Meaning.NOT_TESTABLE, why)
    return replace(_path_rule(node.line, tool, what, confined, where), key=key, value=node.value)


def _has(wide: Node, narrow: Node) -> bool:
    """True if a rule matches all calls that another one matches."""
    outer, inner = RULE.fullmatch(wide.value), RULE.fullmatch(narrow.value)
    if outer is None or inner is None or outer[1] != inner[1]:
        return False
    if outer[2] is None or outer[2] == inner[2]:
        return True
    if inner[2] is None:
        return False
    if outer[1] in READS + WRITES:
        return covers(without_subtree(outer[2]), inner[2])
    start = re.sub(r"(:| )\*$", "", outer[2])
    return start != outer[2] and f"{inner[2]} ".startswith(f"{start} ")


def _path_rule(line: int, tool: str, what: str, confined: bool, where: Where) -> Entry:
    kind = "deny-read" if tool in READS else "deny-write"
    path, meant = _path(what, where)
    if meant is not None:
        why = f"one slash means the folder of the settings, {meant}; write /{what} for the root"
        return Entry(line, "", "", Meaning.DEAD, why, ((kind, path),))
    if tool not in ("Read", "Edit"):
        better = "Read" if tool in READS else "Edit"
        why = f"paths are only compared for Read and Edit: write {better}({what})"
        return Entry(line, "", "", Meaning.DEAD, why, ((kind, path),))
    if not confined:
        why = "only the file tools obey it; without sandbox.enabled a program in Bash can open it"
        return Entry(line, "", "", Meaning.NOT_TESTABLE, why)
    if shell := only_for_a_shell(path):
        return Entry(line, "", "", Meaning.DEAD, shell, ((kind, path),))
    if is_glob(without_subtree(path)):
        if kind == "deny-write":
            why = "only the file tools obey it: globs are skipped for writes in the sandbox"
            return Entry(line, "", "", Meaning.DEAD, why, ((kind, path),))
        why = "in the sandbox the matches at the start are hidden, later files are not"
        return Entry(line, "", "", Meaning.NARROWER, why, ((kind, path),))
    now = of_now(without_subtree(path), where)
    if kind == "deny-read" and now.startswith("nothing"):
        why = f"the file tools obey it; in the sandbox {now}, and a path made later is not hidden"
        return Entry(line, "", "", Meaning.NARROWER, why, ((kind, path),))
    why = "is added to the rules of the sandbox"
    return Entry(line, "", "", Meaning.ENFORCED, why, ((kind, path),))


def _is_outside(what: str, where: Where) -> bool:
    """True if a rule names a path that is not in the working directory, and no glob."""
    path = without_subtree(_path(what, where)[0])
    outside = what.startswith(("//", "~/")) and not covers(str(where.cwd), str(where.real(path)))
    return outside and not is_glob(path)


def _path(what: str, where: Where) -> tuple[str, str | None]:
    """The path that the author of a rule means, and the other one that it names, if any."""
    if what.startswith("//"):
        return "/" + what.lstrip("/"), None
    if what.startswith("/"):
        first = what[1:].partition("/")[0]
        if first in ROOTS or where.exists(what):
            base = where.file.parent if where.is_of_the_user else where.cwd
            return what, f"{base}{what}"
        return what[1:] or ".", None
    return what.removeprefix("./") or ".", None


def _files_are_off(sandbox: Node | None) -> bool:
    filesystem = sandbox.get("filesystem") if sandbox else None
    return boolean(filesystem.get("disabled") if filesystem else None, "")[0] is True


def _sandbox(node: Node, enabled: bool, elsewhere: bool, where: Where) -> list[Entry]:
    made = [
        *unknown(node, SANDBOX, "sandbox"),
        *noted(node, {**srt.NOTES, **SANDBOX_NOTES}, "sandbox"),
    ]
    rules: list[Entry] = []
    filesystem, network = node.get("filesystem"), node.get("network")
    if filesystem is not None:
        made += unknown(filesystem, FILES, "sandbox.filesystem")
        made += noted(filesystem, FILE_NOTES, "sandbox.filesystem")
        of_files = rules_of_files(filesystem, where, "sandbox.filesystem")
        off = _files_are_off(node)
        made += boolean(filesystem.get("disabled"), "sandbox.filesystem.disabled")[1]
        why = "sandbox.filesystem.disabled is true: no rule about files is enforced"
        rules += [
            replace(each, meaning=Meaning.DEAD, why=why) if off else _relative(each, where)
            for each in of_files
        ]
    if network is not None:
        made += unknown(network, (*NETWORK, *NETWORK_NOTES), "sandbox.network")
        made += noted(network, NETWORK_NOTES, "sandbox.network")
    rules += rules_of_network(network, node.line, "sandbox.network")
    rules += credentials(node.get("credentials"), "sandbox.credentials")
    if not enabled:
        switch = f"enabledPlatforms lacks {HERE}" if elsewhere else "sandbox.enabled is not true"
        why = f"{switch}: no program is confined"
        rules = [replace(each, meaning=Meaning.DEAD, why=why) for each in rules]
    excluded, wrong = texts(node.get("excludedCommands"), "sandbox.excludedCommands")
    made += wrong
    for each in excluded:
        why = "runs outside the sandbox, with all that it starts"
        made.append(Entry(each.line, "sandbox.excludedCommands", each.value, Meaning.WIDER, why))
    escape, wrong = boolean(node.get("allowUnsandboxedCommands"), "allowUnsandboxedCommands")
    made += wrong
    if enabled and escape is not False:
        why = "a command can ask to run outside the sandbox; false forbids that"
        shown = "true" if escape else "(not set)"
        made.append(Entry(node.line, "sandbox.allowUnsandboxedCommands", shown, Meaning.WIDER, why))
    return made + rules


def _relative(entry: Entry, where: Where) -> Entry:
    """In the settings of the user a relative path means one below ~/.claude."""
    path = entry.value
    if not where.is_of_the_user or path.startswith(("/", "~")) or not entry.rules:
        return entry
    why = f"in the settings of the user it means ~/.claude/{path.removeprefix('./')}"
    return replace(entry, meaning=Meaning.DEAD, why=why)
