"""What a conversation's growth costs: bytes of checkpoints and milliseconds a turn, over many turns with attachments.

    python -m bench.growth [--turns 200]

Prints the figures of the first, the middle and the last ten turns, and their ratio. Flat means about 1.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from uuid import UUID

import psycopg
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.service import bot, knowledge_base, opened, organisation
from tributary.cli.asking import attach
from tributary.services import Services
from tributary.turns.runner import TurnRequest

WINDOW = 10
SIZE = """
SELECT (SELECT coalesce(sum(pg_column_size(c.*)), 0) FROM checkpoints c)
     + (SELECT coalesce(sum(pg_column_size(b.*)), 0) FROM checkpoint_blobs b)
     + (SELECT coalesce(sum(pg_column_size(w.*)), 0) FROM checkpoint_writes w)
"""
TEXTS = {
    "pumps.md": "# Pumps\n\nThe Marlin pump needs new bearings after 4000 hours.\n\nIts warranty ends in 36 months.\n",
    "valves.md": "# Valves\n\nThe Heron valve closes within two seconds.\n\nIt is made of brass.\n",
}


async def run(turns: int) -> tuple[list[int], list[float]]:
    """Bytes that each turn added to the checkpoint tables, and its milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in TEXTS]
        for path in paths:
            path.write_text(TEXTS[path.name])
        note = Path(folder) / "note.txt"
        note.write_text("The spare key hangs behind the door. " * 5)
        async with opened() as services:
            owner = await organisation(services)
            base = await knowledge_base(services, owner, "bench", paths)
            made = await bot(services, owner, [base])
            return await _converse(services, owner, made.id, note, turns)


async def _converse(
    services: Services, owner: UUID, bot_id: UUID, note: Path, turns: int
) -> tuple[list[int], list[float]]:
    sizes, times = [], []
    conversation: str | None = None
    before = await asyncio.to_thread(_size, services)
    for number in track(range(turns), description="turns"):
        claim = await attach(services, owner, note)
        began = time.perf_counter()
        turn = services.turns.start(
            TurnRequest(
                organisation_id=owner,
                bot_id=str(bot_id),
                message=f"Question {number}: when does the pump need new bearings, and where is the key?",
                conversation_id=conversation,
                attachments=[claim],
            )
        )
        await turn.wait()
        times.append((time.perf_counter() - began) * 1000)
        if turn.response is None:
            raise RuntimeError(f"turn {number} was not answered: {turn.problem}")
        conversation = turn.response["conversationId"]
        after = await asyncio.to_thread(_size, services)
        sizes.append(after - before)
        before = after
    return sizes, times


def _size(services: Services) -> int:
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute(SIZE).fetchone()
    assert row is not None
    return int(row[0])


def main(turns: int) -> None:
    sizes, times = asyncio.run(run(turns))
    middle = turns // 2 - WINDOW // 2
    windows = {
        f"1-{WINDOW}": slice(0, WINDOW),
        f"{middle + 1}-{middle + WINDOW}": slice(middle, middle + WINDOW),
        f"{turns - WINDOW + 1}-{turns}": slice(turns - WINDOW, turns),
    }
    table = Table("turns", "checkpoint bytes a turn", "ratio", "ms a turn", "ratio")
    first = slice(0, WINDOW)
    for name, window in windows.items():
        size, spent = median(sizes[window]), median(times[window])
        table.add_row(
            name,
            f"{size:,.0f}",
            f"{size / median(sizes[first]):.2f}",
            f"{spent:.1f}",
            f"{spent / median(times[first]):.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    main(parser.parse_args().turns)
