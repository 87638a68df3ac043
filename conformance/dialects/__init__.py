"""Readers of other tools' sandbox settings: one file for each format.

Each reader has NAMES, WRITTEN_FOR and `read(text, where)`. A wrong entry of a file is one
entry of the result, and the reader still reads all other entries.
"""
