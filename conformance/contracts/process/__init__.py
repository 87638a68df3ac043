"""The contract process. `contract.py` declares it, `page.md` describes it."""
