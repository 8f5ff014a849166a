"""Bots: a prompt, a model and what it takes, the linked knowledge bases, and how their hits are weighed."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of a hit's final score; each term they weigh lies in [0, 1]."""

    vector: float = 0.60
    text: float = 0.25
    importance: float = 0.15


@dataclass(frozen=True, slots=True)
class CapabilityOverrides:
    """What a bot's owner says of its model, where lists and defaults say nothing or something else; None leaves it to
    them. `context_window` and `max_output` are in tokens; answers are limited to `max_output`."""

    image: bool | None = None
    pdf: bool | None = None
    audio: bool | None = None
    context_window: int | None = None
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class LinkedBase:
    """A knowledge base as its bot's turns need it; `embedding` is the model that its texts were embedded by."""

    id: UUID
    name: str
    embedding: str


@dataclass(frozen=True, slots=True)
class Bot:
    id: UUID
    organisation_id: UUID
    name: str
    prompt: str
    model: str
    knowledge_bases: tuple[LinkedBase, ...]
    created_at: datetime
    weights: Weights = field(default_factory=Weights)
    capabilities: CapabilityOverrides = field(default_factory=CapabilityOverrides)
    #: Whether pictures over the limits of a model call are made smaller instead of being left out.
    shrink_images: bool = False

    @property
    def knowledge_base_ids(self) -> tuple[UUID, ...]:
        return tuple(base.id for base in self.knowledge_bases)
