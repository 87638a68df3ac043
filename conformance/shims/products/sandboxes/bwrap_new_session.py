"""The adapter for bubblewrap with --new-session.

bwrap(1) advises this option for programs at a terminal.
"""

from products.adapter import Asked
from products.sandboxes.bwrap import Product as Plain


class Product(Plain):
    about = "the same with --new-session, against input into the caller's terminal"
    documents = "bwrap(1), --new-session"

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        program, *words = super().command(argv, asked)
        return [program, "--new-session", *words]
