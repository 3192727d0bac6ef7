"""The parts joined, for programs. Read create_session.py first."""
