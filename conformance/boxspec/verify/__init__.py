"""Verify a sandbox: does a command that confines keep to what its user expects of it?"""
