"""From settings and environment to a provider."""

import time
from collections.abc import Mapping

import pytest

from agent_shell.errors import LLMError
from agent_shell.llm.create import (
    LocalService,
    check_model_name,
    known_services,
    list_models,
    ollama_url,
    resolve_provider,
)
from agent_shell.llm.models import ModelInfo, first_for_chat, models_from
from agent_shell.settings.settings import ProviderSettings, Settings
from tests.fakes.model_server import ModelServer
from tests.requirements import requirement

NOTHING: Mapping[str, str] = {}


def local(name: str, server: ModelServer) -> LocalService:
    return LocalService(name=name, port=server.port)


async def model_of(
    settings: Settings,
    environ: Mapping[str, str],
    *services: LocalService,
    model: str | None = None,
) -> str:
    """The name of the provider that is found."""
    provider = await resolve_provider(settings, environ, model, local_services=services)
    await provider.aclose()
    return provider.model


@requirement("local-model:found")
async def test_a_local_server_on_its_usual_port_is_found_without_configuration() -> None:
    with ModelServer(models=["nomic-embed-text", "qwen3"]) as server:
        assert await model_of(Settings(), NOTHING, local("ollama", server)) == "ollama/qwen3"


async def test_no_model_at_all_is_one_error_that_says_how_to_get_one() -> None:
    with ModelServer() as server:
        gone = local("ollama", server)
    began = time.monotonic()
    with pytest.raises(LLMError, match="no model") as raised:
        await model_of(Settings(), NOTHING, gone)
    assert "OPENAI_API_KEY" in (raised.value.hint or "")
    assert time.monotonic() - began < 2


async def test_another_server_on_a_usual_port_is_no_model() -> None:
    with ModelServer(models=[]) as server, pytest.raises(LLMError, match="no model"):
        await model_of(Settings(), NOTHING, local("vllm", server))


async def test_a_base_url_in_the_environment_gives_its_first_model() -> None:
    with ModelServer(models=["first", "second"]) as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-1"}
        assert await model_of(Settings(), environ) == "openai/first"
        assert server.requests[0].headers["authorization"] == "Bearer sk-1"


async def test_the_users_own_provider_comes_first() -> None:
    with ModelServer(models=["mine"]) as server:
        own = ProviderSettings(
            base_url=server.base_url, api_key_env="MY_KEY", headers={"x-team": "a"}
        )
        settings = Settings(providers={"own": own})
        environ = {"OPENAI_API_KEY": "sk-1", "MY_KEY": "k"}
        assert await model_of(settings, environ) == "own/mine"
        sent = server.requests[0].headers
        assert (sent["authorization"], sent["x-team"]) == ("Bearer k", "a")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("ollama/a/b:c", "ollama/a/b:c"),
        ("lmstudio/x", "lmstudio/x"),
        ("openrouter/meta/llama", "openrouter/meta/llama"),
    ],
)
async def test_a_named_model_asks_nobody(wanted: str, expected: str) -> None:
    environ = {"OPENROUTER_API_KEY": "k"}
    provider = await resolve_provider(Settings(), environ, wanted)
    assert provider.model == expected


async def test_settings_name_the_model_and_the_argument_beats_them() -> None:
    settings = Settings(model="ollama/one")
    assert (await resolve_provider(settings, NOTHING)).model == "ollama/one"
    assert (await resolve_provider(settings, NOTHING, "ollama/two")).model == "ollama/two"


async def test_a_bare_name_is_looked_for_on_this_machine() -> None:
    with ModelServer(models=["a", "b"]) as server:
        services = [local("llamacpp", server)]
        assert await model_of(Settings(), NOTHING, *services, model="b") == "llamacpp/b"


@pytest.mark.parametrize("name", ["openai/x", "openai"])
@requirement("L1")
async def test_a_missing_key_fails_before_anything_is_sent(name: str) -> None:
    """(CASES L1)"""
    with pytest.raises(LLMError, match="no key for openai") as raised:
        await resolve_provider(Settings(), NOTHING, name)
    assert raised.value.hint == "set OPENAI_API_KEY"


def test_an_unknown_provider_is_named_with_the_known_ones() -> None:
    with pytest.raises(LLMError, match="nosuch/model") as raised:
        check_model_name("nosuch/model", Settings(), NOTHING)
    assert "ollama" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:9999", "http://127.0.0.1:9999/v1"),
        ("http://box", "http://box:11434/v1"),
        ("https://box/ollama/", "https://box:443/ollama/v1"),
        ("[::1]:5", "http://[::1]:5/v1"),
        ("box:nonsense", "http://box:11434/v1"),
    ],
)
def test_ollama_host_is_understood(host: str, expected: str) -> None:
    assert ollama_url(host) == expected


async def test_listing_tells_what_is_there_and_what_failed() -> None:
    with ModelServer(models=["qwen3"]) as server, ModelServer() as gone:
        gone.stop()
        environ = {"OPENAI_BASE_URL": gone.base_url}
        found = await list_models(Settings(), environ, local_services=[local("ollama", server)])
    assert [(one.service, [m.id for m in one.models], one.error is None) for one in found] == [
        ("openai", [], False),
        ("ollama", ["qwen3"], True),
    ]


def test_context_windows_are_read_in_every_services_words() -> None:
    listing = {
        "data": [
            {"id": "vllm", "max_model_len": 1},
            {"id": "groq", "context_window": 2},
            {"id": "llama", "meta": {"n_ctx_train": 3}},
            {"id": "none", "created": 5},
            {"no": "model"},
            "nonsense",
        ]
    }
    assert models_from(listing) == (
        ModelInfo(id="vllm", context_window=1),
        ModelInfo(id="groq", context_window=2),
        ModelInfo(id="llama", context_window=3),
        ModelInfo(id="none", created=5),
    )


def test_openais_newest_plain_model_is_preferred() -> None:
    listed = [
        ModelInfo(id="text-embedding-9", created=99),
        ModelInfo(id="gpt-7", created=10),
        ModelInfo(id="gpt-8-pro", created=30),
        ModelInfo(id="gpt-8", created=20),
    ]
    chosen = first_for_chat(listed, prefers_newest=True)
    assert chosen is not None
    assert chosen.id == "gpt-8"


def test_a_secret_is_no_part_of_a_services_shown_words() -> None:
    address = known_services(Settings(), {"OPENAI_API_KEY": " sk-1 "})["openai"]
    assert (address.secret, address.headers["Authorization"]) == ("sk-1", "Bearer sk-1")
