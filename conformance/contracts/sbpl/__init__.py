"""The contract sbpl. `contract.py` declares it, `page.md` describes it."""
