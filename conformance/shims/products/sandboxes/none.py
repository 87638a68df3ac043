"""Runs programs without a sandbox. As a negative control it must fail."""

from products.adapter import EVERYTHING, Adapter, Asked


class Product(Adapter):
    about = "nothing around the program; a control"
    homepage = "https://example.org/boxspec"
    documents = "an empty wrapper"
    mechanism = "none"
    control = True
    claims = EVERYTHING

    def version(self) -> str:
        return "1"

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        return argv
