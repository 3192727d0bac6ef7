"""One server entry of a configuration file, from JSON to a ServerConfig."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from agent_shell.discovery.entry_words import (
    KNOWN_FIELDS,
    TRANSPORT_NAMES,
    EntryError,
    check_text,
    closest,
    kind_of,
    misplaced,
    misspellings,
    not_a_number,
    quoted,
)
from agent_shell.discovery.expand import ExpandError, expand, expand_home
from agent_shell.discovery.jsonc import KeyPath
from agent_shell.discovery.server_config import (
    DEFAULT_TIMEOUT_MS,
    HttpServerConfig,
    ServerConfig,
    SseServerConfig,
    StdioServerConfig,
    TransportKind,
    WebSocketServerConfig,
    transport_kind,
)
from agent_shell.json_types import JSONObject, JSONValue, as_array, as_object


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReading:
    """What an entry says: a config, or the error that stands in its way.

    `is_enabled` is the entry's own word. `warnings` do not keep the server from being used.
    """

    config: ServerConfig | None
    error: EntryError | None
    is_enabled: bool
    warnings: tuple[EntryError, ...] = ()


def read_entry(name: str, raw: JSONValue, environ: Mapping[str, str]) -> EntryReading:
    """Check the entry's fields, put variables in, and make a ServerConfig. Never raises."""
    entry = as_object(raw)
    if entry is None:
        error = not_a_number(raw) or EntryError(f"must be an object, not {kind_of(raw)}")
        return EntryReading(config=None, error=error, is_enabled=True)
    fields = {key: value for key, value in entry.items() if value is not None}
    is_enabled = _is_enabled(fields)
    try:
        check_text(name, ())
        if (wrong := not_a_number(entry)) is not None:
            raise wrong
        config = _Fields(name, fields, environ).config()
    except EntryError as error:
        return EntryReading(config=None, error=error, is_enabled=is_enabled)
    warnings = (*misspellings(fields), *misplaced(transport_kind(config), fields))
    return EntryReading(config=config, error=None, is_enabled=is_enabled, warnings=warnings)


@dataclass(slots=True)
class _Fields:
    """The entry while it is read; `None` values have been left out."""

    name: str
    fields: JSONObject
    environ: Mapping[str, str]
    literal_values: set[str] = field(default_factory=set[str])

    def config(self) -> ServerConfig:
        """The whole entry. Raises EntryError at the first value that is wrong."""
        for switch in ("enabled", "disabled"):
            self.boolean(switch)
        return replace(
            self.connection(self.transport()),
            enabled=_is_enabled(self.fields),
            timeout_ms=self.timeout_ms(),
            instructions=self.text("instructions"),
            include_tools=self.words("includeTools"),
            exclude_tools=self.words("excludeTools") or (),
            auth=self.settings("auth"),
            oauth=self.settings("oauth"),
            literal_values=frozenset(self.literal_values),
        )

    def connection(self, kind: TransportKind) -> ServerConfig:
        """What to start or reach."""
        if kind == "stdio":
            command = self.text("command", is_path=True)
            if not command or not command.strip():
                raise EntryError('"command" is empty', ("command",))
            return StdioServerConfig(
                name=self.name,
                command=command,
                args=self.words("args", is_path=True) or (),
                env=self.table("env"),
                cwd=self.text("cwd", is_path=True),
                inherit_env=self.inherit_env(),
            )
        makers = {"http": HttpServerConfig, "sse": SseServerConfig, "ws": WebSocketServerConfig}
        return makers[kind](name=self.name, url=self.url(kind), headers=self.table("headers"))

    def transport(self) -> TransportKind:
        """Which transport is meant, by name or by the fields that are there."""
        has_command, has_url = "command" in self.fields, "url" in self.fields
        if has_command and has_url:
            raise EntryError('has both "command" and "url"', hint="keep the one that is meant")
        named: TransportKind | None = None
        for key in ("type", "transport"):
            if key in self.fields:
                kind = self.named_transport(key)
                if named is not None and kind != named:
                    raise EntryError('"type" and "transport" do not agree', (key,))
                named = kind
        if named is None:
            if not has_command and not has_url:
                raise EntryError('has neither "command" nor "url"', hint=self.missing_hint())
            if has_command:
                return "stdio"
            address = self.text("url") or ""
            return "ws" if address.lower().startswith(("ws://", "wss://")) else "http"
        needed, other = ("command", "url") if named == "stdio" else ("url", "command")
        if needed not in self.fields:
            extra = f', but has "{other}"' if other in self.fields else ""
            raise EntryError(f'a server of type {named} needs "{needed}"{extra}')
        return named

    def named_transport(self, key: str) -> TransportKind:
        value = self.fields[key]
        if not isinstance(value, str):
            raise EntryError(f'"{key}" must be a string, not {kind_of(value)}', (key,))
        if value in TRANSPORT_NAMES:
            return TRANSPORT_NAMES[value]
        if value.lower() in TRANSPORT_NAMES:
            return TRANSPORT_NAMES[value.lower()]
        raise EntryError(f'"{key}" is {quoted(value)}; it can be stdio, http, sse or ws', (key,))

    def missing_hint(self) -> str | None:
        for key in ("serverUrl", "httpUrl", "uri", "cmd"):
            if key in self.fields:
                return f'write "{"command" if key == "cmd" else "url"}" instead of "{key}"'
        for key in self.fields:
            meant = closest(key, ("command", "url")) if key not in KNOWN_FIELDS else None
            if meant is not None:
                return f'did you mean "{meant}" instead of {quoted(key)}?'
        return None

    def timeout_ms(self) -> int:
        value = self.fields.get("timeout", DEFAULT_TIMEOUT_MS)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            what = str(value) if is_number else kind_of(value)
            raise EntryError(
                f'"timeout" must be a whole number of milliseconds, not {what}',
                ("timeout",),
                hint="0 means no limit",
            )
        return value

    def boolean(self, key: str) -> bool | None:
        value = self.fields.get(key)
        if value is not None and not isinstance(value, bool):
            raise EntryError(f'"{key}" must be true or false, not {kind_of(value)}', (key,))
        return value

    def text(self, key: str, *, is_path: bool = False) -> str | None:
        value = self.fields.get(key)
        if value is None:
            return None
        if key == "command" and as_array(value) is not None:
            raise EntryError(
                '"command" must be a string, not an array',
                (key,),
                hint='put the first word into "command" and the others into "args"',
            )
        return self.expanded(value, (key,), f'"{key}"', is_path=is_path)

    def words(self, key: str, *, is_path: bool = False) -> tuple[str, ...] | None:
        value = self.fields.get(key)
        if value is None:
            return None
        items = as_array(value)
        if items is None:
            raise EntryError(f'"{key}" must be an array of strings, not {kind_of(value)}', (key,))
        return tuple(
            self.expanded(item, (key, index), f'item {index + 1} of "{key}"', is_path=is_path)
            for index, item in enumerate(items)
        )

    def table(self, key: str) -> dict[str, str]:
        """`env` or `headers`. A `!command` stays as it is; it is run at connect time."""
        value = self.fields.get(key, {})
        items = as_object(value)
        if items is None:
            raise EntryError(f'"{key}" must be an object of strings, not {kind_of(value)}', (key,))
        result: dict[str, str] = {}
        for item, content in items.items():
            label = f'{quoted(item)} in "{key}"'
            if not item or (key == "env" and "=" in item):
                raise EntryError(f"{label} is no name of a variable", (key, item))
            check_text(item, (key, item))
            if isinstance(content, str) and content.startswith("!"):
                check_text(content, (key, item))
                result[item] = content
                continue
            result[item] = self.expanded(content, (key, item), label)
            if result[item].startswith("!"):
                self.literal_values.add(item)
        return result

    def settings(self, key: str) -> JSONObject | None:
        """`auth` or `oauth`: an object whose strings may hold variables."""
        value = self.fields.get(key)
        if value is None or value is False:
            return None
        if as_object(value) is None:
            raise EntryError(f'"{key}" must be an object, not {kind_of(value)}', (key,))
        return as_object(self.expanded_deeply(value, (key,)))

    def expanded_deeply(self, value: JSONValue, path: KeyPath) -> JSONValue:
        if isinstance(value, str):
            return self.expanded(value, path, f'"{path[-1]}"')
        members = as_object(value)
        if members is not None:
            return {key: self.expanded_deeply(each, (*path, key)) for key, each in members.items()}
        items = as_array(value)
        if items is not None:
            return [self.expanded_deeply(each, (*path, at)) for at, each in enumerate(items)]
        return value

    def inherit_env(self) -> bool | tuple[str, ...]:
        value = self.fields.get("inheritEnv", False)
        if isinstance(value, bool):
            return value
        if as_array(value) is None:
            raise EntryError(
                f'"inheritEnv" must be true, false or an array of names, not {kind_of(value)}',
                ("inheritEnv",),
            )
        return self.words("inheritEnv") or ()

    def url(self, kind: TransportKind) -> str:
        url = self.text("url") or ""
        schemes = ("ws", "wss") if kind == "ws" else ("http", "https")
        try:
            parts = urlsplit(url)
            has_host = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
        except ValueError:
            raise EntryError('"url" is not a URL', ("url",)) from None
        if parts.scheme.lower() not in schemes or not has_host:
            wanted = " or ".join(f"{scheme}://" for scheme in schemes)
            raise EntryError(
                f'"url" of a server of type {kind} must begin with {wanted} and a host', ("url",)
            )
        return url

    def expanded(
        self, value: JSONValue, path: KeyPath, label: str, *, is_path: bool = False
    ) -> str:
        if not isinstance(value, str):
            raise EntryError(f"{label} must be a string, not {kind_of(value)}", path)
        check_text(value, path)
        try:
            text = expand(value, self.environ)
        except ExpandError as error:
            hint = (
                f"set it before the start, or write ${{{error.variable}:-default}}"
                if error.variable
                else "write ${NAME} or ${NAME:-default}"
            )
            raise EntryError(
                f"{label}: {error.message}", path, hint=hint, variable=error.variable
            ) from None
        return expand_home(text, self.environ) if is_path else text


def _is_enabled(fields: JSONObject) -> bool:
    return fields.get("enabled") is not False and fields.get("disabled") is not True
