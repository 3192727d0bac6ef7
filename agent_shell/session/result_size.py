"""Keep a tool's result small enough for the model; the whole text goes to a file beside it."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from anyio import to_thread

from agent_shell.builtin_tools.truncate import cut_middle
from agent_shell.tools.content import Content, ImageContent, TextContent
from agent_shell.tools.tool import ToolResult

MAX_IMAGE_CHARACTERS = 7_000_000
"""Of base64: about 5 MB, the largest picture that services take."""


def result_fitter(
    folder: Callable[[], Path | None], max_bytes: int
) -> Callable[[ToolResult, str], Awaitable[ToolResult]]:
    """A function (result, tool name) that cuts long text and saves the whole of it in `folder`.

    The notice names the file; where it could not be written, it says only that text is missing.
    """

    async def fit(result: ToolResult, tool_name: str) -> ToolResult:
        content = tuple(_without_huge_image(part) for part in result.content)
        size = sum(_text_bytes(part) for part in content)
        if size > max_bytes:
            text = "\n".join(part.text for part in content if isinstance(part, TextContent))
            saved = await to_thread.run_sync(_save, folder(), tool_name, text)
            where = f"; all of it is in {saved}, read_file reads parts of it" if saved else ""
            cut = TextContent(text=cut_middle(text, max_bytes, where=where))
            content = (cut, *(part for part in content if isinstance(part, ImageContent)))
        elif content == result.content:
            return result
        return ToolResult(content=content, is_error=result.is_error, structured=result.structured)

    return fit


def _text_bytes(part: Content) -> int:
    return len(part.text.encode(errors="surrogatepass")) if isinstance(part, TextContent) else 0


def _without_huge_image(part: Content) -> Content:
    if isinstance(part, ImageContent) and len(part.data) > MAX_IMAGE_CHARACTERS:
        size = len(part.data) * 3 // 4
        return TextContent(text=f"[image of {size} bytes: too large to show]")
    return part


def _save(folder: Path | None, tool_name: str, text: str) -> Path | None:
    """Write the text to a new file; None where there is no folder, or the disk does not want it."""
    if folder is None:
        return None
    stem = re.sub(r"[^a-zA-Z0-9_-]", "_", tool_name)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for number in range(1, 100_000):
            path = folder / f"{number:03}-{stem}.txt"
            try:
                file = path.open("x", encoding="utf-8", errors="replace", newline="")
            except FileExistsError:
                continue
            with file:
                file.write(text)
            return path
    except OSError:
        pass
    return None
