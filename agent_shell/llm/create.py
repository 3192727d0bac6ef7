"""Settings and environment to a provider: which service, which model.

Nothing is asked over the network before a model is needed; then the services that listen on this
machine's usual ports are tried at once, side by side.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio

from agent_shell.errors import LLMError
from agent_shell.llm.http_stream import HttpService, ServiceAddress
from agent_shell.llm.models import ModelInfo, first_for_chat, models_from
from agent_shell.llm.provider import LLMProvider
from agent_shell.settings.settings import ProviderSettings, Settings

MODEL_VARIABLE = "AGENT_SHELL_MODEL"
LOCAL_CONNECT_TIMEOUT_S = 0.3
"""On this machine a listening port answers in microseconds; a filtered one must not hold us up."""
LOCAL_LIST_TIMEOUT_S = 2.0
LIST_TIMEOUT_S = 10.0
OPENAI_URL = "https://api.openai.com/v1"
OPENROUTER_URL = "https://openrouter.ai/api/v1"
OLLAMA_PORT = 11434

HOW_TO_GET_A_MODEL = (
    "start a local one (ollama serve, or LM Studio's server), or set OPENAI_API_KEY and "
    f"{MODEL_VARIABLE}=openai/MODEL; `agent-shell models` lists what can be used"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalService:
    """A model server of this machine and the port it usually listens on."""

    name: str
    port: int


LOCAL_SERVICES = (
    LocalService(name="ollama", port=OLLAMA_PORT),
    LocalService(name="lmstudio", port=1234),
    LocalService(name="llamacpp", port=8080),
    LocalService(name="vllm", port=8000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceModels:
    """What one service offers, or why it could not be asked."""

    service: str
    base_url: str
    models: tuple[ModelInfo, ...] = ()
    error: str | None = None
    hint: str | None = None


def known_services(
    settings: Settings,
    environ: Mapping[str, str],
    local_services: Sequence[LocalService] = LOCAL_SERVICES,
) -> dict[str, ServiceAddress]:
    """Every service that can be named in `--model`; the user's own `[providers]` come first."""
    services = {
        name: _own_service(name, provider, environ) for name, provider in settings.providers.items()
    }
    services.setdefault(
        "openai",
        _keyed_service(
            "openai",
            environ.get("OPENAI_BASE_URL") or OPENAI_URL,
            "OPENAI_API_KEY",
            environ,
            {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"},
        ),
    )
    for local in local_services:
        base_url = f"http://127.0.0.1:{local.port}/v1"
        if local.name == "ollama" and (host := environ.get("OLLAMA_HOST")):
            base_url = ollama_url(host)
        services.setdefault(local.name, ServiceAddress(name=local.name, base_url=base_url))
    services.setdefault(
        "openrouter",
        _keyed_service("openrouter", OPENROUTER_URL, "OPENROUTER_API_KEY", environ, {}),
    )
    return services


def ollama_url(host: str) -> str:
    """OLLAMA_HOST as a base URL: it may lack the scheme and the port, or be the any-address."""
    parts = urlsplit(host if "://" in host else f"http://{host}")
    name = parts.hostname or "127.0.0.1"
    if name in {"0.0.0.0", "::"}:  # where it listens, not where we go
        name = "127.0.0.1"
    try:
        port = parts.port
    except ValueError:
        port = None
    port = port or {"https": 443, "http": OLLAMA_PORT}.get(parts.scheme, OLLAMA_PORT)
    shown = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{shown}:{port}{parts.path.rstrip('/')}/v1"


async def resolve_provider(
    settings: Settings,
    environ: Mapping[str, str],
    model: str | None = None,
    *,
    local_services: Sequence[LocalService] = LOCAL_SERVICES,
) -> LLMProvider:
    """The provider for `PROVIDER/MODEL`, `PROVIDER` or `MODEL`, the settings' own if None.

    With nothing chosen: the first service that is configured, or listens on this machine, and the
    first model it lists. Raises LLMError with a hint on how to get a model.
    """
    services = known_services(settings, environ, local_services)
    wanted = model or settings.model or environ.get(MODEL_VARIABLE)
    if wanted:
        return await _provider_for(wanted, services, settings, environ, local_services)
    for name in _configured(services, settings, environ):
        return await _first_model_of(services[name])
    for found in await _ask_local(services, local_services):
        if (chosen := first_for_chat(found.models, prefers_newest=False)) is not None:
            return _provider(services[found.service], chosen)
    raise LLMError("there is no model to talk to", hint=HOW_TO_GET_A_MODEL)


def check_model_name(name: str, settings: Settings, environ: Mapping[str, str]) -> None:
    """Raises LLMError if `PROVIDER/MODEL` names a provider nobody knows, or one without its key.

    A name without a slash may be a model of any service: only asking can tell.
    """
    services = known_services(settings, environ)
    provider, slash, _ = name.partition("/")
    if provider in services:
        _check_key(services[provider], settings)
    elif slash:
        raise _unknown_model(name, services)


async def list_models(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    local_services: Sequence[LocalService] = LOCAL_SERVICES,
) -> tuple[ServiceModels, ...]:
    """What every configured service, and every one that listens on this machine, offers now."""
    services = known_services(settings, environ, local_services)
    found: dict[str, ServiceModels] = {}

    async def ask(name: str) -> None:
        try:
            models = await _models_of(services[name], timeout_s=LIST_TIMEOUT_S)
            found[name] = ServiceModels(
                service=name, base_url=services[name].base_url, models=models
            )
        except LLMError as error:
            found[name] = ServiceModels(
                service=name,
                base_url=services[name].base_url,
                error=error.message,
                hint=error.hint,
            )

    configured = _configured(services, settings, environ)
    async with anyio.create_task_group() as group:
        for name in configured:
            group.start_soon(ask, name)
        local = [service for service in local_services if service.name not in configured]
        for listed in await _ask_local(services, local):
            found[listed.service] = listed
    return tuple(found[name] for name in services if name in found)


def _own_service(
    name: str, provider: ProviderSettings, environ: Mapping[str, str]
) -> ServiceAddress:
    """A `[providers.NAME]` of the user's settings."""
    headers = dict(provider.headers)
    key = environ.get(provider.api_key_env) if provider.api_key_env else None
    if key:
        headers["Authorization"] = f"Bearer {key.strip()}"
    hint = f"set {provider.api_key_env}" if provider.api_key_env else None
    return ServiceAddress(
        name=name, base_url=provider.base_url, headers=headers, secret=key, key_hint=hint
    )


def _keyed_service(
    name: str,
    base_url: str,
    key_variable: str,
    environ: Mapping[str, str],
    header_variables: Mapping[str, str],
) -> ServiceAddress:
    key = (environ.get(key_variable) or "").strip()
    headers = {
        header: environ[variable]
        for header, variable in header_variables.items()
        if environ.get(variable)
    }
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return ServiceAddress(
        name=name,
        base_url=base_url,
        headers=headers,
        secret=key or None,
        key_hint=f"check {key_variable}" if key else f"set {key_variable}",
    )


def _configured(
    services: Mapping[str, ServiceAddress], settings: Settings, environ: Mapping[str, str]
) -> list[str]:
    """The services somebody set up, in the order in which they are preferred."""
    names = list(settings.providers)
    if environ.get("OPENAI_BASE_URL") or environ.get("OPENAI_API_KEY"):
        names.append("openai")
    if environ.get("OPENROUTER_API_KEY"):
        names.append("openrouter")
    return [name for name in dict.fromkeys(names) if name in services]


async def _provider_for(
    wanted: str,
    services: Mapping[str, ServiceAddress],
    settings: Settings,
    environ: Mapping[str, str],
    local_services: Sequence[LocalService],
) -> LLMProvider:
    name, slash, model_id = wanted.partition("/")
    if name in services:
        address = services[name]
        _check_key(address, settings)
        if not model_id:
            return await _first_model_of(address)
        return _provider(address, ModelInfo(id=model_id))
    configured = _configured(services, settings, environ)
    if configured and not slash:
        address = services[configured[0]]
        return _provider(address, ModelInfo(id=wanted))
    if not configured:
        for found in await _ask_local(services, local_services):
            for info in found.models:
                if info.id == wanted:
                    return _provider(services[found.service], info)
    raise _unknown_model(wanted, services)


def _unknown_model(wanted: str, services: Mapping[str, ServiceAddress]) -> LLMError:
    return LLMError(
        f'no service offers the model "{wanted}"',
        hint=f"write PROVIDER/MODEL; known providers: {', '.join(services)}",
    )


def _check_key(address: ServiceAddress, settings: Settings) -> None:
    """Without its key a public service would only answer 401, a round trip later."""
    is_public = address.base_url in {OPENAI_URL, OPENROUTER_URL}
    if is_public and address.secret is None and address.name not in settings.providers:
        raise LLMError(f"there is no key for {address.name}", hint=address.key_hint)


async def _first_model_of(address: ServiceAddress) -> LLMProvider:
    timeout_s = LOCAL_LIST_TIMEOUT_S if address.is_loopback else LIST_TIMEOUT_S
    models = await _models_of(address, timeout_s=timeout_s)
    if address.base_url.rstrip("/") == OPENROUTER_URL:
        raise LLMError(
            f"no model was chosen among the {len(models)} of openrouter",
            hint=f"set {MODEL_VARIABLE}=openrouter/MODEL, or pass --model",
        )
    chosen = first_for_chat(models, prefers_newest=address.host == "api.openai.com")
    if chosen is None:
        raise LLMError(f"{address.name} at {address.base_url} lists no model that can chat")
    return _provider(address, chosen)


def _provider(address: ServiceAddress, model: ModelInfo) -> LLMProvider:
    # The shell imports this module to start; a provider it loads with the first turn.
    from agent_shell.llm.openai_chat import OpenAIChatProvider  # noqa: PLC0415

    return OpenAIChatProvider(address, model.id, context_window=model.context_window)


async def _models_of(address: ServiceAddress, *, timeout_s: float) -> tuple[ModelInfo, ...]:
    service = HttpService(address)
    try:
        return models_from(await service.get_json("/models", timeout_s=timeout_s))
    finally:
        await service.aclose()


async def _ask_local(
    services: Mapping[str, ServiceAddress], local_services: Sequence[LocalService]
) -> list[ServiceModels]:
    """The models of every service that listens on this machine; all are tried at once."""
    found: dict[str, ServiceModels] = {}

    async def ask(name: str) -> None:
        address = services[name]
        try:
            if not await _is_listening(address):
                return
            models = await _models_of(address, timeout_s=LOCAL_LIST_TIMEOUT_S)
        except LLMError as error:
            # Another kind of server on the same port, most likely.
            _log.debug("no model service at %s: %s", address.base_url, error)
            return
        if models:
            found[name] = ServiceModels(service=name, base_url=address.base_url, models=models)

    async with anyio.create_task_group() as group:
        for local in local_services:
            group.start_soon(ask, local.name)
    return [found[local.name] for local in local_services if local.name in found]


async def _is_listening(address: ServiceAddress) -> bool:
    """Whether the port takes a connection: found out without loading the HTTP library."""
    parts = urlsplit(address.base_url)
    try:
        with anyio.fail_after(LOCAL_CONNECT_TIMEOUT_S):
            stream = await anyio.connect_tcp(address.host, parts.port or 80)
    except (OSError, TimeoutError):
        return False
    await stream.aclose()
    return True
