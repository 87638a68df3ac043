"""`boxspec sbpl audit`: answer those questions about a profile that matter to most users."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from boxspec.printable import one_line
from contracts.sbpl.seatbelt.decide import Decider, Decision, Outcome
from contracts.sbpl.seatbelt.explain import notes, remarks, shortened
from contracts.sbpl.seatbelt.question import opened, subject_of

READ, WRITE, CREATE = "file-read-data", "file-write-data", "file-write-create"
ANSWERS = {
    Outcome.ALLOW: "allow",
    Outcome.DENY: "deny",
    Outcome.UNDECIDABLE: "not known here",
}


@dataclass(frozen=True)
class Question:
    topic: str
    operation: str
    subject: str | None

    def words(self, home: str) -> str:
        """Return the question, with `~` in place of the home directory."""
        subject = self.subject or ""
        if subject.startswith(f"{home}/"):
            subject = f"~{subject[len(home) :]}"
        return f"{self.operation} {subject}".rstrip()


SECRETS = (".ssh/id_ed25519", ".aws/credentials", ".gnupg/private-keys-v1.d/key", ".netrc",
           ".config/gh/hosts.yml", ".kube/config", "Library/Keychains/login.keychain-db",
           "Library/Application Support/Google/Chrome/Default/Cookies")  # fmt: skip
START_FILES = (".zshrc", ".zshenv", ".bash_profile", ".profile", ".gitconfig",
               "Library/LaunchAgents/x.plist")  # fmt: skip
HOOKS = (".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json")
SERVICES = ("com.apple.SecurityServer", "com.apple.securityd.xpc", "com.apple.pasteboard.1",
            "com.apple.coreservices.launchservicesd", "com.apple.windowserver.active",
            "com.apple.tccd")  # fmt: skip


def questions(home: str, workspace: str, file: str) -> list[Question]:
    """Return the default list of questions: reading secrets, and writing start files and hooks."""
    made = [Question("workspace", READ, f"{workspace}/file")]
    made += [Question("workspace", CREATE, f"{workspace}/file")]
    made += [Question("secrets", READ, f"{home}/{name}") for name in SECRETS]
    made += [Question("secrets", READ, f"{workspace}/.env")]
    made += [Question("hooks", CREATE, f"{workspace}/{name}") for name in HOOKS]
    made += [Question("start files", CREATE, f"{home}/{name}") for name in START_FILES]
    made += [
        Question("outside", CREATE, f"{home}/file"),
        Question("outside", CREATE, "/usr/local/bin/tool"),
        Question("outside", CREATE, "/private/tmp/file"),
        Question("profile", WRITE, file),
        Question("network", "network-outbound", "192.0.2.1:443"),
        Question("network", "network-outbound", "udp:192.0.2.1:53"),
        Question("network", "network-outbound", "localhost:8080"),
        Question("network", "network-outbound", "/private/var/run/docker.sock"),
        Question("network", "network-bind", "0.0.0.0:8080"),
        Question("network", "network-inbound", "0.0.0.0:8080"),
        Question("process", "process-fork", None),
        Question("process", "process-exec", "/bin/sh"),
        Question("process", "process-exec", f"{workspace}/program"),
        Question("process", "signal", "others"),
        Question("process", "process-info-pidinfo", "others"),
        Question("process", "mach-priv-task-port", "others"),
    ]
    made += [Question("mach services", "mach-lookup", name) for name in SERVICES]
    made += [
        Question("mach services", "mach-register", "org.example.service"),
        Question("other", "lsopen", None),
        Question("other", "appleevent-send", "com.apple.Terminal"),
        Question("other", "user-preference-write", "org.example"),
    ]
    return made


def audit(
    file: Path,
    params: Mapping[str, str],
    imports: Mapping[str, str],
    *,
    param_file: str | None = None,
    home: str = "/Users/u",
    workspace: str | None = None,
) -> int:
    """Print the table of decisions. The result is always 0."""
    profile = opened(file, params, param_file, imports)
    decider = Decider(profile)
    workspace = workspace or f"{home}/workspace"
    rows = [("topic", "question", "answer", "decided by")]
    marked: list[str] = []
    for each in questions(home, workspace, str(file.resolve())):
        given = {"vnode-type": "REGULAR-FILE"} if each.operation.startswith("file-") else {}
        decision = decider.decide(each.operation, subject_of(each.operation, each.subject, given))
        marks = notes(decider, decision, each.operation)
        numbers = [_numbered(marked, words) for words in marks]
        answer = _answer(decision) + "".join(f" [{number}]" for number in numbers)
        rows.append((each.topic, each.words(home), answer, _by(decider, each.operation, decision)))
    lines = [f"{file}: home {home}, workspace {workspace}"]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join((*cells, row[3])).rstrip())
    lines += [f"[{number}] {words}" for number, words in enumerate(marked, 1)]
    lines += [f"note: {words}" for words in remarks(decider)]
    sys.stdout.write("".join(f"{one_line(line)}\n" for line in lines))
    return 0


def _numbered(marked: list[str], words: str) -> int:
    if words not in marked:
        marked.append(words)
    return marked.index(words) + 1


def _answer(decision: Decision) -> str:
    if decision.outcome is Outcome.AMBIGUOUS:
        # Published measurements agree with the reading *specific*.
        return f"probably {ANSWERS[decision.specific.outcome]}"
    return ANSWERS[decision.outcome]


def _by(decider: Decider, operation: str, decision: Decision) -> str:
    if decision.outcome is Outcome.UNDECIDABLE:
        others = {reading.otherwise for reading in (decision.last, decision.specific)}
        return f"{decision.why}; otherwise {others.pop()}" if len(others) == 1 else decision.why
    chain = decider.chain(operation)
    found = []
    for reading in (decision.last, decision.specific):
        clause = reading.clause
        if clause is None:
            found.append("no clause matches")
        else:
            found.append(f"{clause.place}: {shortened(clause, chain, decision.subject)}")
    return "; ".join(dict.fromkeys(found))
