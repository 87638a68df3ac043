"""A folder a contract; the core finds them by their `contract.py` (boxspec.subject.contract)."""
