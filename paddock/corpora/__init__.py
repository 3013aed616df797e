"""Corpora: recipes, the generator that turns one into NDJSON, and the store that keeps the files where Rally looks."""
