"""The adapter for fluers-runtime. It has only an interface for backends of an agent, and no
backend."""

from products.adapter import Adapter, Asked


class Product(Adapter):
    about = "an agent's runtime, with a place for a sandbox (ProcessSandbox) and none in it"
    homepage = "https://github.com/saorsa-labs/fluers"
    documents = "docs.rs/fluers-runtime, process_sandbox: shape only, no backends"
    program = "fluers-runtime"
    installs = (("cargo", "install", "--locked", "--root", "{home}", "fluers-runtime{@version}"),)

    def command(self, argv: list[str], asked: Asked) -> list[str]:
        return [self.found(), "--", *argv]
