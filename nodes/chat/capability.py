"""Checking what the model can take, before anything is built for it."""

from typing import Protocol

from nodes.chat.delivery import not_sent, plan_delivery
from nodes.chat.state import ChatState, Turn
from tributary.models.catalogue import Capabilities


class CapabilityLookup(Protocol):
    async def capabilities(self, model: str) -> Capabilities:
        """What the model accepts; a documented default where nobody says. Never fails a turn."""
        ...


async def capabilities_of(turn: Turn, models: CapabilityLookup) -> Capabilities:
    """What the turn's model takes, as far as the bot's owner doesn't say otherwise."""
    known, said = await models.capabilities(turn["model"]), turn["saidOfModel"]
    return Capabilities(
        images=known.images if said["image"] is None else said["image"],
        pdfs=known.pdfs if said["pdf"] is None else said["pdf"],
        audio=known.audio if said["audio"] is None else said["audio"],
        context_tokens=said["contextWindow"] or known.context_tokens,
        max_output_tokens=said["maxOutput"] or known.max_output_tokens,
    )


async def check_capabilities(state: ChatState, *, models: CapabilityLookup) -> ChatState:
    """Judges each attached file against the model and the limits of SPEC §4."""
    turn = state["turn"]
    capabilities = await capabilities_of(turn, models)
    deliveries = plan_delivery(state["files"], capabilities, shrink=turn["shrinkImages"])
    return {"deliveries": deliveries, "notSent": not_sent(deliveries)}
