"""Make the normal forms of paths (in checks) and of rules (in policies)."""

from __future__ import annotations

BLANKS = " \t"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Refused(Exception):
    """Raised if a path or a rule is refused.

    The message is the rest of a sentence that begins with `the path` or `the rule`.
    """


def normal_path(data: bytes) -> str:
    """Return the path in normal form, or raise Refused.

    No byte is replaced, because the kernel would not replace it.
    """
    text = decode(data)
    refuse_what_no_name_has(text)
    refuse_backslash(text)
    refuse_ends(text)
    normal = "/".join(segments(text)) or "."
    refuse_ends(normal)
    return normal


def refuse_backslash(text: str) -> None:
    if "\\" in text:
        raise Refused("holds a backslash; separators are `/`")


def refuse_ends(text: str) -> None:
    refuse_foreign(text)
    if text[0] in BLANKS or text[-1] in BLANKS:
        raise Refused("begins or ends with a blank, and nothing is trimmed")


def decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("is not UTF-8") from None


def refuse_what_no_name_has(text: str) -> None:
    if not text:
        raise Refused("is empty; the root is `.`")
    if "\0" in text:
        raise Refused("holds a NUL")


def refuse_foreign(text: str) -> None:
    """Refuse paths that lead outside of the workspace, on this system or on other systems."""
    if text.startswith("/"):
        raise Refused("is absolute; it must be relative to the root")
    if text == "~" or text.startswith("~/"):
        raise Refused("begins with `~`, which is not expanded")
    if text[1:2] == ":" and text[0] in LETTERS:
        raise Refused("begins with a drive")


def segments(text: str) -> list[str]:
    kept = [segment for segment in text.split("/") if segment not in ("", ".")]
    if ".." in kept:
        raise Refused("has a `..` segment")
    return kept


def split_rule(text: str) -> tuple[bool, str]:
    """Split a rule as it is written into (negated, body)."""
    text = text.strip(BLANKS)
    if not text.startswith("!"):
        return False, normal_body(text)
    text = text[1:].strip(BLANKS)
    if not text:
        raise Refused("is `!` alone and negates nothing")
    if text.startswith("!"):
        raise Refused("begins with `!!`; the file `!x` is written `./!x`")
    return True, normal_body(text)


def normal_body(text: str) -> str:
    """Return the glob of a rule, or of glob.match, in normal form.

    A leading `!` is an ordinary character here.
    """
    text = text.strip(BLANKS)
    refuse_what_no_name_has(text)
    text = slashes(text)
    refuse_foreign(text)
    body = shorten_stars("/".join(segments(text))) or "."
    refuse_foreign(body)
    return body


def names_folder(text: str, body: str) -> bool:
    """True if a rule is written with a separator at its end, but matches no path below the
    folder."""
    last = slashes(text.rstrip(BLANKS)).rpartition("/")
    return last[1] == "/" and last[2] in ("", ".") and not body.endswith(("**", " ", "\t"))


def slashes(text: str) -> str:
    return text.replace("\\", "/")


def shorten_stars(text: str) -> str:
    while "***" in text:
        text = text.replace("***", "**")
    return text


def printed(body: str) -> str:
    """Return a spelling from which the parser makes this body again."""
    before = "./" if body[0] in "!" + BLANKS else ""
    return before + body + ("/" if body[-1] in BLANKS else "")
