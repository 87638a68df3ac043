"""The contract echo: `contract.py` declares it, `page.md` is it."""
