"""Who answers: the protocol an agent keeps, and the stand-in that plants known mistakes."""
