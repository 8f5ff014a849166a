"""What the word table of the prepared model leaves in memory."""

import random
from pathlib import Path

import psutil

from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.e5.prepared import WORDS


def _mapped() -> int:
    """Bytes of word tables that this process holds mapped."""
    return sum(each.rss for each in psutil.Process().memory_maps() if Path(each.path).name == WORDS)


def _texts(count: int) -> list[str]:
    """Words of many scripts, so that they stand all over the table."""
    made = random.Random(5)
    letters = [
        chr(code)
        for first in (0x61, 0x3B1, 0x430, 0x5D0, 0x627, 0x915, 0xE01, 0x4E00)
        for code in range(first, first + 20)
    ]
    return [" ".join("".join(made.choices(letters, k=3)) for _ in range(120)) for _ in range(count)]


async def test_texts_leave_none_of_the_word_table_in_memory(e5: E5Embedder) -> None:
    await e5.embed_documents(_texts(16))
    await e5.embed_query(_texts(1)[0])
    # It is mapped, under that name.
    assert [each for each in psutil.Process().memory_maps(grouped=False) if Path(each.path).name == WORDS]
    assert _mapped() == 0
