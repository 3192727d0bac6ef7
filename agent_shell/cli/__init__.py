"""argv to a face. Read main.py first."""
