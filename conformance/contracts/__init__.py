"""The contracts, a folder each.

The core finds them by their `contract.py` (boxspec.subject.contract).
"""
