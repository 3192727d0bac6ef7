"""One conversation. Read agent_session.py first."""
