"""The contract policy. `contract.py` declares it, `page.md` describes it."""
