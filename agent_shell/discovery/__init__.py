"""Which MCP servers do this machine's files already know? Read discover.py first."""
