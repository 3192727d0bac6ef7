"""One model behind one Protocol. Read provider.py first."""
