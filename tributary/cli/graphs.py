"""`tributary graph`: telling of a knowledge graph, drawing it, moving it."""

import asyncio
from pathlib import Path
from uuid import UUID

import typer

from stores.protocols.graph_engines import Engine, GraphBrowser, GraphCounts, GraphEdge, GraphNode
from tributary.cli.options import console
from tributary.domain.errors import InvalidRequest, NotFound
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import KnowledgeBase
from tributary.drawing import draw
from tributary.services import Services, open_services
from tributary.settings import Settings

PAGE = 200


async def graph(
    settings: Settings, *, organisation: str, name: str, html: Path | None, to: str | None, nodes: int
) -> None:
    """Moves first, then draws, then tells."""
    if to is not None and to not in set(Engine):
        raise InvalidRequest(f"The engine is {' or '.join(Engine)}, not {to}")
    async with open_services(settings) as services:
        owner = await services.identity.organisation_named(organisation)
        base = await _base(services, owner.id, name)
        if to is not None:
            await _move(services, base, Engine(to))
        if html is not None:
            await _draw(services.graph, base, html, nodes)
        engine, counts = await services.graphs.size(base.organisation_id, base.id)
    typer.echo(f"{base.name}: {_told(counts)}, in {engine}")


async def _base(services: Services, organisation_id: UUID, name: str) -> KnowledgeBase:
    """By name, else by id."""
    named = await services.knowledge.knowledge_base_named(organisation_id, name)
    if named is not None:
        return named
    try:
        identifier = parse_id("knowledge base", name)
    except NotFound as error:
        raise NotFound("Knowledge base", name) from error
    [found] = await services.knowledge.knowledge_bases(organisation_id, [identifier])
    return found


async def _move(services: Services, base: KnowledgeBase, to: Engine) -> None:
    with console.status(f"Moving the graph of {base.name} to {to}") as status:
        counts = await services.graphs.move(
            base.organisation_id,
            base.id,
            to,
            tell=lambda done: status.update(f"Moving the graph of {base.name} to {to}: {done} documents"),
        )
    console.print(f"Moved and counted on both sides: {_told(counts)}")


async def _draw(browser: GraphBrowser, base: KnowledgeBase, path: Path, limit: int) -> None:
    with console.status(f"Drawing the graph of {base.name}"):
        nodes, edges = await _read(browser, base, limit)
        page = await asyncio.to_thread(draw, base.name, nodes, edges)
        await asyncio.to_thread(path.write_text, page, encoding="utf-8")
    console.print(f"Drew {len(nodes)} entities and {len(edges)} connections: {path}", soft_wrap=True)


async def _read(browser: GraphBrowser, base: KnowledgeBase, limit: int) -> tuple[list[GraphNode], list[GraphEdge]]:
    """The most mentioned entities and all relations among them."""
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    cursor = None
    while len(nodes) < limit:
        page = await browser.browse(base.organisation_id, base.id, cursor=cursor, limit=min(PAGE, limit - len(nodes)))
        nodes += page.nodes
        edges += page.edges
        cursor = page.next_cursor
        if cursor is None:
            break
    return nodes, edges


def _told(counts: GraphCounts) -> str:
    return (
        f"{counts.entities} entities, {counts.relations} relations, {counts.mentions} mentions "
        f"from {counts.documents} documents"
    )
