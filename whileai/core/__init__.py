"""The floor of the house: rows, files, seeds, errors. Imports nothing of ours above it."""
