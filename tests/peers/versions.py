"""The one table of the servers nobody here wrote, and of their exact versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerPackages:
    """What one environment holds. Each has its own: their needs exclude one another."""

    registry: Literal["pypi", "npm"]
    packages: tuple[str, ...]


PEERS: Mapping[str, PeerPackages] = {
    "time": PeerPackages(registry="pypi", packages=("mcp-server-time==2026.10.19",)),
    "git": PeerPackages(registry="pypi", packages=("mcp-server-git==2026.10.19",)),
    "fetch": PeerPackages(registry="pypi", packages=("mcp-server-fetch==2026.10.24",)),
    "mcp1": PeerPackages(registry="pypi", packages=("mcp[ws]==1.30.0", "uvicorn==0.38.0")),
    "mcp2": PeerPackages(registry="pypi", packages=("mcp==2.3.0",)),
    "fastmcp": PeerPackages(registry="pypi", packages=("fastmcp==4.2.3",)),
    "everything": PeerPackages(
        registry="npm", packages=("@modelcontextprotocol/server-everything@2026.8.31",)
    ),
    "filesystem": PeerPackages(
        registry="npm", packages=("@modelcontextprotocol/server-filesystem@2026.8.31",)
    ),
    "memory": PeerPackages(
        registry="npm", packages=("@modelcontextprotocol/server-memory@2026.8.31",)
    ),
}
