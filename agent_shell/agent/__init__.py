"""The loop, and nothing it loops over. Read loop.py first."""
