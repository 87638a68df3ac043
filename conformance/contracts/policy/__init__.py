"""What the tests of globs and policies need: questions, documents, vectors, oracles."""
