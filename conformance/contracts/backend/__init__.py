"""The contract backend. `contract.py` declares it, `page.md` describes it."""
