"""From a plan to rows: which asks are tried how often, one try, and many of them with resume."""
