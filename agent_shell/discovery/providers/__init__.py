"""Whose files hold MCP servers: one file a program. PROVIDERS is the table, highest rank first."""

from agent_shell.discovery.providers.agent_shell import AgentShellFiles
from agent_shell.discovery.providers.base import ConfigProvider
from agent_shell.discovery.providers.mcp_json import McpJsonFile

PROVIDERS: tuple[ConfigProvider, ...] = (AgentShellFiles(), McpJsonFile())
"""A name that two programs' files define belongs to the one that stands further up here."""
