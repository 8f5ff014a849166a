"""Where passages that another search found lead: by the names in them to the passages about what they name. Shared
by all graph stores.

A question of several steps is answered by passages that its own words don't find: the first passage names what the
second is about. So a passage supports what its names lead to, by how well it answers itself and by how much of the
question stands around the name.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stores.protocols.graph import SeedPassage
from tributary.text.sentences import sentence_spans
from tributary.text.words import STEM_MARK, keys, terms

#: What a passage counts that only names an entity too, beside one that is about it.
NAMED_TOO = 0.5
#: An entity with more mentions than this says nothing about two passages that name it.
RARE = 30
#: A sentence that names more entities than this is a list.
LIST = 6
#: Entities that lead on, the strongest first.
MAX_BRIDGES = 100


class SeedMention(NamedTuple):
    """A name in a seeding passage, from `start` on in its document; `mentions` says how common the entity is in the
    knowledge base. `subject`: the passage is about it."""

    chunk_id: str
    entity_id: str
    mentions: int
    start: int
    subject: bool


class Mention(NamedTuple):
    """A passage that mentions an entity, once however often it does. `subject`: it is about the entity."""

    entity_id: str
    chunk_id: str
    document_id: str
    subject: bool


@dataclass(frozen=True, slots=True)
class Bridge:
    """An entity that seeding passages name. `strength` in (0, 1]: how much they speak of what the question asks;
    `leads`: how strongly each of them leads there, without those that are about it."""

    mentions: int
    strength: float
    leads: Mapping[str, float]

    def strength_from_others(self, chunk_id: str) -> float:
        """A passage does not support itself."""
        if chunk_id not in self.leads:
            return max(self.leads.values(), default=0.0)
        return max((strength for seed, strength in self.leads.items() if seed != chunk_id), default=0.0)


def find_bridges(query: str, seeds: Iterable[SeedPassage], mentions: Sequence[SeedMention]) -> dict[str, Bridge]:
    """The entities that lead on from the seeds, the strongest first."""
    asked = _Asked(query)
    readings = {str(seed.chunk_id): _Reading(asked, seed) for seed in seeds}
    # All are noted before one is read: a sentence that names many is a list for each of them.
    sentences = [readings[each.chunk_id].note(each) for each in mentions]
    own = {(each.chunk_id, each.entity_id) for each in mentions if each.subject}
    counts: dict[str, int] = {}
    strengths: dict[str, dict[str, float]] = {}
    for each, sentence in zip(mentions, sentences, strict=True):
        counts[each.entity_id] = each.mentions
        known = strengths.setdefault(each.entity_id, {})
        known[each.chunk_id] = max(known.get(each.chunk_id, 0.0), readings[each.chunk_id].strength(sentence))
    bridges = {}
    for entity, known in strengths.items():
        leads = {chunk_id: strength for chunk_id, strength in known.items() if (chunk_id, entity) not in own}
        bridges[entity] = Bridge(counts[entity], max(known.values()), leads)
    ordered = sorted(bridges.items(), key=lambda item: (-item[1].strength, item[0]))
    return {entity: bridge for entity, bridge in ordered[:MAX_BRIDGES] if bridge.strength > 0}


def widen(bridges: Mapping[str, Bridge], namesakes: Iterable[tuple[str, str]]) -> dict[str, Bridge]:
    """The bridges with entities that share a name with them: who calls something so may mean either."""
    widened = dict(bridges)
    for entity, namesake in namesakes:
        bridge, known = bridges[entity], widened.get(namesake)
        if known is None or (namesake not in bridges and bridge.strength > known.strength):
            widened[namesake] = bridge
    return widened


class _Reading:
    """A seeding passage, read for what the question asks."""

    def __init__(self, asked: "_Asked", seed: SeedPassage) -> None:
        self._seed = seed
        self._asked = asked
        self._above = asked.said_in(seed.above)
        self._sentences = sentence_spans(seed.text)
        self._starts = [seed.start + start for start, _ in self._sentences]
        self._named: dict[int, set[str]] = {}
        self._strengths: dict[int, float] = {}

    def note(self, mention: SeedMention) -> int:
        """Takes in a name, to know which sentences are lists; the number of the name's sentence, or -1."""
        number = bisect_right(self._starts, mention.start) - 1
        named = self._named.get(number)
        if named is None:
            named = self._named[number] = set()
        named.add(mention.entity_id)
        return number

    def strength(self, number: int) -> float:
        """How strongly a name in this sentence leads on. Half of the question's words around it count far more than
        half of all: the other half asks about what comes next. A list speaks little of each name."""
        known = self._strengths.get(number)
        if known is None:
            known = self._strengths[number] = self._read(number)
        return known

    def _read(self, number: int) -> float:
        if number < 0 or not self._asked.keys:
            return self._seed.weight
        start, end = self._sentences[number]
        said = self._above | self._asked.said_in(self._seed.text[start:end])
        share = len(said) / len(self._asked.keys)
        return self._seed.weight * math.sqrt(share) * min(1.0, LIST / len(self._named[number]))


class _Asked:
    """The keys of a question."""

    def __init__(self, query: str) -> None:
        self.keys = frozenset(keys(query))
        self._stems_alone = all(key[0] == STEM_MARK for key in self.keys)

    def said_in(self, text: str) -> frozenset[str]:
        """Those that a text has as well."""
        # Terms hold all stems that keys hold, and are found sooner.
        return self.keys.intersection(terms(text) if self._stems_alone else keys(text))


def most_by_name(bridge: Bridge) -> float:
    """The most that `led_to` says for a passage that only names the bridge's entity too."""
    if bridge.mentions > RARE:
        return 0.0
    return NAMED_TOO * max(bridge.leads.values(), default=0.0) / (1.0 + math.log(max(1, bridge.mentions)))


def led_to(bridges: Mapping[str, Bridge], mentions: Iterable[Mention]) -> dict[str, float]:
    """What the bridges say for each passage, in (0, 1]: the strongest of them counts. Where many passages are about an
    entity, or name it, each of them is meant less."""
    mentions = [each for each in mentions if each.entity_id in bridges]
    subjects = Counter(entity for entity, _, _, subject in mentions if subject)
    about = {entity: 1.0 / (1.0 + math.log(among)) for entity, among in subjects.items()}
    naming = {
        entity: NAMED_TOO / (1.0 + math.log(max(1, bridge.mentions)))
        for entity, bridge in bridges.items()
        if bridge.mentions <= RARE
    }
    strongest = {entity: bridge.strength_from_others("") for entity, bridge in bridges.items()}
    evidence: dict[str, float] = {}
    for entity, chunk_id, _, subject in mentions:
        share = about[entity] if subject else naming.get(entity, 0.0)
        leading = bridges[entity]
        strength = share * (leading.strength_from_others(chunk_id) if chunk_id in leading.leads else strongest[entity])
        if strength > evidence.get(chunk_id, 0.0):
            evidence[chunk_id] = strength
    return evidence
