"""Limit a fault to one part of a text, and to requests that its topic is about.

Folding, exceptions, side roots and unusual names have requirements of their own. A fault in modify
rules that breaks those as well would prove less about the suite.
"""

import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.ops as ops
from faults.registry import replaces
from sbpl.given import Input
from sbpl.places import lies_in


class Now:
    part = ""  # name of the part that is being written
    given: Input


def marked(part):
    def run(given):
        Now.part, Now.given = part.__name__, given
        yield from part(given)

    run.__name__ = part.__name__
    return run


clauses.PARTS = tuple(map(marked, clauses.PARTS))


def replaces_part(name):
    """Replace a part, as registry.replaces does. The function gets the lines of the original."""

    def install(function):
        def exchanged(part):
            if part.__name__ != name:
                return part

            def run(given):
                yield from function(list(part(given)), given)

            run.__name__ = name
            return run

        clauses.PARTS = tuple(map(exchanged, clauses.PARTS))
        return function

    return install


def moved(name, before):
    """Move a part to the place before another one."""
    parts = [part for part in clauses.PARTS if part.__name__ != name]
    (moving,) = (part for part in clauses.PARTS if part.__name__ == name)
    at = [part.__name__ for part in parts].index(before)
    clauses.PARTS = (*parts[:at], moving, *parts[at:])


def spelled_as_given():
    """Return a dictionary that gets each path of a request before its slashes are normalised, by
    its pointer."""
    given_as = {}

    @replaces(ops)
    def place(original, data, pointer):
        given_as[pointer] = data.decode(errors="replace")
        return original(data, pointer)

    return given_as


def replaces_filter(part):
    """Replace the filter of a rule in a part.

    The function gets the filter, the Filters object, the pieces of the rule, the rule as written,
    and True if the clause denies. If it returns None, the filter stays.
    """
    is_meant = {"modify": modifies_alone, "read": reads_alone}[part]

    def install(function):
        @replaces(filters.Filters)
        def of(original, self, entry, denied):
            right = original(self, entry, denied)
            if Now.part != part or not is_meant(Now.given):
                return right
            found = filters.pieces(entry.rule.body)
            return function(right, self, found, entry.rule.body, denied) or right

        return function

    return install


def drops_a_star_behind_stars(part):
    """Compile `P/**/*` as `P/**` in a part."""

    @replaces_filter(part)
    def of(right, holder, found, body, denied):
        if body.endswith("**/*") and body != "**/*":
            return regex(holder.expression(filters.pieces(body[:-2]), denied))
        return None


def is_simple(given):
    return not (
        given.fold
        or given.provider
        or given.side_roots
        or is_strange(given.root)
        or inside_of_scratch(given)
        or any(entry.sign == "except" for entry in given.modify)
    )


def modifies_alone(given):
    """True for simple requests without read denies, which also protect paths from removal."""
    return is_simple(given) and not clauses.read_denied(given)


def denies_last(lines):
    """Return the lines with all denies after all allows."""
    return sorted(lines, key=lambda line: line.startswith("(deny"))


def denies_of_many_last(lines, given):
    """Sort lists of more than 40 lines as `denies_last` does."""
    return denies_last(lines) if len(lines) > 40 else lines


def last_of_each_without_case(lines, given):
    """Of lines that differ only in case, keep the last one."""
    return list({line.lower(): line for line in lines}.values())


def reads_alone(given):
    return is_simple(given) and not given.modify


def asks_one_rule(given):
    """True for lists that test a single rule: alone, after an allow, or between two rules."""
    if given.fold or given.env or given.provider or clauses.read_denied(given):
        return False
    own = "".join(entry.sign for entry in clauses.own_rules(given.modify))
    return len(own) == len(given.modify) and own in ("+", "+-", "+-+")


def asks_every_kind(given):
    """True for requests with both an exception and a deny of reading."""
    holes = any(entry.sign == "except" for entry in given.modify)
    return holes and bool(clauses.read_denied(given)) and not (given.env or given.fold)


def is_spoken(body):
    """True if the rule begins with a word of more than two letters. Random globs have names of two
    letters."""
    name = body.split("/")[0]
    return name.isalpha() and len(name) > 2 and len(set(name)) == len(name)


def is_by_ending(body):
    """True for a rule about an ending in a directory, like `*.env`."""
    star, _, ending = body.rpartition("/")[2].partition(".")
    return star == "*" and ending.isalpha() and len(ending) > 1


def is_strange(path):
    return any(c in filters.SPECIAL or c in ' "' or not c.isascii() for c in path)


def is_one_path(found):
    return not filters.has_wildcard(found)


def is_glob(found):
    """True unless it is a single path or a subtree without wildcards."""
    return filters.has_wildcard(found) and not filters.is_subtree(found)


def regex(expression):
    return filters.regex(f"^{expression}$", "/")


def inside_of_scratch(given):
    """True if the root lies in a scratch directory or a state directory."""
    return any(lies_in(given.root, place) for place in places(given))


def places(given):
    found = [clauses.state_directory(given.env, *each) for each in clauses.STATE]
    at_home = given.env.get("HOME")
    homes = [f"{at_home}/{name}" for name in clauses.SCRATCH_AT_HOME] if at_home else []
    return [*clauses.SCRATCH, *homes, *(each[0] for each in found if each)]
