"""The files of a project: what git knows or would add, else what a walk finds."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from anyio import to_thread

from agent_shell.builtin_tools.child_process import run_child

GIT_TIMEOUT_S = 10.0
MAX_LISTING_BYTES = 20_000_000
MAX_WALKED_FILES = 50_000
"""A walk of a whole home folder must end some time."""
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})


async def project_files(folder: Path, environ: Mapping[str, str]) -> list[str]:
    """Relative paths of the files under `folder`, sorted; what git ignores is left out."""
    listed = await _from_git(folder, environ)
    if listed is None:
        listed = await to_thread.run_sync(lambda: list(_walk(folder)), abandon_on_cancel=True)
    return sorted(listed)


async def _from_git(folder: Path, environ: Mapping[str, str]) -> list[str] | None:
    """None outside a repository, and where git is absent or too slow."""
    git = shutil.which("git", path=environ.get("PATH"))
    is_repository = any((parent / ".git").exists() for parent in (folder, *folder.parents))
    if git is None or not is_repository:
        return None
    # fsmonitor could name a program of the repository's choice: git must not start it.
    command = [git, "-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others"]
    result = await run_child(
        [*command, "--exclude-standard", "--deduplicate"],
        cwd=folder,
        environ=environ,
        timeout_s=GIT_TIMEOUT_S,
        max_bytes=MAX_LISTING_BYTES,
    )
    if result.exit_code != 0 or result.output.omitted_bytes:
        return None
    names = os.fsdecode(b"".join(result.output.parts())).split("\0")
    # Git still lists a file that was deleted; and a link may lead to a folder.
    return await to_thread.run_sync(lambda: [name for name in names if (folder / name).is_file()])


def _walk(folder: Path) -> Iterator[str]:
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in files:
            yield (Path(place) / name).relative_to(folder).as_posix()
            count += 1
            if count >= MAX_WALKED_FILES:
                return
