"""Bots: a prompt, a model, the linked knowledge bases, and how their hits are weighed."""

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
class Bot:
    id: UUID
    organisation_id: UUID
    name: str
    prompt: str
    model: str
    knowledge_base_ids: tuple[UUID, ...]
    created_at: datetime
    weights: Weights = field(default_factory=Weights)
