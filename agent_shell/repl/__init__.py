"""The shell a person sees. Read repl.py first, then shell.py."""
