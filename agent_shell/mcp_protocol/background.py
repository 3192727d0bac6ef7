"""Tasks that live as long as a body, whose own exception comes out as it is."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def background_tasks() -> AsyncGenerator[TaskGroup]:
    """A task group that is cancelled when the body ends.

    A bare task group would wrap the body's exception in a group, and the person who reads it
    would see "unhandled errors in a TaskGroup". The tasks must not raise anything themselves.
    """
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 (raised again below, unwrapped)
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
