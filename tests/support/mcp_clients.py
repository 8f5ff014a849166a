"""The official MCP client, talking to a server of ours with the key of another client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

#: The newest protocol, and the one before it, which begins with a handshake.
MODES = ("auto", "legacy")


@asynccontextmanager
async def connect(client: httpx.Client, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": client.headers["Authorization"]}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{client.base_url}/mcp", http_client=http), mode=mode) as connected,
    ):
        yield connected
