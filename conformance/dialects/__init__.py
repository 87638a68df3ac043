"""Readers of other tools' sandbox settings: one file for each format.

Each reader has NAMES, WRITTEN_FOR and `read(text, where)`. It reads strictly and loses nothing: an
entry that is wrong is one entry of the result, and never silences another.
"""
