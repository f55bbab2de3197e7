"""whileai (placeholder while the house is being built)."""
