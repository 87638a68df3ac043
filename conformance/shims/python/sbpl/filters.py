"""One rule as one filter: (literal …), (subpath …) or (regex …)."""

import policy.glob as glob

import sbpl.spellings as spellings
from sbpl.places import below, refuse_controls, refused

LONGEST = 1000
SPECIAL = "\\.[](){}*+?^$|"

# `?` is one character for a policy. Whether the kernel counts bytes or characters is not known:
# a deny takes up to four bytes that are not ASCII, an allow takes none.
ONE_DENIED = "([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)"
ONE_ALLOWED = "[ -.0-~]"

DEEP = (glob.ANYTHING, glob.SEGMENTS, glob.BELOW)
EXPRESSIONS = {
    glob.SEGMENTS: "(.*/)?",
    glob.BELOW: "(/.*)?",
    glob.ANYTHING: ".*",
    glob.STAR: "[^/]*",
    glob.ANY_NAME: "[^/]+",
}


def quoted(text, pointer):
    """A string of the text; `pointer` is told where it cannot be one."""
    refuse_controls(text, pointer)
    inner = escape(text)
    if size(inner) > LONGEST:
        why = f"becomes a string of {size(inner)} bytes, {LONGEST} are the most; shorten it"
        raise refused(pointer, why)
    return f'"{inner}"'


def escape(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def size(inner):
    return len(inner.encode())


def literal(path, pointer):
    return f"(literal {quoted(path, pointer)})"


def subpath(path, pointer):
    return f"(subpath {quoted(path, pointer)})"


def regex(expression, pointer):
    return f"(regex {quoted(expression, pointer)})"


class Filters:
    """Filters of the rules below one root."""

    def __init__(self, root, fold):
        self.root = root
        self.fold = fold

    def of(self, entry, denied):
        """`denied`: whether the clause denies."""
        found = pieces(entry.rule.body)
        where = entry.rule.pointer
        if self.fold:
            return self.pattern(found, denied, where)
        if entry.rule.body == ".":
            return literal(self.root, where)
        if is_everything(found):
            return subpath(self.root, where)
        if not has_wildcard(found):
            return literal(self.path(found), where)
        if is_subtree(found):
            return subpath(self.path(found[:-1]), where)
        return self.pattern(found, denied, where)

    def path(self, characters):
        return below(self.root) + "".join(characters)

    def ancestor(self, names, pointer):
        path = below(self.root) + "/".join(names)
        if self.fold:
            return regex(f"^{self.written(path)}$", pointer)
        return literal(path, pointer)

    def pattern(self, found, denied, pointer):
        return regex(anchored(self.expression(found, denied)), pointer)

    def expression(self, found, denied):
        if is_everything(found):
            return self.written(self.root.rstrip("/")) + EXPRESSIONS[glob.BELOW]
        if not found:
            return self.written(self.root)
        parts = self.written_runs([*below(self.root), *found])
        return "".join(expression_of(part, denied) for part in parts)

    def written_runs(self, found):
        """Runs of characters become expressions, wildcards stay."""
        run = ""
        for piece in found:
            if is_wildcard(piece):
                yield self.written(run)
                yield piece
                run = ""
            else:
                run += piece
        yield self.written(run)

    def written(self, characters):
        """An expression for these very characters."""
        if self.fold:
            return spellings.expression(characters, literally)
        return literally(characters)


def literally(characters):
    return "".join("\\" + c if c in SPECIAL else c for c in characters)


def anchored(expression):
    return f"^{expression}$"


def expression_of(part, denied):
    if part == glob.ONE:
        return one(denied)
    return EXPRESSIONS.get(part, part)


def one(denied):
    return ONE_DENIED if denied else ONE_ALLOWED


def pieces(body):
    """As globs are read; of several `**` segments one is enough."""
    found = []
    for piece in glob.pieces(body):
        repeated = found[-1:] == [piece] or is_everything(found)
        if not (piece in DEEP and repeated):
            found.append(piece)
    return found


def is_everything(found):
    """`**`, however often."""
    return found == [glob.ANYTHING]


def is_wildcard(piece):
    return piece == glob.ONE or piece in EXPRESSIONS


def has_wildcard(found):
    return any(map(is_wildcard, found))


def is_subtree(found):
    return found[-1] == glob.BELOW and not has_wildcard(found[:-1])


def plain_names(body):
    """The leading segments without wildcards; of `P/**` all of P."""
    names = []
    for name in body.split("/"):
        if name == "." or wild(name):
            return names
        names.append(name)
    return names


def wild(name):
    return "*" in name or "?" in name
