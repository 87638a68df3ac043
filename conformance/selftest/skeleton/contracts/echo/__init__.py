"""The contract echo: `contract.py` declares it, and `page.md` describes it."""
