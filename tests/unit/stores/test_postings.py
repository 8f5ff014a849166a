"""The inverted index of one document."""

from stores.postings import index_chunks, pack, unpack
from tributary.domain.knowledge import ChunkDraft


def test_a_posting_is_unpacked_as_it_was_packed() -> None:
    assert unpack(pack(70_000, 3, 250)) == (70_000, 3, 250)


def test_frequencies_and_lengths_stop_where_a_posting_ends() -> None:
    assert unpack(pack(1, 100_000, 200_000)) == (1, 0xFFFF, 0xFFFF)


def test_the_largest_posting_fits_a_signed_64_bit_number() -> None:
    assert pack(2**31 - 1, 2**20, 2**20) < 2**63


def test_a_term_has_a_posting_for_each_chunk_that_holds_it() -> None:
    chunks = [ChunkDraft(0, "pump pump", 0, 9), ChunkDraft(1, "valve", 10, 15), ChunkDraft(2, "a pump", 16, 22)]
    index = index_chunks(chunks, "")
    assert [unpack(posting)[:2] for posting in index.postings["pump"]] == [(0, 2), (2, 1)]


def test_lengths_are_in_terms_and_in_the_order_of_the_chunks() -> None:
    index = index_chunks([ChunkDraft(0, "pump valve", 0, 10), ChunkDraft(1, "pump", 11, 15)], "")
    assert index.lengths[0] == 2 * index.lengths[1] > 0


def test_title_and_heading_are_indexed_with_a_chunk() -> None:
    index = index_chunks([ChunkDraft(0, "text", 0, 4, heading="Repair")], "Manual")
    assert {"text", "repair", "manual"} <= index.postings.keys()
