"""The contract exec in plain Python. Its design differs from that of the reference."""
