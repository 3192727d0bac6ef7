"""The tools every session has: read, write, edit, list, search, run. Read workspace.py first."""
