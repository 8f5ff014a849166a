"""The key phrases of a text: its topics, in its own words.

Candidates are the runs of one to three content words within a sentence. Each counts by how often it stands alone,
that is beyond the longer candidates it is part of (the C-value of term extraction), times how early it comes. In
scripts without spaces repeated strings take the place of words.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tributary.text.document_types import document_type
from tributary.text.samples import sample_text
from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC
from tributary.text.sentences import sentence_spans
from tributary.text.strings import repeated_strings
from tributary.text.summaries import summarise
from tributary.text.wordlists import word_set
from tributary.text.words import TermSpan, term_spans

# What a document is about is asked for here, all three together.
__all__ = ["document_type", "key_phrases", "summarise"]

#: More than this is sampled, so that the time is bounded: about a tenth of a second.
_READ = 200_000
_LONGEST_PHRASE = 3
_WHITE = re.compile(r"[ \u00a0]|\s*\n\s*|-")
_WORD = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(f"[{IDEOGRAPHIC}{CONTINUOUS}]")
#: The advantage of a name, or a German noun, over a common word that is written as often.
_NAME_BONUS = 1.3
#: By number of words: a longer phrase says more.
_WORTH = (0.0, 1.0, 1.6, 1.8)
#: Of what stands there once and is no name, whatever its length: runs of chance words would win otherwise.
_WORTH_ONCE = 1.2
#: From this share of characters without spaces, repeated strings come before words.
_MOSTLY_UNSPACED = 0.3
# Words too weak for a topic, of which some mean something in another language and so are no stop words.
_WEAK = word_set(
    """die war waren hat man hatte haben nachdem bald dort kamen sind bin hay sin con par pour sans
    use uses used using example following many several various include includes including made make makes new first
    second one two three however well within often like way ways need needs want get gets see given provide provides
    provided based may via per etc https http www com org html""",
)


@dataclass(slots=True)
class _Candidate:
    key: tuple[str, ...]
    first: int
    count: int = 0
    #: Standing within longer candidates, and how many different ones.
    inside: int = 0
    hosts: int = 0
    surfaces: dict[str, int] = field(default_factory=dict)
    #: Written with a capital where no sentence begins.
    named: bool = False


def key_phrases(text: str, limit: int) -> list[str]:
    """At most `limit` phrases as the text writes them, best first; none contains another. Bounded in time."""
    if limit < 1:
        return []
    read = sample_text(text, _READ)
    unspaced = _UNSPACED.findall(read)
    strings = repeated_strings(read, limit) if unspaced else []
    if len(unspaced) > _MOSTLY_UNSPACED * len(read):
        return [*strings, *islice(_phrases(read), limit - len(strings))]
    phrases = list(islice(_phrases(read), limit))
    return [*phrases, *strings[: limit - len(phrases)]]


def _phrases(text: str) -> Iterator[str]:
    candidates = _candidates(text).values()
    length = max(1, len(text))
    yield from _distinct(sorted(candidates, key=lambda each: (-_score(each, length), each.first)))


def _candidates(text: str) -> dict[tuple[str, ...], _Candidate]:
    candidates: dict[tuple[str, ...], _Candidate] = {}
    for initial, run in _runs(text):
        for start, end in _slices(len(run), _LONGEST_PHRASE):
            part = run[start:end]
            key = tuple(span.terms[-1] for span in part)
            candidate = candidates.get(key)
            if candidate is None:
                candidate = candidates[key] = _Candidate(key, part[0].start)
            candidate.count += 1
            surface = " ".join(text[part[0].start : part[-1].end].split())
            candidate.surfaces[surface] = candidate.surfaces.get(surface, 0) + 1
            candidate.named |= text[part[0].start].isupper() and not (initial and start == 0)
    _count_hosts(candidates)
    return candidates


def _runs(text: str) -> Iterator[tuple[bool, Sequence[TermSpan]]]:
    """Content words that follow each other within a sentence, nothing but a space or hyphen between them; with
    each, whether it begins the sentence."""
    spans = iter(term_spans(text))
    span = next(spans, None)
    for begin, end in sentence_spans(text):
        run: list[TermSpan] = []
        while span is not None and span.start < end:
            if run and not _WHITE.fullmatch(text, run[-1].end, span.start):
                yield run[0].start == begin, run
                run = []
            if not _UNSPACED.match(text, span.start):
                run.append(span)
            span = next(spans, None)
        if run:
            yield run[0].start == begin, run


def _slices(length: int, longest: int) -> Iterator[tuple[int, int]]:
    for size in range(1, min(longest, length) + 1):
        for start in range(length - size + 1):
            yield start, start + size


def _count_hosts(candidates: dict[tuple[str, ...], _Candidate]) -> None:
    inside: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for candidate in candidates.values():
        if candidate.count > 1:
            for start, end in _slices(len(candidate.key), len(candidate.key) - 1):
                inside[candidate.key[start:end]].append(candidate.count)
    for key, counts in inside.items():
        candidates[key].inside = sum(counts)
        candidates[key].hosts = len(counts)


def _score(candidate: _Candidate, length: int) -> float:
    alone = candidate.count - (candidate.inside / candidate.hosts if candidate.hosts else 0.0)
    early = 1.0 + 1.0 / (1.0 + 10.0 * candidate.first / length)
    worth = _WORTH[len(candidate.key)] if candidate.count > 1 or candidate.named else _WORTH_ONCE
    return worth * math.log1p(alone) * early * (_NAME_BONUS if candidate.named else 1.0)


def _is_phrase(surface: str) -> bool:
    """Letters at both ends, long enough to mean something or an acronym, and no weak word first or last."""
    letters = len(_WORD.findall(surface))
    if letters < 2 or surface[0].isdigit() or surface[-1].isdigit():
        return False
    ends = surface.casefold().replace("-", " ").split()
    return (letters > 3 or surface.isupper()) and not _WEAK & {ends[0], ends[-1]}


def _distinct(ranked: Iterable[_Candidate]) -> Iterator[str]:
    taken: list[set[str]] = []
    for candidate in ranked:
        surface = max(candidate.surfaces, key=candidate.surfaces.__getitem__)
        stems = set(candidate.key)
        if not _is_phrase(surface) or any(stems <= other or other <= stems for other in taken):
            continue
        taken.append(stems)
        yield surface
