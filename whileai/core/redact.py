"""Keep keys out of anything that is stored or printed: an error's text becomes part of a row."""

from __future__ import annotations

import os
import re

_HIDDEN = "[redacted]"
_NAMED = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|hf|ghp|gho|glpat|xox[abprs]|AIza|AKIA)[-_]?[A-Za-z0-9_\-*]{12,}"  # the providers' own prefixes
    r"|(?<=bearer )[A-Za-z0-9._~+/=\-]{8,}"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",  # user:password in an address
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """`text` without anything that looks like a key, nor the value of an environment variable named like one."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _NAMED.search(name):
            text = text.replace(value, _HIDDEN)
    return _SHAPES.sub(_HIDDEN, text)
