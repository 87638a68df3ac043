#!/usr/bin/env -S python3 -I -S
"""A product behind the protocol: shim.py NAME (run REQUEST RESPONSE | serve).

NAME is an adapter of the folder sandboxes, NAME@VERSION one version of it, or a file ADAPTER.py.
--declarations prints the declaration of each adapter by name (boxspec/products/product.json), and
NAME --declaration prints the declaration of one adapter. NAME --version prints the version. NAME
--starts exits with 1 and prints the reason if the product does not start here.
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "python"), os.path.dirname(HERE)]

from files import write_all
from jsonwire import dump
from products.adapter import Adapter, Missing
from products.backend import why_not_started
from products.ops import ProductShim
from protocol import complain, main

ADAPTERS = os.path.join(HERE, "sandboxes")


def names() -> list[str]:
    return sorted(
        name[:-3].replace("_", "-")
        for name in os.listdir(ADAPTERS)
        if name.endswith(".py") and name != "__init__.py"
    )


# The shim is started for each attempt. So it loads modules of Python that start slowly, such as
# tempfile, hashlib and importlib, only where it needs them.
def load(word: str) -> Adapter:
    """Return the adapter of this name or file. If it is invalid, raise SystemExit with the
    reason."""
    file, name = word, os.path.basename(word)[:-3].replace("_", "-")
    if not word.endswith(".py"):
        plain, name = word.partition("@")[0], word
        if plain not in names():
            raise SystemExit(
                complain(f"no adapter has the name {plain}; known: {', '.join(names())}")
            )
        module = __import__(f"products.sandboxes.{plain.replace('-', '_')}", fromlist=["Product"])
        return product_of(module, file, name)
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("adapter_of_this_run", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as why:
        raise SystemExit(complain(f"{file}: {type(why).__name__}: {why}")) from None
    return product_of(module, file, name)


def product_of(module: object, file: str, name: str) -> Adapter:
    product = getattr(module, "Product", None)
    if not isinstance(product, type) or not issubclass(product, Adapter):
        raise SystemExit(complain(f"{file}: there is no class Product(Adapter)"))
    return product(name)


def declaration(word: str) -> dict[str, object]:
    """Return the declaration of an adapter by its name, in the form of product.json."""
    adapter = load(word)
    shim = ["{root}/conformance/shims/products/shim.py", word]
    fields: dict[str, object] = {
        "name": adapter.name,
        "about": adapter.about or adapter.name,
        "documents": adapter.documents or "none named",
        "contracts": ["backend"],
        "anywhere": True,
        "run": shim,
        "backend": adapter.name,
        "version": [*shim, "--version"],
        "starts": [*shim, "--starts"],
        "control": adapter.control,
    }
    if adapter.homepage:
        fields["homepage"] = adapter.homepage
    if adapter.installs:
        fields["install"] = [[*words] for words in adapter.installs]
    return {adapter.name: fields}


def show(line: str) -> int:
    write_all(1, line.encode() + b"\n")
    return 0


def start(words: list[str]) -> int:
    match words:
        case ["--declarations"]:
            found: dict[str, object] = {}
            for name in names():
                found.update(declaration(name))
            return show(dump(found))
        case [name, "--declaration"]:
            return show(dump(declaration(name)))
        case [name, "--version"]:
            try:
                return show(load(name).version())
            except (Missing, OSError) as why:
                return failed(str(why))
        case [name, "--starts"]:
            why_not = why_not_started(load(name))
            return failed(why_not) if why_not else 0
        case [name, *rest] if not name.startswith("-"):
            ProductShim.adapter = load(name)
            sys.argv[1:] = rest
            return main(ProductShim)
    return complain(
        "usage: shim.py NAME (run REQUEST RESPONSE | serve | --declaration | --version | --starts)"
        " | --declarations"
    )


def failed(why: str) -> int:
    os.write(2, f"{why}\n".encode())
    return 1


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        status = start(sys.argv[1:])
    except SystemExit as why:
        status = int(str(why))
    os._exit(status)
