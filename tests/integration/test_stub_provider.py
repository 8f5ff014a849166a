"""The stub itself: it must refuse what the real providers refuse, or the wire tests prove nothing."""

import base64
from typing import Any

import httpx
import pytest

from tests.support.provider import Provider

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()
PDF = base64.b64encode(b"%PDF-1.4\n").decode()
MP3 = base64.b64encode(b"ID3\x04").decode()


def _chat(provider: Provider, content: Any, **fields: Any) -> httpx.Response:
    body = {"model": "stub/all", "messages": [{"role": "user", "content": content}], **fields}
    headers = {"authorization": f"Bearer {provider.key}"}
    return httpx.post(f"{provider.openai_url}/chat/completions", json=body, headers=headers)


def _gemini(provider: Provider, part: Any) -> httpx.Response:
    return httpx.post(
        f"{provider.base_url}/v1beta/models/gemini-2.5-flash:generateContent",
        json={"contents": [{"role": "user", "parts": [part]}]},
        headers={"x-goog-api-key": provider.key},
    )


REFUSED_PARTS = {
    "a standard block": {"type": "image", "base64": PNG, "mime_type": "image/png"},
    "an image of another type than it says": {
        "type": "image_url",
        "image_url": {"url": f"data:image/jpeg;base64,{PNG}"},
    },
    "an image that is not base64": {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
    "a file without a name": {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}"}},
    "a file without a data URL": {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
    "audio in a format of its content type": {"type": "input_audio", "input_audio": {"data": MP3, "format": "mpeg"}},
    "audio as a data URL": {
        "type": "input_audio",
        "input_audio": {"data": f"data:audio/mp3;base64,{MP3}", "format": "mp3"},
    },
    "a key of another protocol": {"type": "text", "text": "Hello", "mime_type": "text/plain"},
    "blank text": {"type": "text", "text": " "},
}


@pytest.mark.parametrize("part", REFUSED_PARTS.values(), ids=REFUSED_PARTS)
def test_the_openai_stub_refuses(provider: Provider, part: Any) -> None:
    response = _chat(provider, [{"type": "text", "text": "Look."}, part])

    assert response.status_code == 400
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}


def test_the_openai_stub_takes_what_is_right(provider: Provider) -> None:
    response = _chat(provider, [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}])

    assert response.json()["choices"][0]["message"]["content"] == "The stub answers."


def test_the_openai_stub_refuses_two_questions_in_a_row(provider: Provider) -> None:
    questions = [{"role": "user", "content": "One?"}, {"role": "user", "content": "Two?"}]

    assert _chat(provider, "", messages=questions).status_code == 400


def test_a_missing_key_is_answered_in_each_providers_shape(provider: Provider) -> None:
    openai = httpx.post(f"{provider.openai_url}/chat/completions", json={})
    openrouter = httpx.post(f"{provider.openrouter_url}/chat/completions", json={})
    gemini = httpx.post(f"{provider.base_url}/v1beta/models/gemini-2.5-flash:generateContent", json={})

    assert openai.status_code == 401
    assert openai.json()["error"]["type"] == "invalid_request_error"
    assert openrouter.json() == {"error": {"message": "No auth credentials found", "code": 401}}
    assert gemini.json()["error"]["status"] == "PERMISSION_DENIED"


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {"mimeType": "audio/mpeg3", "data": MP3}},
        {"inlineData": {"mimeType": "image/png", "data": "%%%"}},
        {"inlineData": {"mimeType": "image/png", "data": PDF}},
        {"type": "text", "text": "Hello"},
        {"text": ""},
    ],
)
def test_the_gemini_stub_refuses(provider: Provider, part: Any) -> None:
    response = _gemini(provider, part)

    assert response.status_code == 400
    assert response.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_the_gemini_stub_takes_both_base64_alphabets(provider: Provider) -> None:
    png = b"\x89PNG\r\n\x1a\n\xff\xfb\xef\xbe"

    for data in (base64.b64encode(png), base64.urlsafe_b64encode(png)):
        assert _gemini(provider, {"inlineData": {"mimeType": "image/png", "data": data.decode()}}).status_code == 200


def test_the_gemini_stub_refuses_more_than_a_hundred_texts(provider: Provider) -> None:
    request = {"model": "models/gemini-embedding-2", "content": {"parts": [{"text": "a"}]}}
    url = f"{provider.base_url}/v1beta/models/gemini-embedding-2:batchEmbedContents"

    for count, status in ((100, 200), (101, 400)):
        response = httpx.post(url, json={"requests": [request] * count}, headers={"x-goog-api-key": provider.key})
        assert response.status_code == status
