"""The life of MCP servers here. Read loader.py, then manager.py, then server_task.py."""
