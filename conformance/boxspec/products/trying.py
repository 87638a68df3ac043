"""Show failures of a library without the kit.

`tries` in a product.yaml names a program that uses only the library. The word {tried} of its
command is replaced by the requirements that are listed under `tried`. For each of them the program
prints a line: the id, then `seen`, `not seen` or `not tried`, a colon and an explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from boxspec.errors import UsageError
from boxspec.products.declared import Product
from boxspec.products.installing import Failed, output, state

# Time limit for all requirements of a library. Most take a second, but in some cases the program
# waits for a time limit.
WITHIN_S = 600


@dataclass(frozen=True)
class TryResult:
    """The result of one requirement.

    seen: True if the library fails as its page says.
    line: the line that the program printed.
    """

    requirement: str
    seen: bool
    line: str


def results_of_tries(product: Product) -> Iterator[TryResult]:
    """Return the result for each requirement of `tried`; raise UsageError if the program cannot
    run."""
    names = product.tried()
    if not names:
        raise UsageError(product.word, "tries no requirement", "name requirements under `tried`")
    why = state(product).why
    if why:
        raise UsageError(product.word, f"cannot be tried here: {why}", "fix that first")
    try:
        printed = output(_words(product, names), WITHIN_S)
    except Failed as broken:
        raise UsageError(product.word, str(broken), "fix `tries` of its product.yaml") from None
    lines = {line.partition(" ")[0]: line for line in printed.splitlines()}
    for name in names:
        line = lines.get(name, f"{name} not tried: no line of it")
        yield TryResult(name, line.startswith(f"{name} seen: "), line)


def _words(product: Product, names: list[str]) -> list[str]:
    found: list[str] = []
    for word in product.argv(product.tries):
        found.extend(names if word == "{tried}" else [word])
    return found
