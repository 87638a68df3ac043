"""The contract module. `contract.py` declares it, `page.md` describes it."""
