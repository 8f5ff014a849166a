"""`tributary` with a wait in each retrieval branch, as if its store were far away.

    python -m bench.delaying MILLISECONDS serve …

A branch asks its store for what it is there for once in each knowledge base; that call waits first, and holds no
connection meanwhile. All else is the product as it is.
"""

import asyncio
import sys
from functools import wraps
from typing import Any

from stores.graph_engines import GraphEngines
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.search import PostgresSearch
from tributary.cli.main import main

#: By the branch's node, the call of its store.
CALLS: dict[str, tuple[type, str]] = {
    "search_text": (PostgresSearch, "search"),
    "search_images": (PostgresSearch, "similar_images"),
    "read_map": (PostgresKnowledge, "map"),
    "search_graph": (GraphEngines, "search"),
}


def delay(owner: type, name: str, seconds: float) -> None:
    """From now on the method waits before it does what it did."""
    prompt = getattr(owner, name)

    @wraps(prompt)
    async def late(*arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(seconds)
        return await prompt(*arguments, **named)

    setattr(owner, name, late)


if __name__ == "__main__":
    seconds = float(sys.argv.pop(1)) / 1000
    for owner, name in CALLS.values():
        delay(owner, name, seconds)
    main()
