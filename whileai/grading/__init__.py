"""From rows to scored rows: the judge's answer, and whether the judge itself can be believed."""
