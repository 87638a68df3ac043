"""The contract process: `contract.py` declares it, `page.md` is it."""
