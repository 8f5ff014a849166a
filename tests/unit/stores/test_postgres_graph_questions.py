"""How a search of the graph asks PostgreSQL."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from stores.postgres.database import Connection
from stores.postgres.graph import PostgresGraphSource


class Noting:
    """A connection that notes what is sent and when rows are waited for."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    async def execute(self, _statement: str, _parameters: Mapping[str, Any], **_: Any) -> "Noting":
        self.noted.append("sent")
        return self

    async def fetchall(self) -> list[dict[str, Any]]:
        self.noted.append("waited")
        return [{"mentions": ""}]


async def test_questions_of_the_same_moment_are_sent_before_one_is_waited_for() -> None:
    connection = Noting()
    source = PostgresGraphSource(cast("Connection", connection), UUID(int=1), UUID(int=2))
    await asyncio.gather(source.mentioned_by(["a"]), source.mentioned_by(["b"]))
    assert connection.noted == ["sent", "sent", "waited", "waited"]
