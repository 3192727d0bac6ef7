"""Which project entries the user agreed to, by content hash or folder (CONTRACT section 5).

The answer is tied to what an entry would start or reach, not to its name: whatever of it changes
makes the question come again (THREATS.md, first row).
"""

import hashlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from agent_shell.atomic_file import exclusively, write_atomically
from agent_shell.discovery.discovered import DiscoveredServer
from agent_shell.discovery.source import SourceMeta
from agent_shell.errors import ConfigError
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object, as_string

FORMAT = 1
TRUST_FIELDS = (
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "inheritEnv",
    "auth",
    "oauth",
)
"""What decides which program runs, with what, or who is talked to."""

MAX_SHOWN_CHARACTERS = 4000

_REVEALED_VARIABLES = frozenset(
    {"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PYTHONPATH"}
    | {"PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "PATH"}
)
"""Variables that make another program run: their values are part of the question."""

_Projects = dict[str, dict[str, JSONValue]]


def entry_trust_key(name: str, raw: JSONObject, file: str) -> str:
    """A hash of the entry as written, its name and its file (as seen from the project).

    Variables are not put in before: what they hold is the user's own.
    """
    fields = {key: raw[key] for key in TRUST_FIELDS if key in raw}
    text = json.dumps([FORMAT, file, name, fields], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class TrustStore:
    """The decisions in `data/trust.json`. Reading and writing block for a moment.

    A file that can't be understood means that nothing is trusted; it is never overwritten.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: ConfigError | None = None
        self._projects: _Projects = {}
        self._seen: tuple[int, ...] | None = None

    def is_trusted(self, source: SourceMeta, project: Path, trust_key: str) -> bool:
        """Has the user agreed to this entry, or to all of this folder?

        What a user's own file defines needs no question.
        """
        if source.level == "user":
            return True
        self._refresh()
        record = self._projects.get(_project_key(project))
        if record is None:
            return False
        entries = as_object(record.get("entries")) or {}
        return record.get("folder") is True or trust_key in entries.values()

    def trust_entry(self, project: Path, name: str, trust_key: str) -> None:
        """Remember one entry; it takes the place of an earlier one of the name.

        Raises ConfigError when the file can't be read or written; so do the methods below.
        """

        def change(record: dict[str, JSONValue]) -> None:
            record["entries"] = {**(as_object(record.get("entries")) or {}), name: trust_key}

        self._change(project, change)

    def trust_folder(self, project: Path) -> None:
        """Remember the folder: every server its files define, now and later."""
        self._change(project, lambda record: record.update(folder=True))

    def forget_entry(self, project: Path, name: str) -> None:
        """Ask again for this entry (a trusted folder stays trusted)."""

        def change(record: dict[str, JSONValue]) -> None:
            entries = as_object(record.get("entries")) or {}
            record["entries"] = {key: value for key, value in entries.items() if key != name}

        self._change(project, change)

    def forget_project(self, project: Path) -> None:
        """Ask again for everything of this folder."""
        self._change(project, lambda record: record.clear())

    def _refresh(self) -> None:
        """Read the file if it is another one than last time."""
        try:
            status = self.path.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            seen = ()
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._projects = self._read()
            self.problem = None
        except ConfigError as error:
            self._projects = {}
            self.problem = error

    def _read(self) -> _Projects:
        try:
            stored = as_object(json.loads(self.path.read_bytes()))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError):
            raise self._error("is not valid JSON") from None
        projects = None if stored is None else as_object(stored.get("projects"))
        if stored is None or projects is None or stored.get("version") != FORMAT:
            raise self._error("is not a trust file of this version")
        return {key: dict(as_object(record) or {}) for key, record in projects.items()}

    def _error(self, what: str) -> ConfigError:
        return ConfigError(
            f"{self.path}: {what}; no project server is trusted",
            hint="repair the file, or remove it to be asked again",
            path=str(self.path),
        )

    def _change(self, project: Path, change: Callable[[dict[str, JSONValue]], None]) -> None:
        try:
            with exclusively(self.path):
                projects = self._read()
                record = projects.setdefault(_project_key(project), {})
                change(record)
                kept = {key: record for key, record in projects.items() if record}
                content = {"version": FORMAT, "projects": kept}
                text = json.dumps(content, indent=2, sort_keys=True) + "\n"
                write_atomically(self.path, text.encode("ascii"))
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"{self.path}: cannot be written: {reason}"
            raise ConfigError(message, path=str(self.path)) from error
        self._seen = None


def describe_entry(server: DiscoveredServer) -> tuple[str, ...]:
    """What the question shows: exactly what would start or be reached, and who says so.

    Values of variables and headers are not shown, except where they make a program run.
    Characters that could hide or turn something are shown as escapes. Variables are not put in.
    """
    raw = server.raw
    lines: list[str] = []
    command = as_string(raw.get("command"))
    if command is not None:
        words = [command, *(_as_text(word) for word in as_array(raw.get("args")) or ())]
        lines.append(f"command: {_shown(' '.join(shlex.quote(word) for word in words))}")
    for key in ("url", "cwd"):
        if raw.get(key) is not None:
            lines.append(f"{key}: {_shown(_as_text(raw[key]))}")
    for key in ("env", "headers"):
        table = as_object(raw.get(key)) or {}
        if table:
            lines.append(f"{key}: {', '.join(_shown_variable(*item) for item in table.items())}")
    inherited = raw.get("inheritEnv")
    if inherited:
        names = as_array(inherited)
        what = (
            "all variables"
            if names is None
            else ", ".join(_shown(_as_text(name)) for name in names)
        )
        lines.append(f"inherits: {what}")
    place = server.shown_path if server.line is None else f"{server.shown_path}:{server.line}"
    lines.append(f"file: {_shown(place)}")
    return tuple(lines)


def _as_text(value: JSONValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown_variable(name: str, value: JSONValue) -> str:
    text = value if isinstance(value, str) else ""
    if text.startswith("!") or name.upper() in _REVEALED_VARIABLES:
        return f"{_shown(name)}={_shown(shlex.quote(text))}"
    return _shown(name)


def _shown(text: str) -> str:
    """The text with everything made visible that is not a plain sign or a space.

    Of a very long one both ends are shown: what matters of a command may stand at its end.
    """
    left_out = len(text) - MAX_SHOWN_CHARACTERS
    if left_out > 0:
        half = MAX_SHOWN_CHARACTERS // 2
        return f"{_shown(text[:half])} … {left_out} more characters … {_shown(text[-half:])}"
    return "".join(
        char
        if char.isprintable() and char not in _BLANK_LETTERS
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )


_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that look like nothing, though Python calls them printable."""


def _project_key(project: Path) -> str:
    return os.path.realpath(project)
