"""The words every tool maker shares. Read tool.py first."""
