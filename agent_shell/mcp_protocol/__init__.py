"""The protocol: JSON-RPC and MCP's own words; knows no agent, no file. Read dispatcher.py first."""
