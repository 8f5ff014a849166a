"""OpenRouter's model list, read with tolerance and kept on disk."""

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tributary.domain.attachments import Modality
from tributary.models.pricing import Price, listed_price

logger = logging.getLogger(__name__)

_LEAST_CONTEXT = 4_096


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes beside text, its window, and its longest answer (None: not said), in its own tokens."""

    images: bool
    pdfs: bool
    audio: bool
    context_tokens: int
    max_output_tokens: int | None = None

    def accepts(self, modality: Modality) -> bool:
        """Whether the model takes files of this kind; text is always inlined."""
        return {
            Modality.IMAGE: self.images,
            Modality.PDF: self.pdfs,
            Modality.AUDIO: self.audio,
            Modality.TEXT: True,
        }[modality]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A model list as it was at `fetched_at` (seconds since the epoch) at `url`."""

    url: str
    fetched_at: float
    models: Mapping[str, Capabilities]
    #: Of a token read, a token written and a call, in US dollars as text; left out where the list does not say.
    prices: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @classmethod
    def parse(cls, body: Any, *, url: str, fetched_at: float) -> "Catalogue":
        """The entries that make sense, by id and by canonical slug.

        Raises:
            ValueError: not one of them does.
        """
        data = body.get("data") if isinstance(body, dict) else None
        models: dict[str, Capabilities] = {}
        prices: dict[str, tuple[str, str, str]] = {}
        for entry in data if isinstance(data, list) else ():
            capabilities = _capabilities(entry)
            if capabilities is not None:
                models.setdefault(str(entry.get("canonical_slug") or entry["id"]), capabilities)
                models[entry["id"]] = capabilities
                if (price := listed_price(entry.get("pricing"))) is not None:
                    prices[entry["id"]] = price.as_text()
        if not models:
            raise ValueError("a model list without a model")
        return cls(url, fetched_at, models, prices)

    def find(self, slug: str) -> Capabilities | None:
        """The model of that slug; a variant that is not listed (`:nitro`) has what its model has."""
        return self.models.get(slug) or self.models.get(slug.partition(":")[0])

    def price(self, slug: str) -> Price | None:
        """What a call of that model costs; a variant that is not listed is taken to cost what its model does."""
        found = self.prices.get(slug) or self.prices.get(slug.partition(":")[0])
        return Price.of_text(*found) if found else None


def _capabilities(entry: Any) -> Capabilities | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    architecture = entry.get("architecture")
    modalities = _modalities(architecture) if isinstance(architecture, dict) else frozenset[str]()
    provider = entry.get("top_provider")
    top: dict[str, Any] = provider if isinstance(provider, dict) else {}
    return Capabilities(
        images="image" in modalities,
        pdfs="file" in modalities,
        audio="audio" in modalities,
        context_tokens=_count(entry.get("context_length")) or _count(top.get("context_length")) or _LEAST_CONTEXT,
        max_output_tokens=_count(top.get("max_completion_tokens")),
    )


def _modalities(architecture: Mapping[str, Any]) -> frozenset[str]:
    """From `input_modalities` or, in older entries, the left side of `text+image->text`."""
    listed = architecture.get("input_modalities")
    if isinstance(listed, list):
        return frozenset(str(item).lower() for item in listed)
    return frozenset(str(architecture.get("modality") or "").partition("->")[0].lower().split("+"))


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(float(value))
    except (ValueError, OverflowError):
        return None
    return number if number > 0 else None


def read_catalogue(path: Path, url: str) -> Catalogue | None:
    """The list that was kept, if there is one of this address and it can be read."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        models = {str(slug): Capabilities(**fields) for slug, fields in stored["models"].items()}
        prices = {str(slug): (str(a), str(b), str(c)) for slug, (a, b, c) in stored["prices"].items()}
        kept = Catalogue(str(stored["url"]), float(stored["fetched_at"]), models, prices)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        logger.warning("the kept model list in %s can't be read and is left aside", path.name)
        return None
    return kept if kept.url == url else None


def write_catalogue(path: Path, catalogue: Catalogue) -> None:
    """Keeps the list; all of it or, where the disk fails, none: the list in memory is still good."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=path.name, delete=False
        ) as file:
            json.dump(asdict(catalogue), file)
        os.replace(file.name, path)  # noqa: PTH105 - of a name, not a Path
    except OSError as error:
        logger.warning("the model list could not be kept: %s", error.strerror)
