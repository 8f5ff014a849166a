"""The part of the composition root that answers conversations which their clients keep."""

from dataclasses import replace

from graphs.chat import build_chat_graph
from graphs.ports import ChatPorts
from stores.blobs.disk import DiskBlobs
from stores.protocols.usage import UsageLedger
from tributary.completions import Completions
from tributary.files.sandbox import Sandbox
from tributary.settings import Settings
from tributary.spending import Spending
from tributary.turns.given import GivenConversations, Unqueued
from tributary.turns.runner import CheckpointedGraph, Turns
from tributary.turns.stops import Stops
from tributary.uploads import Uploads


def open_completions(
    settings: Settings, ports: ChatPorts, ledger: UsageLedger, sandbox: Sandbox, stops: Stops, spending: Spending
) -> Completions:
    """The chat graph over conversations that are given with each request. It leaves no checkpoint, and files stay on
    this disk: they go with their turn."""
    given = GivenConversations(ledger)
    graph = build_chat_graph(replace(ports, conversations=given)).compile()
    blobs = DiskBlobs(settings.files)
    return Completions(
        turns=Turns(
            graph=CheckpointedGraph(graph, None),
            conversations=given,
            queue=Unqueued(),
            stops=stops,
            queue_timeout=settings.queue_timeout,
            meter=spending.turn_meter,
        ),
        conversations=given,
        bots=ports.bots,
        uploads=Uploads(attachments=ports.attachments, blobs=blobs, sandbox=sandbox, incoming=blobs.incoming),
    )
