"""The protocol: JSON-RPC and MCP's own words; knows no agent and no file. Read dispatcher.py first."""
