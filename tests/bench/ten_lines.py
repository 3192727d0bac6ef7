"""The floor of the start-up bar: the shortest program with the same line editor and drawing."""

from prompt_toolkit import PromptSession
from rich.console import Console

console = Console()
session: PromptSession[str] = PromptSession("> ")
try:
    while True:
        console.print(session.prompt())
except EOFError:
    pass
