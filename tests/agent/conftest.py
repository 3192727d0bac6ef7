"""The loop runs on either event loop: asyncio habits would show here."""

import pytest


@pytest.fixture(scope="session", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Each test of this room twice."""
    return str(request.param)
