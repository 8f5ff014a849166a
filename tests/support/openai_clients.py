"""Clients of OpenAI's API that talk to a server of ours, and messages as they send them."""

import base64
from typing import Any

import httpx
import openai
from langchain_openai import ChatOpenAI
from pydantic import SecretStr


def key_of(client: httpx.Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


def openai_of(client: httpx.Client, **options: Any) -> openai.OpenAI:
    """The official client with the same key, without its own retries."""
    fields: dict[str, Any] = {"api_key": key_of(client), "max_retries": 0, "timeout": 60.0, **options}
    return openai.OpenAI(base_url=f"{client.base_url}/v1", **fields)


def async_openai_of(client: httpx.Client) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=key_of(client), max_retries=0, timeout=60.0)


def langchain_of(client: httpx.Client, bot: str, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=f"{client.base_url}/v1", api_key=SecretStr(key_of(client)), model=bot, max_retries=0, **options
    )


def user(*content: Any) -> Any:
    """A user's message: a text, or parts."""
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def said(text: str) -> Any:
    return {"role": "assistant", "content": text}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def image_part(data: bytes, declared: str = "image/png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(data, declared)}}


def file_part(name: str, data: bytes, declared: str = "application/pdf") -> dict[str, Any]:
    return {"type": "file", "file": {"filename": name, "file_data": data_url(data, declared)}}


def audio_part(data: bytes, kind: str = "wav") -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode(), "format": kind}}


def data_url(data: bytes, declared: str) -> str:
    return f"data:{declared};base64,{base64.b64encode(data).decode()}"
