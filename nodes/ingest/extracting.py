"""The local extraction of a document's graph: who and what it names, and what it says in one sentence.

Entities come from the whole text, so that a name at the start of a sentence is known by its other mentions. Two
entities of one sentence are related; the words between them name the relation where they are few.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from nodes.ingest.near_names import with_near_names
from nodes.ingest.subjects import with_subjects
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.text.entities import EntityMention, EntityType, Extraction, extract_entities
from tributary.text.entity_keys import bare_key, entity_key
from tributary.text.words import is_stopword

#: Entities kept of a document: those mentioned most, names before terms.
ENTITIES_PER_CHUNK = 10
_MIN_ENTITIES = 30
#: What a sentence that names more is: a list, which relates nothing.
_MAX_IN_SENTENCE = 6
_MAX_DESCRIPTION = 240
_OPENING = 8
_RELATED = "related to"
#: How a text that has a company's full name may call it besides.
_COMPANY_SHORT = frozenset((EntityType.NAME, EntityType.ACRONYM, EntityType.IDENTIFIER))
_ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "den", "dem", "le", "la", "les", "el", "los", "las"))
_CONJUNCTIONS = frozenset(("and", "or", "but", "und", "oder", "aber", "et", "ou", "y", "o", "e", "и", "или", "that"))
_LABEL = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,3}")
_BRACKETED = re.compile(r" ?\($")
_DEFINING = re.compile(r"^ (?:\([^()]{1,40}\) )?(?:is|are|was|were|means|refers to) ", re.IGNORECASE)


def extract(document: ParsedDocument, chunks: Sequence[ChunkDraft]) -> GraphDraft:
    """What the document says about entities. Mentions outside all chunks are left out."""
    found = extract_entities(document.text)
    acronyms = {short: name for name, short in _aliases(document.text, found.mentions).items()}
    companies = _companies(found.mentions)
    found = _resolved(found, acronyms, companies)
    aliases: dict[str, tuple[str, ...]] = {}
    for short, name in (*acronyms.items(), *companies.items()):
        aliases[name] = (*aliases.get(name, ()), short)
    placed = list(_placed(found, sorted(chunks, key=lambda chunk: chunk.start)))
    kept = _most_mentioned([mention for mention, _ in placed], max(_MIN_ENTITIES, ENTITIES_PER_CHUNK * len(chunks)))
    placed = [(mention, chunk) for mention, chunk in placed if mention.key in kept]
    draft = GraphDraft(
        entities=tuple(_entities(document.text, found, [mention for mention, _ in placed], aliases)),
        relations=tuple(_relations(document.text, found, placed)),
        mentions=tuple(MentionDraft(each.key, chunk, each.start, each.end) for each, chunk in placed),
    )
    return with_near_names(with_subjects(draft, document, chunks))


def _companies(mentions: Sequence[EntityMention]) -> dict[str, str]:
    """Companies by their names without a legal form, where the document calls them so and knows only one: `Acme` is
    `Acme Corporation`."""
    known = {mention.key for mention in mentions if mention.type in _COMPANY_SHORT}
    full: dict[str, set[str]] = {}
    for mention in mentions:
        if mention.type is EntityType.ORGANISATION and (bare := bare_key(mention.key)) in known:
            full.setdefault(bare, set()).add(mention.key)
    return {bare: next(iter(keys)) for bare, keys in full.items() if len(keys) == 1}


def _resolved(found: Extraction, acronyms: Mapping[str, str], companies: Mapping[str, str]) -> Extraction:
    """Short forms under the key of the full name: acronyms that the document explains, companies without their legal
    form, and the end of a name where the document has only one that ends so: `Tolstoy` is `Leo Tolstoy`."""
    full: dict[str, set[str]] = {}
    for mention in found.mentions:
        head, _, last = mention.key.rpartition(" ")
        if head and mention.type is EntityType.NAME:
            full.setdefault(last, set()).add(mention.key)
    names = {last: next(iter(keys)) for last, keys in full.items() if len(keys) == 1 and not last.isdigit()}
    mentions = []
    for mention in found.mentions:
        short = acronyms if mention.type is EntityType.ACRONYM else names if mention.type is EntityType.NAME else {}
        if mention.key in companies and mention.type in _COMPANY_SHORT:
            short = companies
        key = short.get(mention.key, mention.key)
        mentions.append(mention if key == mention.key else replace(mention, key=key))
    return Extraction(tuple(mentions), found.sentences)


def _placed(found: Extraction, chunks: Sequence[ChunkDraft]) -> Iterator[tuple[EntityMention, int]]:
    """Each mention with the ordinal of its chunk."""
    starts = [chunk.start for chunk in chunks]
    for mention in found.mentions:
        position = bisect_right(starts, mention.start) - 1
        if position >= 0 and mention.end <= chunks[position].end:
            yield mention, chunks[position].ordinal


def _most_mentioned(mentions: Sequence[EntityMention], limit: int) -> set[str]:
    counts = Counter(mention.key for mention in mentions)
    terms = {mention.key for mention in mentions if mention.type is EntityType.TERM}
    ranked = sorted(counts, key=lambda key: (key in terms, -counts[key], key))
    return set(ranked[:limit])


def _aliases(text: str, mentions: Sequence[EntityMention]) -> dict[str, str]:
    """Acronyms by the key of the name before their bracket: `World Health Organization (WHO)`."""
    aliases = {}
    for name, acronym in pairwise(mentions):
        bracketed = _BRACKETED.fullmatch(text[name.end : acronym.start]) is not None
        if bracketed and acronym.type is EntityType.ACRONYM and _abbreviates(acronym.name, name.name):
            aliases[name.key] = acronym.key
    return aliases


def _abbreviates(acronym: str, name: str) -> bool:
    letters = [letter for letter in acronym.rstrip("s").casefold() if letter.isalpha()]
    initials = [word[0].casefold() for word in re.findall(r"[^\W\d_]+", name)]
    position = 0
    for initial in initials:
        if position < len(letters) and initial == letters[position]:
            position += 1
    return position == len(letters)


def _entities(
    text: str, found: Extraction, mentions: Sequence[EntityMention], aliases: Mapping[str, tuple[str, ...]]
) -> Iterator[EntityDraft]:
    by_key: dict[str, list[EntityMention]] = {}
    for mention in mentions:
        by_key.setdefault(mention.key, []).append(mention)
    for key, each in by_key.items():
        # A short form that resolved to the name is no better a name for being more frequent.
        full = [mention for mention in each if entity_key(mention.name) == key] or each
        name = Counter(mention.name for mention in full).most_common(1)[0][0]
        kind = Counter(mention.type for mention in full).most_common(1)[0][0]
        yield EntityDraft(
            key=key,
            name=" ".join(name.split()),
            type=kind.value,
            description=_description(text, found, each),
            aliases=aliases.get(key, ()),
        )


def _description(text: str, found: Extraction, mentions: Sequence[EntityMention]) -> str:
    """The sentence that says what it is, where one begins with it."""
    for mention in mentions:
        start, end = found.sentences[mention.sentence]
        # At most an article and quotes stand before it.
        opens = mention.start - start < _OPENING and entity_key(text[start : mention.end]) == mention.key
        if opens and end - start <= _MAX_DESCRIPTION and _DEFINING.match(text[mention.end : end]):
            return " ".join(text[start:end].split())
    return ""


def _relations(text: str, found: Extraction, placed: Sequence[tuple[EntityMention, int]]) -> Iterator[RelationDraft]:
    for number, group in groupby(placed, key=lambda item: item[0].sentence):
        named = list(group)
        if len({mention.key for mention, _ in named}) > _MAX_IN_SENTENCE:
            continue
        start, end = found.sentences[number]
        sentence = " ".join(text[start:end].split())[:_MAX_DESCRIPTION]
        for (source, chunk), (target, _), distance in _pairs(named):
            yield RelationDraft(
                source=source.key,
                relation=_label(text[source.end : target.start]) if distance == 1 else _RELATED,
                target=target.key,
                chunk=chunk,
                description=sentence,
                weight=1.0 / distance,
            )


def _pairs(
    named: Sequence[tuple[EntityMention, int]],
) -> Iterator[tuple[tuple[EntityMention, int], tuple[EntityMention, int], int]]:
    """Each two entities of a sentence once, with how many names apart they stand: a name relates to its
    neighbours, and the first, which is mostly the subject, to all."""
    seen = set()
    for distance in range(1, len(named)):
        for first in range(len(named) - distance):
            if first > 0 and distance > 1:
                break
            pair = named[first][0].key, named[first + distance][0].key
            if pair[0] != pair[1] and frozenset(pair) not in seen:
                seen.add(frozenset(pair))
                yield named[first], named[first + distance], distance


def _label(between: str) -> str:
    """The words between two names where they may name their relation: few, and not only function words."""
    words = " ".join(between.split()).casefold()
    if not _LABEL.fullmatch(words):
        return _RELATED
    parts = words.split(" ")
    while parts and parts[-1] in _ARTICLES:
        parts.pop()
    says_something = any(len(part) > 2 and not is_stopword(part) for part in parts)
    return " ".join(parts) if says_something and parts[0] not in _CONJUNCTIONS else _RELATED
