"""The contract sbpl: `contract.py` declares it, `page.md` is it."""
