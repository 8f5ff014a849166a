"""Names and key terms in a text, by rules for all scripts: what the local extractor calls an entity.

In scripts with case a name is a run of capitalised words, an acronym or an identifier; beside names, phrases that a
text repeats are its terms. In scripts without case, which set no words apart either, quoted titles and repeated
character sequences stand in for both.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tributary.text.capitals import CapitalUse, Sentence, Word, name_runs, read_sentence
from tributary.text.entity_keys import entity_key
from tributary.text.repeated import repeated_sequences
from tributary.text.sentences import sentence_spans
from tributary.text.words import is_stopword


class EntityType(StrEnum):
    """What the form of a name gives away."""

    ORGANISATION = "organisation"
    ACRONYM = "acronym"
    IDENTIFIER = "identifier"
    TITLE = "title"
    NAME = "name"
    TERM = "term"


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity where it stands: `text[start:end]` is its name there; `sentence` counts from 0."""

    key: str
    name: str
    type: EntityType
    start: int
    end: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """The mentions in the order of the text, none inside another, and the sentences that they are counted by."""

    mentions: tuple[EntityMention, ...]
    sentences: tuple[tuple[int, int], ...]


_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,60})[\"”“»]|[《「『〈]([^《》「」『』〈〉\n]{1,40})[》」』〉]")
_ACRONYM = re.compile(r"[A-ZА-ЯΑ-Ω][A-ZА-ЯΑ-Ω0-9&./-]*[A-ZА-ЯΑ-Ω0-9]s?")
_IDENTIFIER = re.compile(r"[A-Za-z]*[a-z][A-Z]\w*|\w+_\w+|[A-Za-z]+-?\d[\w.-]*|\w+(?:\+\+|#)")
_ORGANISATION = re.compile(
    r"\b(?:Inc|Corp|Corporation|Company|Co|Ltd|LLC|GmbH|AG|PLC|Group|University|Universität|Université|Universidad"
    r"|Institute|Foundation|Bank|Agency|Ministry|Department|Commission|Committee|Council|Association|Union"
    r"|Organi[sz]ation|Museum|School|College|Hospital|Laboratory|Electronics|Society)\b"
)
_TERM_REPETITIONS = 3
_TERM_WORDS = (2, 3)


def extract_entities(text: str) -> Extraction:
    """All mentions of all entities. Time is linear in the length of the text."""
    sentences = sentence_spans(text)
    read = [read_sentence(text, start, end) for start, end in sentences]
    use = CapitalUse(read)
    found = list(_quoted(text, sentences))
    for number, each in enumerate(read):
        for start, end in name_runs(each, use):
            name = text[start:end]
            found.append(EntityMention(entity_key(name), name, _type(name), start, end, number))
    found += _terms(text, read)
    found += [
        EntityMention(entity_key(text[start:end]), text[start:end], EntityType.TERM, start, end, number)
        for number, start, end in repeated_sequences(text, sentences)
    ]
    return Extraction(tuple(_apart(found)), tuple(sentences))


def _type(name: str) -> EntityType:
    if _ACRONYM.fullmatch(name):
        return EntityType.ACRONYM
    if _IDENTIFIER.fullmatch(name):
        return EntityType.IDENTIFIER
    return EntityType.ORGANISATION if _ORGANISATION.search(name) else EntityType.NAME


def _quoted(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[EntityMention]:
    """Titles: what stands in quotes and looks like a name rather than like speech."""
    for number, (first, behind) in enumerate(sentences):
        for match in _QUOTED.finditer(text, first, behind):
            group = 1 if match[1] else 2
            name = match[group]
            is_title = group == 2 or (name[0].isupper() and name[-1].isalnum() and len(name.split()) <= 6)
            if is_title and entity_key(name):
                yield EntityMention(
                    entity_key(name), name, EntityType.TITLE, match.start(group), match.end(group), number
                )


def _terms(text: str, sentences: Iterable[Sentence]) -> list[EntityMention]:
    """Phrases of two or three content words in lower case that the text repeats."""
    found: list[tuple[str, int, int, int]] = []
    for number, sentence in enumerate(sentences):
        for phrase in _phrases(sentence.words):
            for size in _TERM_WORDS:
                for first in range(len(phrase) - size + 1):
                    words = phrase[first : first + size]
                    rough = " ".join(word.text for word in words).rstrip("s")
                    found.append((rough, words[0].start, words[-1].end, number))
    # Keys cost a multiple of counting, and most phrases stand there once.
    roughly = Counter(rough for rough, _, _, _ in found)
    spans = [
        (entity_key(text[start:end]), start, end, number)
        for rough, start, end, number in found
        if roughly[rough] >= _TERM_REPETITIONS
    ]
    counts = Counter(key for key, _, _, _ in spans)
    return [
        EntityMention(key, text[start:end], EntityType.TERM, start, end, number)
        for key, start, end, number in spans
        if counts[key] >= _TERM_REPETITIONS
    ]


def _phrases(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Runs of content words in lower case."""
    run: list[Word] = []
    for word in words:
        is_content = word.text.islower() and len(word.text) > 2 and word.text.isalpha() and not is_stopword(word.text)
        if run and not (is_content and word.joined):
            yield run
            run = []
        if is_content:
            run.append(word)
    if run:
        yield run


def _apart(mentions: Iterable[EntityMention]) -> Iterator[EntityMention]:
    """Without those inside or across others: the longer stays, then the earlier."""
    behind = 0
    kept: list[EntityMention] = []
    for mention in sorted(mentions, key=lambda each: (each.start, -each.end)):
        if not mention.key:
            continue
        if mention.start < behind:
            if kept[-1].start < mention.start or kept[-1].end >= mention.end:
                continue
            kept.pop()
        kept.append(mention)
        behind = mention.end
    yield from kept
