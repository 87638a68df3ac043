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
# Where names fold, a letter and its marks are one character: of what is not ASCII come up to eight
# bytes behind it.
ONE_FOLDED = "[^/]" + 8 * "[^ -~]?"

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
        if self.fold:
            return self.pattern("/".join(names), True, pointer)
        return literal(self.path("/".join(names)), pointer)

    def pattern(self, found, denied, pointer):
        return regex(anchored(self.expression(found, denied)), pointer)

    def expression(self, found, denied):
        """The root is one directory: it stays as it is, whatever folds."""
        if is_everything(found):
            return literally(self.root.rstrip("/")) + EXPRESSIONS[glob.BELOW]
        root = below(self.root) if found else self.root
        return literally(root) + "".join(self.written(run, denied) for run in runs(found))

    def written(self, run, denied):
        """An expression for a wildcard, or for these very characters."""
        if run == glob.ONE:
            return one(denied, self.fold)
        if run in EXPRESSIONS:
            return EXPRESSIONS[run]
        return spellings.expression(run, literally) if self.fold else literally(run)


def literally(characters):
    return "".join("\\" + c if c in SPECIAL else c for c in characters)


def anchored(expression):
    return f"^{expression}$"


def one(denied, fold):
    if not denied:
        return ONE_ALLOWED
    return ONE_FOLDED if fold else ONE_DENIED


def runs(found):
    """Characters together, since spellings may be of several; each wildcard by itself."""
    run = ""
    for piece in found:
        if is_wildcard(piece):
            yield from (run, piece) if run else (piece,)
            run = ""
        else:
            run += piece
    if run:
        yield run


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
