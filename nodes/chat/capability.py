"""Checking what the model can take, before anything is built for it."""

from typing import Protocol

from nodes.chat.delivery import not_sent, plan_delivery
from nodes.chat.state import ChatState
from tributary.models.catalogue import Capabilities


class CapabilityLookup(Protocol):
    async def capabilities(self, model: str) -> Capabilities:
        """What the model accepts; a documented default where nobody says. Never fails a turn."""
        ...


async def check_capabilities(state: ChatState, *, models: CapabilityLookup) -> ChatState:
    """Judges each attached file against the model and the limits of SPEC §4."""
    deliveries = plan_delivery(state["files"], await models.capabilities(state["turn"]["model"]))
    return {"deliveries": deliveries, "notSent": not_sent(deliveries)}
