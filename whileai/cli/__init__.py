"""The command line: one file per command; every command is a stage's function with its flags."""
