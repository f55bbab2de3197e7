"""Everybody's logs as our rows: one reader a format, and one call that tells which it is."""
