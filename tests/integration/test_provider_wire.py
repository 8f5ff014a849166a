"""What goes over the wire to each provider: exactly, per kind of file. The stub refuses what the real one refuses."""

import base64
import io
import json
import subprocess
import sys
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from PIL import Image

from tests.support.provider import Provider
from tributary.domain.attachments import FileType
from tributary.domain.errors import InvalidRequest, ProviderError
from tributary.models.chat import ChatModels
from tributary.models.compatible import is_openai
from tributary.models.content import audio_block, image_block, pdf_block, text_block
from tributary.models.invoke import Delta, Finish, stream_answer


def _image(form: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2), (200, 30, 60)).save(buffer, form)
    return buffer.getvalue()


def _wav() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\xff\xfb" * 40)
    return buffer.getvalue()


# The bytes hold what the two base64 alphabets write differently.
PDF = b"%PDF-1.4\n\xff\xfb\xef\xbe\n%%EOF"
MP3 = b"ID3\x04\x00\x00\x00\x00\x00\x00\xff\xfb\xef\xbe"
FILES = {
    FileType.PNG: _image("PNG"),
    FileType.JPEG: _image("JPEG"),
    FileType.WEBP: _image("WEBP"),
    FileType.PDF: PDF,
    FileType.MP3: MP3,
    FileType.WAV: _wav(),
}


def _block(file_type: FileType) -> Any:
    data = FILES[file_type]
    if file_type is FileType.PDF:
        return pdf_block(data, "Bericht – Q3.pdf")
    return audio_block(data, file_type) if file_type in (FileType.MP3, FileType.WAV) else image_block(data, file_type)


def _openai_part(file_type: FileType) -> dict[str, Any]:
    data = base64.b64encode(FILES[file_type]).decode()
    url = f"data:{file_type.value};base64,{data}"
    if file_type is FileType.PDF:
        return {"type": "file", "file": {"filename": "Bericht – Q3.pdf", "file_data": url}}
    if file_type is FileType.MP3:
        return {"type": "input_audio", "input_audio": {"data": data, "format": "mp3"}}
    if file_type is FileType.WAV:
        return {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    return {"type": "image_url", "image_url": {"url": url}}


def _google_part(file_type: FileType) -> dict[str, Any]:
    # The SDK's own spelling: the other base64 alphabet and this field name. The API takes both of either.
    data = base64.urlsafe_b64encode(FILES[file_type]).decode()
    mime_type = "audio/mp3" if file_type is FileType.MP3 else file_type.value
    return {"inlineData": {"data": data, "mime_type": mime_type}}


@pytest.fixture
async def models(provider: Provider, tmp_path: Path) -> AsyncIterator[ChatModels]:
    registry = ChatModels(provider.settings(tmp_path), _no_local)
    yield registry
    await registry.aclose()


def _no_local() -> BaseChatModel:
    raise AssertionError("no test here asks for the local model")


async def _answer(models: ChatModels, name: str, messages: list[BaseMessage], **options: Any) -> tuple[str, Finish]:
    pieces = [piece async for piece in stream_answer(await models.get(name), messages, timeout=10, **options)]
    finish = pieces[-1]
    assert isinstance(finish, Finish)
    return "".join(piece.text for piece in pieces if isinstance(piece, Delta)), finish


def _last_content(provider: Provider) -> Any:
    body = provider.chats[-1].body
    return body["messages"][-1]["content"] if "messages" in body else body["contents"][-1]["parts"]


@pytest.mark.parametrize("file_type", FILES)
@pytest.mark.parametrize("name", ["openrouter/stub/all", "openai/gpt-5-mini"])
async def test_an_openai_compatible_server_gets_each_file_as_its_own_part(
    models: ChatModels, provider: Provider, name: str, file_type: FileType
) -> None:
    question = HumanMessage([text_block("What is this?"), _block(file_type)])

    answer, _ = await _answer(models, name, [question])

    assert answer == "The stub answers."
    assert _last_content(provider) == [{"type": "text", "text": "What is this?"}, _openai_part(file_type)]


@pytest.mark.parametrize("file_type", FILES)
async def test_gemini_gets_each_file_as_inline_data(
    models: ChatModels, provider: Provider, file_type: FileType
) -> None:
    question = HumanMessage([text_block("What is this?"), _block(file_type)])

    answer, _ = await _answer(models, "google/gemini-2.5-flash", [question])

    assert answer == "The stub answers."
    assert _last_content(provider) == [{"text": "What is this?"}, _google_part(file_type)]


async def test_five_files_of_five_types_go_in_one_message_in_their_order(
    models: ChatModels, provider: Provider
) -> None:
    types = (FileType.PNG, FileType.PDF, FileType.MP3, FileType.WAV)
    blocks = [text_block("Compare."), text_block("[File: notes.md]\n# Notes"), *map(_block, types)]

    await _answer(models, "openrouter/stub/all", [HumanMessage(blocks)])

    assert _last_content(provider) == [
        {"type": "text", "text": "Compare."},
        {"type": "text", "text": "[File: notes.md]\n# Notes"},
        *map(_openai_part, types),
    ]


@pytest.mark.parametrize("name", ["openrouter/stub/all", "openai/gpt-5-mini"])
async def test_text_alone_goes_out_as_one_string(models: ChatModels, provider: Provider, name: str) -> None:
    question = HumanMessage([text_block("Summarise it."), text_block("[File: a.txt]\nAll of it.")])

    await _answer(models, name, [question])

    assert _last_content(provider) == "Summarise it.\n\n[File: a.txt]\nAll of it."


async def test_system_history_and_question_keep_their_roles(models: ChatModels, provider: Provider) -> None:
    messages = [SystemMessage("Be brief."), HumanMessage("One?"), AIMessage("1."), HumanMessage("Two?")]

    await _answer(models, "openrouter/stub/text", messages)
    await _answer(models, "google/gemini-2.5-flash", messages)

    first, second = (request.body for request in provider.chats)
    assert [(m["role"], m["content"]) for m in first["messages"]] == [
        ("system", "Be brief."),
        ("user", "One?"),
        ("assistant", "1."),
        ("user", "Two?"),
    ]
    assert second["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert [(c["role"], c["parts"][0]["text"]) for c in second["contents"]] == [
        ("user", "One?"),
        ("model", "1."),
        ("user", "Two?"),
    ]


async def test_openrouter_is_called_at_its_address_with_key_attribution_and_usage(
    models: ChatModels, provider: Provider
) -> None:
    await _answer(models, "openrouter/stub/all", [HumanMessage("Hello?")])

    request = provider.chats[-1]
    assert request.path == "/api/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {provider.key}"
    assert request.headers["x-title"] == "Tributary"
    assert request.headers["http-referer"] == "http://localhost"
    assert request.body["model"] == "stub/all"
    assert request.body["stream"] is True
    assert request.body["stream_options"] == {"include_usage": True}


async def test_another_openai_compatible_server_learns_nothing_of_attribution(
    models: ChatModels, provider: Provider
) -> None:
    await _answer(models, "openai/meta-llama/Llama-3:8b", [HumanMessage("Hello?")])

    request = provider.chats[-1]
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "meta-llama/Llama-3:8b"
    assert "x-title" not in request.headers
    assert "http-referer" not in request.headers


async def test_a_model_that_its_name_would_send_elsewhere_stays_on_chat_completions(
    models: ChatModels, provider: Provider
) -> None:
    await _answer(models, "openrouter/openai/gpt-5-codex", [HumanMessage("Hello?")])

    assert provider.chats[-1].path == "/api/v1/chat/completions"


async def test_gemini_is_called_at_v1beta_with_the_key_in_a_header(models: ChatModels, provider: Provider) -> None:
    await _answer(models, "google/gemini-2.5-flash", [HumanMessage("Hello?")])

    request = provider.chats[-1]
    assert request.path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
    assert request.headers["x-goog-api-key"] == provider.key


@pytest.mark.parametrize("name", ["openrouter/stub/all", "openai/gpt-5-mini", "google/gemini-2.5-flash"])
async def test_the_providers_own_usage_is_reported(models: ChatModels, provider: Provider, name: str) -> None:
    provider.answer = "one two three four"

    answer, finish = await _answer(models, name, [HumanMessage("Count.")])

    assert answer == "one two three four"
    assert finish.usage["outputTokens"] == 4
    assert finish.usage["totalTokens"] == finish.usage["inputTokens"] + 4
    assert (finish.reason, finish.estimated) == ("stop", False)


async def test_the_limit_of_an_answer_goes_by_the_name_that_each_provider_knows(
    models: ChatModels, provider: Provider
) -> None:
    for name in ("openrouter/stub/all", "openai/llama3", "google/gemini-2.5-flash"):
        await _answer(models, name, [HumanMessage("Hello?")], max_output=64)
        await _answer(models, name, [HumanMessage("Hello?")])

    bodies = [request.body for request in provider.chats]
    assert [body.get("max_completion_tokens") for body in bodies] == [64, None, None, None, None, None]
    assert [body.get("max_tokens") for body in bodies] == [None, None, 64, None, None, None]
    limits = [body.get("generationConfig", {}).get("maxOutputTokens") for body in bodies]
    assert limits == [None, None, None, None, 64, None]


@pytest.mark.parametrize(
    ("base_url", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://mine.openai.azure.com/openai/v1", True),
        ("http://localhost:11434/v1", False),
        ("https://notopenai.com/v1", False),
    ],
)
def test_openais_own_servers_are_told_from_those_that_speak_its_protocol(base_url: str, own: bool) -> None:
    assert is_openai(base_url) is own


async def test_models_of_one_name_are_one_object_and_share_connections(models: ChatModels) -> None:
    first = await models.get("openrouter/stub/all")

    assert await models.get("openrouter/stub/all") is first
    other: Any = await models.get("openai/gpt-5-mini")
    same: Any = first
    assert other.http_async_client is same.http_async_client


@pytest.mark.parametrize(
    ("name", "field", "variable"),
    [
        ("openrouter/stub/all", "openrouter_api_key", "OPENROUTER_API_KEY"),
        ("openai/gpt-5-mini", "openai_api_key", "OPENAI_API_KEY"),
        ("google/gemini-2.5-flash", "google_api_key", "GOOGLE_API_KEY"),
    ],
)
async def test_a_missing_key_is_told_by_the_call_and_not_by_the_name(
    provider: Provider, tmp_path: Path, name: str, field: str, variable: str
) -> None:
    registry = ChatModels(provider.settings(tmp_path, **{field: ""}), _no_local)
    registry.validate(name)

    with pytest.raises(ProviderError, match=f"{variable} is not set") as caught:
        await registry.get(name)

    assert not caught.value.transient
    assert provider.requests == []


async def test_only_providers_with_a_key_are_available(provider: Provider, tmp_path: Path) -> None:
    settings = provider.settings(tmp_path, openai_api_key=None, google_api_key=" ")

    assert ChatModels(settings, _no_local).available() == ("local", "openrouter")


async def test_an_unknown_name_is_refused_before_any_provider_is_asked(models: ChatModels, provider: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await models.get("mistral/large")

    assert provider.requests == []


async def test_the_key_is_in_no_representation_of_a_model(models: ChatModels, provider: Provider) -> None:
    for name in ("openrouter/stub/all", "google/gemini-2.5-flash"):
        model = await models.get(name)

        assert provider.key not in repr(model)
        assert provider.key not in json.dumps(model.to_json(), default=repr)


async def test_a_proxy_variable_of_the_library_breaks_no_model(
    models: ChatModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_PROXY", "http://127.0.0.1:9")

    answer, _ = await _answer(models, "openai/gpt-5-mini", [HumanMessage("Hello?")])

    assert answer == "The stub answers."


def test_no_provider_package_is_imported_before_a_model_of_its_own_is_asked_for() -> None:
    program = (
        "import sys, tributary.models.chat, tributary.models.invoke, tributary.models.embeddings, "
        "tributary.models.capabilities; "
        "print([name for name in ('openai', 'langchain_openai', 'langchain_google_genai', 'google.genai') "
        "if name in sys.modules])"
    )

    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert finished.stdout.strip() == "[]"
