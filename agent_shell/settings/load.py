"""Settings from everywhere: defaults < user file < project file < environment < flags."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import cast

from agent_shell.errors import ConfigError, UsageError
from agent_shell.paths import AppPaths
from agent_shell.settings.read_text import read_settings_text, shown_path
from agent_shell.settings.settings import MCPSettings, ProviderSettings, Settings, ToolSettings
from agent_shell.settings.toml_places import place_of
from agent_shell.settings.values import SettingError, check, closest, keys_of

PROJECT_FILE = ".agent-shell/settings.toml"

ENVIRONMENT: Mapping[str, str] = {
    "AGENT_SHELL_MODEL": "model",
    "AGENT_SHELL_MCP_STARTUP_TIMEOUT_MS": "mcp.startup_timeout_ms",
    "AGENT_SHELL_MCP_TIMEOUT_MS": "mcp.timeout_override_ms",
}
"""Which variable sets which key (CONTRACT section 2)."""

_APPROVAL_WIDTH = {"ask": 0, "edits": 1, "all": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """The merged settings, and what was wrong on the way: each problem cost only its own value."""

    settings: Settings
    problems: tuple[ConfigError, ...] = ()


def load_settings(
    *,
    paths: AppPaths,
    cwd: Path,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
) -> LoadedSettings:
    """Merge all sources. Blocks while it reads; never writes.

    `overrides` are flags as `{"mcp.enable_project_config": False}`; None means "not given". Raises
    UsageError for an unusable override, and for nothing else.
    """
    loading = _Loading()
    loading.add_file(paths.user_settings, str(paths.user_settings), project=None)
    project_file = cwd / PROJECT_FILE
    loading.add_file(project_file, shown_path(project_file, cwd), project=cwd)
    for variable, key in ENVIRONMENT.items():
        if environ.get(variable):
            loading.add_variable(variable, key, environ[variable])
    for key, value in (overrides or {}).items():
        if value is not None:
            try:
                loading.values[key] = check(key, value)
            except SettingError as error:
                raise UsageError(error.message, hint=error.hint) from None
    return LoadedSettings(settings=loading.settings(), problems=tuple(loading.problems))


@dataclass(slots=True)
class _Loading:
    """Flat values by dotted key, each overwritten by the next source."""

    values: dict[str, object] = field(default_factory=dict[str, object])
    providers: dict[str, ProviderSettings] = field(default_factory=dict[str, ProviderSettings])
    problems: list[ConfigError] = field(default_factory=list[ConfigError])

    def settings(self) -> Settings:
        def part(prefix: str, names: Iterator[str]) -> dict[str, object]:
            return {
                name: self.values[prefix + name] for name in names if prefix + name in self.values
            }

        top = (each.name for each in fields(Settings))
        mcp = (each.name for each in fields(MCPSettings))
        tools = (each.name for each in fields(ToolSettings))
        base = Settings()
        return replace(
            base,
            **part("", top),
            mcp=replace(base.mcp, **part("mcp.", mcp)),
            tools=replace(base.tools, **part("tools.", tools)),
            providers=self.providers,
        )

    def add_variable(self, variable: str, key: str, text: str) -> None:
        value: object = text
        if key != "model":
            value = int(text) if re.fullmatch(r"[0-9]{1,12}", text.strip()) else text
        try:
            self.values[key] = check(key, value)
        except SettingError as error:
            message = f"{variable}: {error.message}"
            self.problems.append(ConfigError(message, hint=error.hint, path=variable))

    def add_file(self, path: Path, shown: str, *, project: Path | None) -> None:
        try:
            text = read_settings_text(path, shown=shown, inside=project)
            if text is None:
                return
            table = parse_toml(text, shown)
        except ConfigError as error:
            self.problems.append(error)
            return
        for key, value in _leaves(table):
            try:
                if project is not None:
                    self.check_project_key(key, value)
                if key[0] == "providers":
                    self.add_provider(key, value)
                else:
                    self.values[".".join(key)] = check(".".join(key), value)
            except SettingError as error:
                line, column = place_of(text, key)
                message = f"{shown}:{line}:{column}: {error.message}"
                self.problems.append(ConfigError(message, hint=error.hint, path=shown))

    def check_project_key(self, key: tuple[str, ...], value: object) -> None:
        """A project may narrow what is allowed, never widen it (THREATS.md)."""
        dotted = ".".join(key)
        if key[0] == "providers":
            raise SettingError(
                '"providers" counts only in your own settings: a project may not say where keys go'
            )
        if dotted == "approval":
            now = cast("str", self.values.get("approval", Settings().approval))
            if _APPROVAL_WIDTH.get(str(value), 0) > _APPROVAL_WIDTH[now]:
                raise SettingError(f'a project may not set "approval" to "{value}"')
        is_off = self.values.get("mcp.enable_project_config") is False
        if dotted == "mcp.enable_project_config" and value is True and is_off:
            raise SettingError(f'a project may not turn on "{dotted}"')

    def add_provider(self, key: tuple[str, ...], value: object) -> None:
        if len(key) != 2 or not isinstance(value, dict):
            raise SettingError('"providers" holds one table for each service')
        table = cast("dict[str, object]", value)
        known = {each.name for each in fields(ProviderSettings)}
        for name in table:
            if name not in known:
                meant = closest(name, known)
                raise SettingError(
                    f'unknown key "{".".join((*key, name))}"',
                    hint=f'did you mean "{meant}"?' if meant else None,
                )
        url, api_key_env = table.get("base_url"), table.get("api_key_env")
        if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
            raise SettingError(f'"{".".join(key)}.base_url" must be an http:// or https:// URL')
        if api_key_env is not None and not isinstance(api_key_env, str):
            raise SettingError(f'"{".".join(key)}.api_key_env" must be the name of a variable')
        headers = table.get("headers", {})
        if not isinstance(headers, dict) or not all(
            isinstance(each, str) for each in cast("dict[str, object]", headers).values()
        ):
            raise SettingError(f'"{".".join(key)}.headers" must be a table of strings')
        self.providers[key[1]] = ProviderSettings(
            base_url=url, api_key_env=api_key_env, headers=cast("dict[str, str]", headers)
        )


def parse_toml(text: str, shown: str) -> dict[str, object]:
    """The text as a table. Raises ConfigError with the place of the mistake."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        line, column = text.count("\n") + 1, 1
        if found is not None:
            message = message[: found.start()]
            if found[1] is not None:
                line, column = int(found[1]), int(found[2])
        message = message[:1].lower() + message[1:]
    except RecursionError:
        line, column, message = 1, 1, "nested too deeply"
    raise ConfigError(f"{shown}:{line}:{column}: {message}", path=shown) from None


def _leaves(
    table: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every key with its value; known tables are opened, all others stay values."""
    for name, value in table.items():
        path = (*above, name)
        if isinstance(value, dict) and (name in keys_of(above) or path == ("providers",)):
            yield from _leaves(cast("dict[str, object]", value), path)
        else:
            yield path, value
