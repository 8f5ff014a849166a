"""The model list of the stub's OpenRouter: entries in the shape of the real one, a few of them odd."""

from typing import Any


def entry(slug: str, modalities: list[str], context: int, longest_answer: int | None = 4096) -> dict[str, Any]:
    """A model as `GET /models` describes it."""
    return {
        "id": slug,
        "canonical_slug": slug,
        "name": slug,
        "created": 1764600000,
        "context_length": context,
        "architecture": {
            "modality": "+".join(modalities) + "->text",
            "input_modalities": modalities,
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "pricing": {"prompt": "0.0000001", "completion": "0.0000004"},
        "top_provider": {
            "context_length": context,
            "max_completion_tokens": longest_answer,
            "is_moderated": False,
        },
        "supported_parameters": ["max_tokens", "temperature"],
    }


MODELS: tuple[dict[str, Any], ...] = (
    entry("stub/all", ["text", "image", "file", "audio"], 200_000),
    entry("stub/sees", ["text", "image"], 128_000),
    entry("stub/reads", ["text", "file"], 64_000),
    entry("stub/hears", ["text", "audio"], 64_000),
    entry("stub/text", ["text"], 32_000, longest_answer=None),
)
