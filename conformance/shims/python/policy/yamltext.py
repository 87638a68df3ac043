"""Read YAML 1.2 with the core schema.

The reader uses the events of PyYAML. At the level of events PyYAML does not resolve types.
"""

from __future__ import annotations

import os
import re
import sys

from policy.source import DEEPEST, Malformed, Node, Open, too_deep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    import yaml

BREAKS = {"\x85": "U+0085", "\u2028": "U+2028", "\u2029": "U+2029"}
END_OF_LINE = re.compile("[\\r\\n\\0]")
NULLS = ("", "~", "null", "Null", "NULL")
BOOLEANS = ("true", "True", "TRUE", "false", "False", "FALSE")
NOT_FINITE = (".inf", ".Inf", ".INF")
NOT_A_NUMBER = (".nan", ".NaN", ".NAN")
QUOTE = "; quote it if it is a text"


def available() -> bool:
    """True if PyYAML is installed. It is not imported for this, because the import takes long."""
    add_site_packages()
    return any(os.path.isdir(os.path.join(place, "yaml")) for place in sys.path)


def add_site_packages() -> None:
    """Add the site-packages of the checkout. The option -S leaves them out."""
    root = os.path.abspath(__file__)
    for _ in range(5):
        root = os.path.dirname(root)
    libraries = os.path.join(root, ".venv", "lib")
    for name in os.listdir(libraries) if os.path.isdir(libraries) else ():
        site = os.path.join(libraries, name, "site-packages")
        if site not in sys.path:
            sys.path.append(site)


def read(text: str) -> Node:
    refuse_strange_breaks(text)
    add_site_packages()
    import yaml

    try:
        return build(yaml.parse(text, Loader=loader(yaml)))
    except yaml.MarkedYAMLError as e:
        message = ", ".join(part for part in (e.context, e.problem) if part)
        raise Malformed(place_of(e).index, message + QUOTE) from None
    except yaml.reader.ReaderError as e:
        raise Malformed(e.position, "a character that YAML does not allow") from None
    except (ValueError, OverflowError) as e:
        raise Malformed(0, f"an escape that is not a character: {e}") from None


def loader(yaml: Any) -> Any:
    """Return a loader with two rules of YAML 1.2 that PyYAML lacks.

    They are about tabs between tokens, and `?` in flow collections.
    """

    class Loader(yaml.SafeLoader):
        def scan_to_next_token(self) -> None:
            if self.peek() == "#":
                self.skip_comment()
            super().scan_to_next_token()
            while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
                self.forward()
                super().scan_to_next_token()

        def skip_comment(self) -> None:
            """Skip a whole comment at once: PyYAML needs seconds for each megabyte of comments."""
            end = END_OF_LINE.search(self.buffer, self.pointer)
            assert end is not None  # PyYAML appends a NUL to the text, which also ends a comment
            size = end.start() - self.pointer
            self.pointer += size
            self.index += size
            self.column += size

        def scan_plain_spaces(self, indent: int, start_mark: Any) -> Any:
            length = 0
            while self.peek(length) in (" ", "\t"):
                length += 1
            blanks = self.prefix(length)
            if "\t" not in blanks:
                return super().scan_plain_spaces(indent, start_mark)
            self.forward(length)
            if self.peek() in "\r\n":
                return super().scan_plain_spaces(indent, start_mark)
            return [blanks]

        def scan_directive_name(self, start_mark: Any) -> Any:
            name = super().scan_directive_name(start_mark)
            if name not in ("YAML", "TAG"):
                raise yaml.scanner.ScannerError(None, None, f"a %{name} directive", start_mark)
            return name

        def check_key(self) -> Any:
            return self.peek(1) in "\0 \t\r\n" + (",[]{}" if self.flow_level else "")

        def check_plain(self) -> Any:
            return self.with_questions(super().check_plain)

        def scan_plain(self) -> Any:
            return self.with_questions(super().scan_plain)

        def with_questions(self, scan: Callable[[], Any]) -> Any:
            """Treat a question mark in a flow collection as an ordinary character, as YAML 1.2
            does.

            During the scan a dash replaces the question mark.
            """
            if self.flow_level:
                self.peek = lambda i=0: super(Loader, self).peek(i).replace("?", "-")
            try:
                return scan()
            finally:
                self.__dict__.pop("peek", None)

    return Loader


def place_of(error: yaml.MarkedYAMLError) -> Any:
    """Return the place of a problem.

    This is the place of an unquoted `**` or `!(` if there is one, otherwise the place where the
    reader stopped.
    """
    if error.context in ("while scanning an alias", "while scanning a tag"):
        return error.context_mark
    return error.problem_mark or error.context_mark


def refuse_strange_breaks(text: str) -> None:
    for c, name in BREAKS.items():
        if c in text:
            why = f"{name} ends a line for some readers; write it as an escape"
            raise Malformed(text.index(c), why)


def build(events: Iterable[Any]) -> Node:
    root = None
    stack: list[Open] = []
    for event in events:
        kind = type(event).__name__.removesuffix("Event")
        at = event.start_mark.index
        if kind == "DocumentStart":
            if root is not None:
                raise Malformed(at, "a second document")
            refuse_tag_directive(event, at)
        elif kind in ("MappingStart", "SequenceStart"):
            refuse_properties(event, at)
            if len(stack) == DEEPEST:
                raise too_deep(at)
            if stack and is_key(stack[-1]):
                raise Malformed(at, "a key that is not a string")
            stack.append(Open("object" if kind == "MappingStart" else "array", at))
        elif kind == "Alias":
            raise Malformed(at, "an alias (`*`)" + QUOTE)
        elif kind == "Scalar":
            refuse_properties(event, at)
            node = scalar(event, at)
            if stack and is_key(stack[-1]):
                take_key(stack[-1], event, node)
            else:
                root = put(stack, node, root)
        elif kind in ("MappingEnd", "SequenceEnd"):
            root = put(stack, stack.pop().node, root)
    if root is None:
        raise Malformed(0, "the file is empty")
    return root


def is_key(top: Open) -> bool:
    return top.node.kind == "object" and top.key is None


def take_key(top: Open, event: yaml.ScalarEvent, node: Node) -> None:
    if is_plain(event) and event.value == "<<":
        raise Malformed(node.at, "a merge key (`<<`)" + QUOTE)
    if node.kind != "string":
        raise Malformed(node.at, f"a key that is not a string but {node.kind}" + QUOTE)
    top.key = event.value, node.at


def put(stack: list[Open], node: Node, root: Node | None) -> Node | None:
    if not stack:
        return node
    stack[-1].add(node)
    return root


def refuse_tag_directive(event: Any, at: int) -> None:
    if event.tags:
        raise Malformed(at, "a %TAG directive")


def refuse_properties(event: Any, at: int) -> None:
    if event.anchor is not None:
        raise Malformed(at, "an anchor (`&`)" + QUOTE)
    if event.tag is not None:
        raise Malformed(at, "a tag (`!`)" + QUOTE)


def scalar(event: Any, at: int) -> Node:
    if not is_plain(event):
        refuse_halves(event.value, at)
        return Node("string", at, event.value)
    kind = kind_of_plain(event.value)
    return Node(kind, at, integer(event.value) if kind == "integer" else event.value)


def refuse_halves(text: str, at: int) -> None:
    """Refuse escapes for half of a surrogate pair. A UTF-8 file cannot contain such a character."""
    if "\0" in text:
        raise Malformed(at, "an escaped NUL")
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise Malformed(at, "half of a surrogate pair")


def is_plain(event: Any) -> bool:
    return event.style is None


def kind_of_plain(text: str) -> str:
    """Return the type of a plain scalar by the core schema (YAML 1.2.2, 10.3.2)."""
    if text in NULLS:
        return "null"
    if text in BOOLEANS:
        return "boolean"
    if is_integer(text):
        return "integer"
    return "number" if is_float(text) else "string"


def only(text: str, allowed: str) -> bool:
    return text != "" and all(c in allowed for c in text)


def unsigned(text: str) -> str:
    return text[1:] if text[:1] in ("+", "-") else text


def is_integer(text: str) -> bool:
    if text.startswith("0o"):
        return only(text[2:], "01234567")
    if text.startswith("0x"):
        return only(text[2:], "0123456789abcdefABCDEF")
    return only(unsigned(text), "0123456789")


def is_float(text: str) -> bool:
    text, bare = unsigned(text), text
    if text in NOT_FINITE or bare in NOT_A_NUMBER:
        return True
    number, e, exponent = text.replace("E", "e").partition("e")
    if e and not only(unsigned(exponent), "0123456789"):
        return False
    whole, _, fraction = number.partition(".")
    return only(whole + fraction, "0123456789")


def integer(text: str) -> str:
    """Return the integer as JSON would write it."""
    if text[:2] in ("0o", "0x"):
        digits = text[2:].lstrip("0")
        if len(digits) > 1000:
            return text
        return str(int(digits or "0", 8 if text[1] == "o" else 16))
    sign = "-" if text.startswith("-") else ""
    return sign + (unsigned(text).lstrip("0") or "0")
