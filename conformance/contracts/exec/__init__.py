"""The contract exec. `contract.py` declares it, `page.md` describes it."""
