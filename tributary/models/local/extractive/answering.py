"""From the messages of a call to the text of a reply, in the two halves around the embedder."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from tributary.models.local.extractive import reply
from tributary.models.local.extractive.candidates import Candidate, quotable, read_candidates
from tributary.models.local.extractive.meaning import Meaning, is_supported
from tributary.models.local.extractive.prompt import Passage, Prompt, read_prompt
from tributary.models.local.extractive.question import FRAME_WEIGHT, Question, read_question
from tributary.models.local.extractive.scoring import Lexical, fullness, score_lexically
from tributary.models.local.extractive.selection import select
from tributary.text.summaries import summarise

#: Characters of a summary, all passages together; passages that are summarised at most.
_OVERVIEW_CHARACTERS = 900
_OVERVIEW_PASSAGES = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """All that words alone tell."""

    prompt: Prompt
    question: Question
    passages: tuple[Passage, ...]
    candidates: list[Candidate]
    lexical: Lexical


def draft(messages: Sequence[BaseMessage]) -> Draft:
    """Reads a call and scores its sentences by words."""
    prompt = read_prompt(messages)
    question = read_question(prompt.question, prompt.earlier)
    passages = (*prompt.sources, *prompt.files)
    candidates = read_candidates(passages, question)
    return Draft(prompt, question, passages, candidates, score_lexically(question, candidates, passages))


def conclude(drafted: Draft, meaning: Meaning | None) -> str:
    """The reply. `meaning` is None where nothing was compared."""
    if not drafted.candidates:
        return reply.refusal(drafted.prompt)
    if _asks_for_overview(drafted):
        return _overview(drafted)
    if not is_supported(drafted.lexical, meaning):
        return reply.refusal(drafted.prompt)
    scores = drafted.lexical.scores
    if meaning is not None:
        scores = meaning.raise_scores(scores, fullness(drafted.candidates))
    return reply.answer(drafted.prompt, select(drafted.candidates, scores), drafted.passages)


def _asks_for_overview(drafted: Draft) -> bool:
    """Whether there is nothing to look for, or a summary is wanted of the files that came with the message."""
    question = drafted.question
    if not question.own and not question.earlier:
        return True
    topical = any(weight > FRAME_WEIGHT for weight in question.own.values())
    return question.overview and (bool(drafted.prompt.files) or not topical)


def _overview(drafted: Draft) -> str:
    passages = (drafted.prompt.files or drafted.prompt.sources)[:_OVERVIEW_PASSAGES]
    room = _OVERVIEW_CHARACTERS // len(passages)
    summaries = [(passage, quotable(summarise(passage.text, room))) for passage in passages]
    return reply.overview(drafted.prompt, [(passage, summary) for passage, summary in summaries if summary])
