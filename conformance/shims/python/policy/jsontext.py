"""Parse JSON according to RFC 8259.

The parser is one loop, so that deep nesting cannot exhaust the stack.
"""

from __future__ import annotations

from policy.source import DEEPEST, Malformed, Node, Open, too_deep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLANK = " \t\n\r"
DIGITS = "0123456789"
HEX = "0123456789abcdefABCDEF"
PLAIN = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
WORDS = {"t": ("true", "boolean"), "f": ("false", "boolean"), "n": ("null", "null")}


def read(text: str) -> Node:
    """Return the Node of the text, or raise Malformed."""
    return Reader(text).read()


class Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[Open] = []
        self.i = 0

    def read(self) -> Node:
        value = None
        while value is None:
            value = self.step()
        if self.peek():
            raise Malformed(self.i, "the text goes on behind the value")
        return value

    def peek(self) -> str:
        """Return the next character that is not blank, or an empty text at the end."""
        text, i, end = self.text, self.i, len(self.text)
        while i < end and text[i] in BLANK:
            i += 1
        self.i = i
        return text[i : i + 1]

    def wrong(self, wanted: str) -> NoReturn:
        found = f"`{self.text[self.i]}`" if self.i < len(self.text) else "the end of the file"
        raise Malformed(self.i, f"{found} where {wanted} was due")

    def step(self) -> Node | None:
        """Read up to the end of the next value. Return the value if it is the outermost one."""
        top = self.open[-1] if self.open else None
        c = self.peek()
        if top is not None and top.node.kind == "object":
            if c == "}" and not top.node.value:
                return self.close()
            self.read_key(top, c)
            c = self.peek()
        elif top is not None and c == "]" and not top.node.value:
            return self.close()
        at = self.i
        if c == "{" or c == "[":
            if len(self.open) == DEEPEST:
                raise too_deep(at)
            self.i += 1
            self.open.append(Open("object" if c == "{" else "array", at))
            return None
        return self.done(self.read_scalar(c, at))

    def read_key(self, top: Open, c: str) -> None:
        if c != '"':
            self.wrong("a key in quotes")
        at = self.i
        top.key = self.read_string(), at
        if self.peek() != ":":
            self.wrong("`:`")
        self.i += 1

    def close(self) -> Node | None:
        self.i += 1
        return self.done(self.open.pop().node)

    def done(self, node: Node) -> Node | None:
        """Add a finished value to the open object or array.

        If objects or arrays end directly after the value, close them too.
        """
        while self.open:
            top = self.open[-1]
            top.add(node)
            c = self.peek()
            if c == ",":
                self.i += 1
                self.refuse_closing()
                return None
            if c != ("}" if top.node.kind == "object" else "]"):
                self.wrong("`,` or the end of the " + top.node.kind)
            self.i += 1
            node = self.open.pop().node
        return node

    def refuse_closing(self) -> None:
        if self.peek() in ("}", "]"):
            self.wrong("another one behind the comma")

    def read_scalar(self, c: str, at: int) -> Node:
        if c == '"':
            return Node("string", at, self.read_string())
        if c and (c == "-" or c in DIGITS):
            return self.read_number(at)
        word, kind = WORDS.get(c, ("", ""))
        if not word or not self.text.startswith(word, at):
            self.wrong("a value")
        self.i += len(word)
        return Node(kind, at, word)

    def read_number(self, at: int) -> Node:
        kind = "integer"
        self.i += self.text[at] == "-"
        if self.text.startswith("0", self.i):
            self.i += 1
            if self.text[self.i : self.i + 1] in DIGITS and self.i < len(self.text):
                self.wrong("no digit: a number does not begin with 0")
        else:
            self.digits()
        if self.text.startswith(".", self.i):
            kind = "number"
            self.i += 1
            self.digits()
        if self.text[self.i : self.i + 1] in ("e", "E"):
            kind = "number"
            self.i += 1
            self.i += self.text[self.i : self.i + 1] in ("+", "-")
            self.digits()
        return Node(kind, at, self.text[at : self.i])

    def digits(self) -> None:
        start = self.i
        while self.i < len(self.text) and self.text[self.i] in DIGITS:
            self.i += 1
        if self.i == start:
            self.wrong("a digit")

    def read_string(self) -> str:
        start = self.i + 1
        end = self.text.find('"', start)
        piece = self.text[start : end if end >= 0 else None]
        if end >= 0 and "\\" not in piece:
            refuse_controls(piece, start)
            self.i = end + 1
            return piece
        return self.read_escaped(start)

    def read_escaped(self, i: int) -> str:
        """Read a string that has escapes or does not end."""
        found = []
        while True:
            quote, escape = self.text.find('"', i), self.text.find("\\", i)
            stop = min(each for each in (quote, escape, len(self.text)) if each >= 0)
            refuse_controls(self.text[i:stop], i)
            found.append(self.text[i:stop])
            self.i = stop
            if stop == len(self.text):
                self.wrong('`"`')
            if stop == quote:
                self.i += 1
                return "".join(found)
            found.append(self.read_escape(stop))
            i = self.i

    def read_escape(self, at: int) -> str:
        c = self.text[at + 1 : at + 2]
        if c in PLAIN:
            self.i = at + 2
            return PLAIN[c]
        if c != "u":
            raise Malformed(at, "a backslash and what is not an escape of JSON")
        unit = self.read_unit(at)
        if 0xD800 <= unit < 0xDC00 and self.text.startswith("\\u", self.i):
            low = self.read_unit(self.i)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00)
        if 0xD800 <= unit < 0xE000:
            raise Malformed(at, "half of a surrogate pair")
        refuse_escaped_nul(unit, at)
        return chr(unit)

    def read_unit(self, at: int) -> int:
        digits = self.text[at + 2 : at + 6]
        if len(digits) < 4 or any(c not in HEX for c in digits):
            raise Malformed(at, "an escape without four hexadecimal digits")
        self.i = at + 6
        return int(digits, 16)


def refuse_controls(piece: str, start: int) -> None:
    if piece and min(piece) < " ":
        at = start + next(i for i, c in enumerate(piece) if c < " ")
        raise Malformed(at, "a control character in a string; it must be escaped")


def refuse_escaped_nul(unit: int, at: int) -> None:
    if unit == 0:
        raise Malformed(at, "an escaped NUL")
