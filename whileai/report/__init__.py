"""One page for people who were not there: the verdict, its evidence, and the conversations behind it."""
