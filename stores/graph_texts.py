"""Lists that engines give as one text each, fields in turn with blanks between: a driver takes longer over a row, or an
id, than an engine does to find it."""

from itertools import repeat

from stores.bridging import Mention, SeedMention
from stores.graph_search import Stated
from stores.walking import Side


def read_sides(text: str, limit: int | None = None) -> list[Side]:
    """Relation, entity at its other end, and weight; at most `limit` of them."""
    fields = text.split() if limit is None else text.split(maxsplit=3 * limit)[: 3 * limit]
    return list(map(Side, fields[0::3], fields[1::3], map(float, fields[2::3])))


def read_mentions(entity_id: str, text: str, limit: int | None = None) -> list[Mention]:
    """1 where a passage is about the entity, those first; the passage; its document. One that comes again is one."""
    fields = text.split() if limit is None else text.split(maxsplit=3 * limit)[: 3 * limit]
    chunk_ids, subjects = fields[1::3], map("1".__eq__, fields[0::3])
    mentions = list(map(Mention, repeat(entity_id), chunk_ids, fields[2::3], subjects))
    if len(set(chunk_ids)) == len(chunk_ids):
        return mentions
    first: dict[str, Mention] = {}
    for each in mentions:
        first.setdefault(each.chunk_id, each)
    return list(first.values())


def read_seed_mentions(text: str) -> list[SeedMention]:
    """Passage, entity, how often that is mentioned, where the name starts, and 1 where the passage is about it."""
    fields = text.split()
    counts, starts, subjects = map(int, fields[2::5]), map(int, fields[3::5]), map("1".__eq__, fields[4::5])
    return list(map(SeedMention, fields[0::5], fields[1::5], counts, starts, subjects))


def read_stated(text: str) -> list[Stated]:
    """Passage, its document, and its score."""
    fields = text.split()
    return list(map(Stated, fields[0::3], fields[1::3], map(float, fields[2::3])))
