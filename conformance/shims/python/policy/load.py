"""Read a policy file into rules, and find all problems of its structure in one pass."""

from __future__ import annotations

import policy.jsontext as jsontext
from policy.source import Malformed, Problem, Source
from policy.spelling import Refused, names_folder, split_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from kinds import Object
    from policy.source import Member, Node

NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
MIGRATE = (
    "schemaVersion 1 is not read any more; write schemaVersion 2 with the rules in"
    " spec.denyRead, spec.denyModify and spec.fsProfiles"
)


class Rule:
    def __init__(
        self,
        body: str,
        negated: bool,
        at: int = 0,
        pointer: str = "",
        line: int | None = None,
        file: str | None = None,
        names_folder: bool = False,
    ) -> None:
        self.body = body
        self.negated = negated
        self.at = at
        self.pointer = pointer
        self.line = line
        self.file = file
        self.names_folder = names_folder


class Profile:
    def __init__(
        self,
        name: str,
        at: int,
        pointer: str,
        file: str | None,
        read: list[Rule],
        modify: list[Rule],
    ) -> None:
        self.name = name
        self.at = at
        self.pointer = pointer
        self.file = file
        self.read = read
        self.modify = modify

    def rules(self) -> list[Rule]:
        return [*self.read, *self.modify]


class Policy:
    name = ""
    description: str | None = None

    def __init__(self) -> None:
        self.deny_read: list[Rule] = []
        self.deny_modify: list[Rule] = []  # a negated rule in this list is an exception
        self.profiles: dict[str, Profile] = {}

    def denies(self) -> list[Rule]:
        return [rule for rule in self.deny_modify if not rule.negated]

    def exceptions(self) -> list[Rule]:
        return [rule for rule in self.deny_modify if rule.negated]


class File:
    """One file: the readable part of its policy, and its problems."""

    def __init__(self, data: bytes, form: str, name: str) -> None:
        self.name = name
        self.source = Source(data)
        self.policy = Policy()
        self.problems: list[Problem] = []
        self.known: set[tuple[int, str, str]] = set()
        self.is_read = False  # True if the file was read far enough to be validated
        try:
            if self.source.failure:
                raise self.source.failure
            root = reader_of(form)(self.source.text)
        except Malformed as failure:
            self.wrong(failure.at, "", failure.message)
            return
        self.head(root)
        if not self.problems:
            self.body(root)
            self.is_read = True

    def wrong(self, at: int, pointer: str, message: str) -> None:
        """Add a problem.

        The check of the file and the check of the merge may find the same problem. It is added
        once.
        """
        if (at, pointer, message) not in self.known:
            self.known.add((at, pointer, message))
            self.problems.append(Problem(at, pointer, message))

    def problems_as_json(self) -> list[Object]:
        """Return the problems for an answer, in the order of their positions."""
        return [self.as_json(each) for each in sorted(self.problems, key=lambda p: p.at)]

    def as_json(self, problem: Problem) -> Object:
        line, column = self.source.place(problem.at)
        return {
            "pointer": problem.pointer,
            "line": line,
            "column": column,
            "file": self.name,
            "message": problem.message,
        }

    def head(self, root: Node) -> None:
        """Check the fields that identify a policy file. The rest is read only if these are
        right."""
        if root.kind != "object":
            self.wrong_kind(root, "", "object")
            return
        kind, version = member(root, "kind"), member(root, "schemaVersion")
        if version is not None and version.kind == "integer" and version.value == "1":
            self.wrong(version.at, "/schemaVersion", MIGRATE)
            return
        for name, node in (("kind", kind), ("schemaVersion", version)):
            if node is None:
                self.wrong(root.at, "", f"{name} is missing")
        if kind is not None and (kind.kind != "string" or kind.value != "Policy"):
            self.wrong(kind.at, "/kind", "kind must be Policy")
        if version is not None:
            self.check_version(version)

    def check_version(self, node: Node) -> None:
        if node.kind != "integer":
            self.wrong(node.at, "/schemaVersion", "schemaVersion must be the integer 2")
        elif node.value != "2":
            value = "0" if node.value == "-0" else node.value[:100]
            self.wrong(node.at, "/schemaVersion", f"unsupported policy schemaVersion {value}")

    def body(self, root: Node) -> None:
        self.keys(root, "")
        top = self.object(root, "", ("schemaVersion", "kind", "metadata", "spec"))
        self.require(top, root, "", ("metadata", "spec"))
        if "metadata" in top:
            self.metadata(top["metadata"], "/metadata")
        if "spec" in top:
            self.spec(top["spec"], "/spec")

    def keys(self, node: Node, pointer: str) -> None:
        """Find repeated keys at every depth."""
        if node.kind == "array":
            for i, each in enumerate(node.value):
                self.keys(each, f"{pointer}/{i}")
        if node.kind != "object":
            return
        for each in node.value:
            inner = pointer + "/" + escaped(each.name)
            if each.repeated:
                self.wrong(each.at, inner, f"{each.name} is given twice")
            self.keys(each.node, inner)

    def object(
        self, node: Node, pointer: str, known: Collection[str] | None = None
    ) -> dict[str, Node]:
        """Return the members by name. If a name is repeated, its first member counts."""
        if node.kind != "object":
            self.wrong_kind(node, pointer, "object")
            return {}
        found = {}
        for each in node.value:
            if each.repeated:
                continue
            if known is not None and not is_known(each.name, known):
                self.unknown(each, pointer)
            else:
                found[each.name] = each.node
        return found

    def unknown(self, each: Member, pointer: str) -> None:
        self.wrong(each.at, pointer + "/" + escaped(each.name), f"{each.name} is not known")

    def require(
        self, found: Collection[str], node: Node, pointer: str, names: Iterable[str]
    ) -> None:
        if node.kind != "object":
            return
        for name in names:
            if name not in found:
                self.wrong(node.at, pointer, f"{name} is missing")

    def wrong_kind(self, node: Node, pointer: str, wanted: str) -> None:
        advice = "; quote it" if wanted == "string" else ""
        self.wrong(node.at, pointer, f"must be of type {wanted}, not {node.kind}{advice}")

    def string(self, node: Node, pointer: str) -> str | None:
        if node.kind != "string":
            self.wrong_kind(node, pointer, "string")
            return None
        text: str = node.value
        return text

    def metadata(self, node: Node, pointer: str) -> None:
        found = self.object(node, pointer, ("name", "labels", "annotations"))
        self.require(found, node, pointer, ("name",))
        for name in ("labels", "annotations"):
            if name in found:
                self.strings(found[name], f"{pointer}/{name}")
        given = self.string(found["name"], pointer + "/name") if "name" in found else None
        if given is not None:
            self.policy.name = given
            if not is_name(given):
                why = "must be 1 to 64 characters of A-Z a-z 0-9 _ -"
                self.wrong(found["name"].at, pointer + "/name", why)

    def strings(self, node: Node, pointer: str) -> None:
        for name, value in self.object(node, pointer).items():
            self.string(value, pointer + "/" + escaped(name))

    def spec(self, node: Node, pointer: str) -> None:
        found = self.object(node, pointer, ("description", "denyRead", "denyModify", "fsProfiles"))
        if "description" in found:
            self.policy.description = self.string(found["description"], pointer + "/description")
        self.policy.deny_read = self.rules(found.get("denyRead"), pointer + "/denyRead")
        self.policy.deny_modify = self.rules(found.get("denyModify"), pointer + "/denyModify")
        if "fsProfiles" in found:
            self.profiles(found["fsProfiles"], pointer + "/fsProfiles")

    def profiles(self, node: Node, pointer: str) -> None:
        self.object(node, pointer)
        for each in node.value if node.kind == "object" else ():
            if each.repeated:
                continue
            inner = pointer + "/" + escaped(each.name)
            if not each.name:
                self.wrong(each.at, inner, "the name of a profile is empty")
            found = self.object(each.node, inner, ("read", "modify"))
            read = self.rules(found.get("read"), inner + "/read")
            modify = self.rules(found.get("modify"), inner + "/modify")
            profile = Profile(each.name, each.at, inner, self.name, read, modify)
            self.policy.profiles[each.name] = profile

    def rules(self, node: Node | None, pointer: str) -> list[Rule]:
        if node is None:
            return []
        if node.kind != "array":
            self.wrong_kind(node, pointer, "array")
            return []
        made = [self.rule(each, f"{pointer}/{i}") for i, each in enumerate(node.value)]
        return [rule for rule in made if rule is not None]

    def rule(self, node: Node, pointer: str) -> Rule | None:
        text = self.string(node, pointer)
        if text is None:
            return None
        try:
            negated, body = split_rule(text)
        except Refused as why:
            self.wrong(node.at, pointer, f"the rule {why}")
            return None
        line = self.source.place(node.at)[0]
        return Rule(body, negated, node.at, pointer, line, self.name, names_folder(text, body))


def reader_of(form: str) -> Callable[[str], Node]:
    if form == "json":
        return jsontext.read
    import policy.yamltext

    return policy.yamltext.read


def member(node: Node, name: str) -> Node | None:
    """Return the first member of this name."""
    members: list[Member] = node.value
    return next((each.node for each in members if each.name == name), None)


def is_known(name: str, known: Collection[str]) -> bool:
    return name in known


def is_name(text: str) -> bool:
    return 1 <= len(text) <= 64 and all(c in NAME for c in text)


def escaped(name: str) -> str:
    """Escape a name for a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
