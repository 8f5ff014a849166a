"""`tributary` with a wait in each retrieval branch, as if its store were far away.

    python -m bench.delaying MILLISECONDS serve …

A branch asks its store for what it is there for once in each knowledge base; that call waits first, and holds no
connection meanwhile. All else is the product as it is. The server's `/metrics` say how often each branch's call waited:
what a node takes says nothing of its own wait, since branches wait for the embedding and for one another.
"""

import asyncio
import sys
from functools import wraps
from typing import Any

from prometheus_client import Counter

from stores.graph_engines import GraphEngines
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.search import PostgresSearch
from tributary.cli.main import main

#: By the branch's node, the call of its store. The texts are judged once for the text and the graph branch together.
CALLS: dict[str, tuple[type, str]] = {
    "search_text": (PostgresSearch, "judge"),
    "search_images": (PostgresSearch, "similar_images"),
    "read_map": (PostgresKnowledge, "map"),
    "search_graph": (GraphEngines, "search"),
}
WAITS = Counter("bench_waits", "Calls of a branch to its store that waited", ("node",))


def delay(node: str, owner: type, name: str, seconds: float) -> None:
    """From now on the method waits before it does what it did."""
    prompt = getattr(owner, name)

    @wraps(prompt)
    async def late(*arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(seconds)
        WAITS.labels(node).inc()
        return await prompt(*arguments, **named)

    setattr(owner, name, late)


if __name__ == "__main__":
    seconds = float(sys.argv.pop(1)) / 1000
    for node, (owner, name) in CALLS.items():
        delay(node, owner, name, seconds)
    main()
