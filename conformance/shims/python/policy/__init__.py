"""The contract policy in plain Python, built in another way than the reference."""
