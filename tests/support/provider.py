"""A stub of the model providers that keeps to their protocols: OpenAI, OpenRouter and the Gemini API over HTTP.

It refuses what the real ones refuse, in their error shapes; records every request as it came; and fails on command:

    with run_provider() as provider:
        settings = provider.settings(tmp_path)
        provider.answer = "Paris is the capital [1]."
        provider.next_chat(Refuse(429, retry_after="0"), None)   # first a refusal, then a normal answer
        ...
        assert provider.chats[-1].body["messages"][0]["role"] == "system"
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from tests.support.provider_routes import Routes
from tests.support.provider_state import KEY, Provider, Recorded

__all__ = ["KEY", "Provider", "Recorded", "run_provider"]


@contextmanager
def run_provider() -> Iterator[Provider]:
    """A stub on a free port of 127.0.0.1, in a thread of its own, until the block ends."""
    provider = Provider()
    app = Starlette(routes=Routes(provider).all())
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, log_level="critical", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    sockets = [config.bind_socket()]
    provider.base_url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, name="stub-provider", daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.closing = True
        server.should_exit = True
        server.force_exit = True
        thread.join(timeout=10)
        sockets[0].close()
