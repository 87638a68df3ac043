"""The contract policy: `contract.py` declares it, `page.md` is it."""
