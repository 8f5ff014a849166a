"""How one batch of texts gets to a provider, through LangChain's embedding classes."""

from collections.abc import Sequence
from typing import Any

from tributary.models.chat import GOOGLE_API_VERSION
from tributary.models.names import require_key
from tributary.models.remote_embeddings import EmbedCall, Limits, Purpose
from tributary.models.remote_images import ImageCall, Picture
from tributary.models.remote_space import Embedded
from tributary.models.transport import http_timeout
from tributary.settings import Settings

GEMINI_DIMENSION = 3072
#: The API takes 100 texts a call. The parts of an answer are read on the event loop: 100 vectors would hold it
#: for a tenth of a second.
GEMINI_LIMITS = Limits(texts=32, tokens=20_000)
GEMINI_WINDOW = 8_192
GEMINI_IMAGES = 6
#: What the Gemini API counts for a picture of up to 384 pixels, and for each tile of a larger one: one is assumed.
GEMINI_IMAGE_TOKENS = 258
OPENAI_LIMITS = Limits(texts=64, tokens=100_000)
OPENAI_WINDOW = 8_191
#: Of OpenAI's own models; any other is asked.
OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
#: `gemini-embedding-2` has no task parameter: what a text is for is written before it.
_GEMINI_TASKS = {Purpose.DOCUMENT: "title: none | text: ", Purpose.QUERY: "task: search result | query: "}
#: Keeps LangChain from sending a task of its own choice.
_NO_TASK = "TASK_TYPE_UNSPECIFIED"


def gemini_client(settings: Settings, model: str) -> Any:
    """Raises `ProviderError` without a key. Imports the package: call it in a thread."""
    key = require_key(settings, "gemini")
    from langchain_google_genai import GoogleGenerativeAIEmbeddings

    return GoogleGenerativeAIEmbeddings(
        model=model,
        google_api_key=key,
        base_url=settings.google_base_url,
        api_version=GOOGLE_API_VERSION,
        vertexai=False,
        output_dimensionality=GEMINI_DIMENSION,
    )


def gemini_call(client: Any) -> EmbedCall:
    async def call(texts: list[str], purpose: Purpose) -> Embedded:
        prefixed = [_GEMINI_TASKS[purpose] + text for text in texts]
        return Embedded(await client.aembed_documents(prefixed, task_type=_NO_TASK))

    return call


def gemini_image_call(client: Any, model: str) -> ImageCall:
    """Over the SDK that LangChain's class holds, since that class takes texts only. Each picture is a content of its
    own: several in one would come back as one vector, and so would a bare list of them."""
    from google.genai import types

    config = types.EmbedContentConfig(output_dimensionality=GEMINI_DIMENSION)

    async def call(pictures: list[Picture]) -> Embedded:
        contents = [types.Content(parts=[types.Part.from_bytes(data=data, mime_type=kind)]) for data, kind in pictures]
        answer = await client.client.aio.models.embed_content(model=model, contents=contents, config=config)
        return Embedded([each.values for each in answer.embeddings], _prompt_tokens(answer))

    return call


def _prompt_tokens(answer: Any) -> int | None:
    counted = getattr(answer.usage_metadata, "prompt_token_count", None)
    return int(counted) if counted else None


def openai_client(settings: Settings, model: str, http_client: Any) -> Any:
    """Raises `ProviderError` without a key. Imports the package: call it in a thread."""
    key = require_key(settings, "openai")
    from langchain_openai import OpenAIEmbeddings

    async def api_key() -> str:
        return key

    return OpenAIEmbeddings(
        model=model,
        openai_api_key=api_key,
        openai_api_base=settings.openai_base_url,
        # Otherwise it sends token numbers of OpenAI's vocabulary, which only OpenAI understands.
        check_embedding_ctx_length=False,
        http_async_client=http_client,
        openai_proxy="",
        request_timeout=http_timeout(settings.provider_timeout),
        max_retries=0,
    )


def openai_call(client: Any) -> EmbedCall:
    """Over the SDK that LangChain's class holds: the class returns the vectors in the order in which they came, and
    drops what they cost."""

    async def call(texts: list[str], _: Purpose) -> Embedded:
        answer = await client.async_client.create(input=texts, model=client.model)
        return Embedded([each.embedding for each in _in_order(answer.data)], _total_tokens(answer))

    return call


def _in_order(data: Sequence[Any]) -> Sequence[Any]:
    """Vectors in the order of their texts. Servers that say no places keep it."""
    places = [getattr(each, "index", None) for each in data]
    return data if None in places else sorted(data, key=lambda each: int(each.index))


def _total_tokens(answer: Any) -> int | None:
    """What the server counted; not every one does."""
    counted = getattr(getattr(answer, "usage", None), "total_tokens", None)
    return int(counted) if counted else None
