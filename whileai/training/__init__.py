"""Training and evaluation of a real model.

Tokens, masks, sampling and the run folder are ours; TRL and PEFT do the gradient work.
"""
