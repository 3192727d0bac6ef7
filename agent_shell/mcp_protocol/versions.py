"""The protocol's revisions that begin with a handshake, newest last."""

LATEST_HANDSHAKE_VERSION = "2025-11-25"
"""What `initialize` offers."""

SUPPORTED_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", LATEST_HANDSHAKE_VERSION)
"""What a server may answer. They differ for a client in what may come, not in what it sends."""
