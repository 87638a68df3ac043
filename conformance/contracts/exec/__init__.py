"""The contract exec: `contract.py` declares it, `page.md` is it."""
