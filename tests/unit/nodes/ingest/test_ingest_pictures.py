from nodes.ingest.pictures import PICTURES, chunk_beside
from tributary.domain.knowledge import ChunkDraft, Picture


def chunk(ordinal: int, start: int, end: int, page: int | None = None) -> ChunkDraft:
    return ChunkDraft(ordinal, "x" * (end - start), start, end, page)


def test_a_picture_belongs_to_the_chunk_that_it_stands_in_or_behind() -> None:
    chunks = [chunk(0, 0, 10), chunk(1, 12, 30)]
    assert [chunk_beside(chunks, Picture(b"", offset)) for offset in (0, 9, 10, 11, 12, 30, 99)] == [
        0,
        0,
        0,
        0,
        1,
        1,
        1,
    ]


def test_a_picture_stays_on_its_page_where_that_has_a_chunk() -> None:
    chunks = [chunk(0, 0, 10, 1), chunk(1, 12, 30, 3), chunk(2, 32, 40, 3)]
    assert chunk_beside(chunks, Picture(b"", 11, 3)) == 1
    assert chunk_beside(chunks, Picture(b"", 35, 3)) == 2
    assert chunk_beside(chunks, Picture(b"", 11, 2)) == 0


def test_pictures_are_staged_as_they_are() -> None:
    pictures = (Picture(b"\xff\xd8\x00", 5, None), Picture(b"", 0, 7))
    assert PICTURES.decode(PICTURES.encode(pictures)) == pictures
