"""The shell's own options. Read settings.py first."""
