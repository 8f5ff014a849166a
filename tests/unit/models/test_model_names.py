import pytest

from tributary.domain.errors import InvalidRequest
from tributary.models.names import parse_chat_model, parse_embedding


@pytest.mark.parametrize(
    ("text", "provider", "name"),
    [
        ("local/extractive", "local", "extractive"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5"),
        ("openrouter/qwen/qwen3-32b:free", "openrouter", "qwen/qwen3-32b:free"),
        ("openrouter/openrouter/auto", "openrouter", "openrouter/auto"),
        ("google/gemini-2.5-flash", "google", "gemini-2.5-flash"),
        ("openai/gpt-5-mini", "openai", "gpt-5-mini"),
        ("openai/meta-llama/Llama-3.1-8B", "openai", "meta-llama/Llama-3.1-8B"),
        ("openai/llama3:8b", "openai", "llama3:8b"),
        ("openai/ft:gpt-4o:acme::a1", "openai", "ft:gpt-4o:acme::a1"),
    ],
)
def test_a_chat_model_is_a_provider_and_what_the_provider_calls_it(text: str, provider: str, name: str) -> None:
    parsed = parse_chat_model(text)

    assert (parsed.provider, parsed.name) == (provider, name)
    assert str(parsed) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "extractive",
        "local/",
        "local/other",
        "mistral/large",
        "openrouter/",
        "openrouter/gpt-4o",
        "openrouter/a/b/c",
        "openrouter//b",
        "google/models/gemini",
        "google/gemini:generateContent?x=",
        "google/../files",
        "google/gemini 2",
        "openai/",
        "openai/a//b",
        "openai//etc/passwd",
        "openai/a\nb",
        "openai/modèle",
        "OpenAI/gpt-5",
        " openai/gpt-5",
        "openai/gpt-5 ",
        "openai/" + "x" * 300,
    ],
)
def test_a_malformed_chat_model_is_an_invalid_request(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a chat model"):
        parse_chat_model(text)


@pytest.mark.parametrize(
    "text", ["local/multilingual-e5-small", "local/minilm", "gemini/gemini-embedding-2", "openai/nomic-embed-text"]
)
def test_every_documented_embedding_has_a_name(text: str) -> None:
    assert str(parse_embedding(text)) == text


@pytest.mark.parametrize("text", ["local/extractive", "gemini/gemini-embedding-001", "google/gemini-2.5-flash", "e5"])
def test_a_name_that_embeds_nothing_is_an_invalid_request(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not an embedding"):
        parse_embedding(text)
