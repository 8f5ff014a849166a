"""What every text embedder of this process promises, on the real models."""

import asyncio
import threading

import numpy as np
import pytest

from tributary.domain.errors import DependencyUnavailable
from tributary.models.local.minilm.embedder import MiniLmEmbedder
from tributary.models.local.text_embedder import LocalTextEmbedder
from tributary.models.protocols import TextEmbedder

PASSAGES = [
    "The lighthouse on the northern cape was built in 1871 and is painted in red and white bands.",
    "To reset the router, hold the small button on its back for ten seconds until the lamp blinks.",
    "Sourdough rises more slowly than dough with yeast; in a cool kitchen it takes the whole night.",
    "The parliament adopted the budget after a debate of nine hours, by a majority of three votes.",
]
ODD = ["", " \n\t ", "\0", "a\0b", "\ud800", "x\udfffy", "</s>", "<s>[CLS]▁▁[MASK]", "🧿" * 3000, "x" * 1_000_000]


def test_it_is_a_text_embedder(embedder: LocalTextEmbedder) -> None:
    promised: TextEmbedder = embedder
    assert promised.name.startswith("local/")
    assert promised.dimension == 384


async def test_vectors_have_the_shape_and_unit_length(embedder: LocalTextEmbedder) -> None:
    documents = await embedder.embed_documents(PASSAGES)
    query = await embedder.embed_query("When was the lighthouse built?")
    assert documents.shape == (4, 384)
    assert query.shape == (384,)
    assert documents.dtype == query.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm([*documents, query], axis=1), 1, atol=1e-5)


async def test_no_texts_make_no_rows(embedder: LocalTextEmbedder) -> None:
    assert (await embedder.embed_documents([])).shape == (0, 384)
    assert embedder.count_tokens([]) == []


async def test_questions_find_their_passages(embedder: LocalTextEmbedder) -> None:
    questions = ["How old is the lighthouse?", "My router hangs, what now?", "Why is my bread so slow?", "budget vote"]
    vectors = np.stack(await asyncio.gather(*(embedder.embed_query(question) for question in questions)))
    assert (vectors @ (await embedder.embed_documents(PASSAGES)).T).argmax(axis=1).tolist() == [0, 1, 2, 3]


async def test_rows_keep_the_order_of_texts_of_every_length(embedder: LocalTextEmbedder) -> None:
    texts = [" ".join(PASSAGES[at % 4].split()[: 1 + at * 7 % 15]) * (1 + at % 5) for at in range(90)]
    together = await embedder.embed_documents(texts)
    alone = [(await embedder.embed_documents([texts[at]]))[0] for at in range(0, 90, 11)]
    assert (np.sum(together[::11] * np.stack(alone), axis=1) > 0.999).all()


async def test_odd_texts_get_finite_unit_vectors_always_the_same(embedder: LocalTextEmbedder) -> None:
    first = await embedder.embed_documents(ODD)
    again = await embedder.embed_documents(ODD)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(first, again, atol=1e-5)


async def test_blank_texts_are_all_alike(embedder: LocalTextEmbedder) -> None:
    blanks = await embedder.embed_documents(["", "   ", "\n\n", "\0"])
    np.testing.assert_allclose(blanks @ blanks.T, 1, atol=1e-4)


async def test_a_text_over_the_window_is_cut_there(embedder: LocalTextEmbedder) -> None:
    within = "word " * embedder.max_tokens
    beyond = within + PASSAGES[0] * 2000
    assert embedder.count_tokens([within]) == [embedder.max_tokens]
    vectors = await embedder.embed_documents([within, beyond])
    assert vectors[0] @ vectors[1] > 0.9999


async def test_the_last_token_within_the_window_is_read(embedder: LocalTextEmbedder) -> None:
    filler = "word " * (embedder.max_tokens - 1)
    vectors = await embedder.embed_documents([filler + "word", filler + "cat", filler + "word cat"])
    assert vectors[0] @ vectors[1] < 0.9999
    assert vectors[0] @ vectors[2] > 0.9999


def test_a_megabyte_is_counted_to_the_token(embedder: LocalTextEmbedder) -> None:
    assert embedder.count_tokens(["word " * 200_000, "word", ""]) == [200_000, 1, 0]


def test_counting_works_from_many_threads_at_once(embedder: LocalTextEmbedder) -> None:
    counts: list[list[int]] = []
    threads = [threading.Thread(target=lambda: counts.append(embedder.count_tokens(PASSAGES * 50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 4
    assert counts == [embedder.count_tokens(PASSAGES) * 50] * 4


async def test_a_question_is_answered_before_documents_that_came_first(embedder: LocalTextEmbedder) -> None:
    documents = asyncio.create_task(embedder.embed_documents([" ".join(PASSAGES)] * 60))
    await asyncio.sleep(0)  # lets the task hand its documents over
    await embedder.embed_query("When was the lighthouse built?")
    assert not documents.done()
    documents.cancel()
    with pytest.raises(asyncio.CancelledError):
        await documents


def test_one_embedder_serves_several_event_loops(embedder: LocalTextEmbedder) -> None:
    vectors = [asyncio.run(embedder.embed_query("When was the lighthouse built?")) for _ in range(2)]
    assert vectors[0] @ vectors[1] > 0.9999


async def test_similarity_is_monotone_and_within_zero_and_one(embedder: LocalTextEmbedder) -> None:
    similarities = embedder.similarity(np.linspace(-1, 1, 2001, dtype=np.float32))
    assert similarities.dtype == np.float32
    assert (np.diff(similarities) >= 0).all()
    assert 0 <= similarities.min() <= similarities.max() <= 1


async def test_similarity_tells_an_answer_from_another_subject(embedder: LocalTextEmbedder) -> None:
    cosines = await embedder.embed_documents(PASSAGES) @ await embedder.embed_query("When was the lighthouse built?")
    similarities = embedder.similarity(cosines)
    assert similarities[0] > 0.7
    assert similarities[1:].max() < 0.3


async def test_prefixes_tell_questions_from_passages(embedder: LocalTextEmbedder) -> None:
    as_query = await embedder.embed_query(PASSAGES[0])
    (as_document,) = await embedder.embed_documents([PASSAGES[0]])
    told_apart = as_query @ as_document < 0.999
    assert told_apart == (embedder.name == "local/multilingual-e5-small")


async def test_the_default_model_matches_across_languages(e5: LocalTextEmbedder) -> None:
    question = await e5.embed_query("Когда был построен маяк?")
    assert (await e5.embed_documents(PASSAGES) @ question).argmax() == 0


async def test_a_vector_does_not_depend_on_what_it_was_batched_with(e5: LocalTextEmbedder) -> None:
    alone = await e5.embed_documents([PASSAGES[1]])
    beside = await e5.embed_documents([PASSAGES[1], "x", PASSAGES[2] + PASSAGES[3]])
    assert alone[0] @ beside[0] > 0.9999


async def test_a_closed_embedder_says_so_to_all_who_ask() -> None:
    embedder = MiniLmEmbedder()
    await embedder.prepare()
    await embedder.aclose()
    await embedder.aclose()
    with pytest.raises(DependencyUnavailable, match="closed"):
        await embedder.embed_query("anybody there?")
    with pytest.raises(DependencyUnavailable, match="closed"):
        await embedder.embed_documents(["anybody there?"])
