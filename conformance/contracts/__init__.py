"""One folder a contract; the core finds them by their `contract.py` (see boxspec.target.contract)."""
