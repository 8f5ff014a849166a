"""Extractive summaries: the sentences of a text that say most of what it says, in its own order."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p

from tributary.text.lines import is_code
from tributary.text.samples import sample_items, sample_text
from tributary.text.scripts import IDEOGRAPHIC
from tributary.text.sentences import sentence_spans
from tributary.text.words import keys

#: Characters and sentences that are looked at, so that the time is bounded: about a quarter of a second.
_READ = 400_000
_SENTENCES = 500
#: Lengths of what can stand in a summary by itself, in characters; an ideograph counts for three.
_SHORTEST, _LONGEST = 30, 420
#: What the place counts beside the content: the first sentence twice as much as a middle one.
_LEAD = 1.0
#: What is left of a word's worth once the summary has it.
_REPEATED = 0.25
_MARKUP = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•◦▪▫‣●○–—]\s+|\(?\d{1,3}[.)]\s+)?|[*_`]{2,}|`")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_END = re.compile(r"[.!?…。！？؟۔।][\"'”’»)\]」』）]*$")
_TABLE = re.compile(r"\||\t")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHIC}]")
_UNSPACED_END = re.compile(f"[{IDEOGRAPHIC}。！？」』）]$")


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    keys: frozenset[str]


def summarise(text: str, limit_chars: int) -> str:
    """At most `limit_chars` characters; whole sentences where one fits, else the beginning of the best one.

    "" for a text without a visible character. Bounded in time whatever the length.
    """
    sentences = _sentences(sample_text(text, _READ))
    if not sentences or limit_chars < 1:
        return ""
    chosen = _choose(sentences, limit_chars)
    if not chosen:
        return shorten(sentences[0].text, limit_chars)
    return join_sentences(sentence.text for sentence in sorted(chosen, key=lambda each: each.place))


def plain(sentence: str) -> str:
    """A sentence on one line, without Markdown's list markers, heading marks, emphasis, link targets and escapes."""
    return " ".join(_ESCAPE.sub(r"\1", _MARKUP.sub("", _LINK.sub(r"\1", sentence))).split())


def shorten(text: str, limit: int) -> str:
    """The beginning of a text, cut at a word where one ends in its second half; an ellipsis marks the cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ", len(cut) // 2)
    return (cut[:space] if space > 0 else cut).rstrip() + "…" if limit > 1 else "…"[:limit]


def join_sentences(sentences: Iterable[str]) -> str:
    """Sentences in a row, with the space between them that their script writes."""
    joined = ""
    for sentence in sentences:
        joined += ("" if not joined or _UNSPACED_END.search(joined) else " ") + sentence
    return joined


def _sentences(text: str) -> list[_Sentence]:
    """What can be quoted: prose if there is any, else whatever there is."""
    spans = [(start, end) for start, end in sentence_spans(text) if text[start:end].strip("-=_*~+|: `#")]
    prose = [(start, end) for start, end in spans if _is_prose(text[start:end])]
    read = sample_items(prose or spans, _SENTENCES)
    sentences = [(plain(text[start:end]), place) for place, (start, end) in enumerate(read)]
    return [_Sentence(place, sentence, frozenset(keys(sentence))) for sentence, place in sentences if sentence]


def _is_prose(sentence: str) -> bool:
    weight = len(sentence) + 2 * len(_IDEOGRAPH.findall(sentence))
    if not _SHORTEST <= weight <= _LONGEST or _TABLE.search(sentence) or sentence[0] == "#" or is_code(sentence):
        return False
    return _END.search(sentence) is not None or weight > 2 * _SHORTEST


def _choose(sentences: Sequence[_Sentence], limit: int) -> list[_Sentence]:
    """Greedily the sentence that adds most for its length, until no other fits."""
    counts = Counter(key for sentence in sentences for key in sentence.keys)
    worth = {key: log1p(count) for key, count in counts.items()}
    left = list(sentences)
    chosen: list[_Sentence] = []
    while left:
        left = [sentence for sentence in left if len(sentence.text) < limit]
        if not left:
            break
        best = max(left, key=lambda sentence: _gain(sentence, worth))
        chosen.append(best)
        left.remove(best)
        limit -= len(best.text) + 1
        for key in best.keys:
            worth[key] *= _REPEATED
    return chosen


def _gain(sentence: _Sentence, worth: dict[str, float]) -> float:
    # The constant keeps short sentences of a few frequent words from winning.
    content = sum(worth[key] for key in sentence.keys) / (6 + len(sentence.keys))
    return content * (1 + _LEAD / (1 + sentence.place))
