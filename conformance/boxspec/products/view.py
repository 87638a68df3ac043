"""The interface of a view, which decides how a matrix of products is made and shown.

A contract may declare its own view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from boxspec.products.declared import Product
from boxspec.products.judging import Facts, Judged

# The content of a matrix, for a comparison: for each product its facts and its cells. A cell is a
# mapping of fields.
Columns = dict[str, tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]]


class View(Protocol):
    """Asks questions about the products of a contract, and shows the products in a matrix.

    schema: the schema of the JSON.
    topics: the topics that run by default; empty for all.
    """

    schema: str
    topics: Sequence[str]

    def own(self, word: str) -> list[Product]:
        """Return the products with this name that are not third-party software."""

    def host(self) -> Facts:
        """Return the facts of this host that a verdict depends on."""

    def ask(self, judged: Judged) -> None:
        """Set the version and the claims of a product before the run.

        If the product cannot be judged, set `why`.
        """

    def plain(self, found: Sequence[Judged]) -> Facts:
        """Return the matrix as JSON."""

    def columns(self, plain: Facts) -> Columns:
        """Return the part of the JSON that is compared."""

    def page(self, command: str, found: Sequence[Judged]) -> str:
        """Return the matrix as Markdown."""

    def lines(self, found: Sequence[Judged]) -> Iterator[str]:
        """Return the lines for the console."""
