"""Make paths and names of every length around the step sizes of an engine.

Engines process text in steps: machine words of 8 bytes, vector registers of 16, 32 or 64 bytes,
masks of 32 or 64 bits. They may miss a character at the border of two steps. So each spelling is
tested at every offset, and each name with every length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

STEPS = (8, 16, 32, 64, 128)
EVERY = range(1, STEPS[-1] + 3)
NEAR = sorted({size + off for size in STEPS for off in (-2, -1, 0, 1, 2)})
# Only some of the lengths, for tests that need one request per length.
SOME = sorted({*range(1, 36), *NEAR})


def name(length: int) -> str:
    """Return a path of one name, which has this length."""
    return "a" * length


def folders(length: int) -> str:
    """Return a path of this length that has as many names as possible."""
    return "a/" * ((length - 1) // 2) + "ab"[: 2 - length % 2]


def wide(length: int) -> str:
    """Return a name whose characters have two bytes each. `length` is in bytes."""
    return "é" * (length // 2) + "a" * (length % 2)


PADS = (name, folders, wide)
# Texts after the tested spelling: no text, a few bytes, and more than one step.
TAILS = ("", "/b", "/b" * 9)


def holding(spelling: bytes) -> Iterator[bytes]:
    """Yield paths that contain the spelling at every offset."""
    for length in EVERY:
        for pad in PADS:
            for tail in TAILS:
                yield pad(length).encode() + spelling + tail.encode()


# For each rule, paths that it matches and paths that it almost matches. {} is filled up to a
# length.
SHAPES: dict[str, tuple[list[str], list[str]]] = {
    "**/secret/**": (
        ["{}/secret", "{}/secret/k", "secret/{}", "{}/secret/{}"],
        ["{}/secrets/k", "{}/xsecret", "{}/secre", "{}secret/k"],
    ),
    "keys/**": (["keys/{}"], ["keyss/{}", "k/keys/{}", "{}/keys/k"]),
    "**/*.pem": (["{}.pem", "k/{}.pem", "{}/k.pem"], ["{}.pems", "{}pem", "{}.pem/k"]),
    "**/from/**/to": (
        ["from/{}/to", "{}/from/to", "{}/from/{}/to"],
        ["from/{}to", "from/{}/to/k", "{}from/to", "{}/from{}/to"],
    ),
    "**/tok-??": (["{}/tok-ab", "{}/tok-é😀"], ["{}/tok-é", "{}/tok-a/b", "{}/tok-aé€"]),
    "**/*??-x": (["{}/é€-x", "{}/{}cd-x"], ["{}/é-x", "{}/€/-x"]),
    "**/*=ab?cd=*": (["{}=abxcd=", "{}=ab😀cd=k"], ["{}=abcd=", "{}=abxxcd=", "{}=ab/cd="]),
    "*/*/**/end": (["{}/k/end", "k/{}/end", "k/{}/{}/end"], ["{}end", "{}/k/end/k"]),
}


def padded(templates: Iterable[str]) -> list[str]:
    return [
        template.replace("{}", pad(length))
        for template in templates
        for pad in PADS
        for length in EVERY
    ]
