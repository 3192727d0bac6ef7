"""Bytes in, bytes out: the four transports, and one in memory."""
