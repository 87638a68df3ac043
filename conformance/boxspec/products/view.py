"""How a matrix of products is run and shown: by requirement, or as a contract declares it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from boxspec.products.declared import Product
from boxspec.products.judging import Facts, Judged

# A compared matrix: by product, its facts and its cells; a cell is a mapping of fields.
Columns = dict[str, tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]]


class View(Protocol):
    """schema: the schema of the JSON. topics: the default topics of a run, empty for all."""

    schema: str
    topics: Sequence[str]

    def own(self, word: str) -> list[Product]:
        """Return the products that are no third-party software and have this name."""

    def host(self) -> Facts:
        """Return the facts of this host that a verdict depends on."""

    def ask(self, judged: Judged) -> None:
        """Fill in version and claims before the run; `why`, if the product cannot be judged."""

    def plain(self, found: Sequence[Judged]) -> Facts:
        """Return the JSON of a matrix."""

    def columns(self, plain: Facts) -> Columns:
        """Return the part of the JSON that is compared."""

    def page(self, command: str, found: Sequence[Judged]) -> str:
        """Return the matrix as Markdown."""

    def lines(self, found: Sequence[Judged]) -> Iterator[str]:
        """Return the lines for the console."""
