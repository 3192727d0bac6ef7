"""The keyboard, and whether a key was pressed on its own or came in a burst such as a paste."""

import time
from typing import TextIO

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress

BURST_GAP_S = 0.05
"""Keys closer together than this did not come from one finger."""


class TypedInput(Vt100Input):
    """Terminal input that remembers how its last keys arrived.

    `reads` counts the reads that brought keys; `keys_in_read` is how many the last one brought,
    `keys_left` how many of those are not handled yet.
    """

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self.reads = 0
        self.keys_in_read = 0
        self.keys_left = 0
        self.first_read_at: float | None = None
        self._last_read_at = 0.0
        self._gap_s = 0.0

    def read_keys(self) -> list[KeyPress]:
        """Whole keys that have arrived since the last call."""
        return self._note(super().read_keys())

    def flush_keys(self) -> list[KeyPress]:
        """The keys that were held back because they might have begun a longer sequence."""
        return self._note(super().flush_keys())

    @property
    def is_single_key(self) -> bool:
        """Whether the last key came alone, and not right behind another."""
        return self.keys_in_read == 1 and self._gap_s >= BURST_GAP_S

    def _note(self, keys: list[KeyPress]) -> list[KeyPress]:
        if keys:
            now = time.monotonic()
            self._gap_s = now - self._last_read_at
            self._last_read_at = now
            self.first_read_at = self.first_read_at or now
            self.reads += 1
            self.keys_in_read = self.keys_left = len(keys)
        return keys
