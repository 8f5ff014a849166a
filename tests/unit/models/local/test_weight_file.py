import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tributary.models.local.e5.weights import DamagedWeights, Weights, read_weights

PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁the", "ป")
SCORES = (0.0, 0.0, 0.0, 0.0, -3.5, -7.25)
NORM = np.array([1.5, -2.0, 0.25], np.float32)


def block(scale: float, values: NDArray[np.int8]) -> bytes:
    """32 values from -8 to 7 as the file packs them."""
    shifted = (values + 8).astype(np.uint8)
    return np.float16(scale).tobytes() + (shifted[:16] | shifted[16:] << 4).tobytes()


VALUES = np.random.default_rng(0).integers(-8, 8, (3, 2, 32)).astype(np.int8)
MATRIX = b"".join(block(0.5 * (row + 1), VALUES[row, at]) for row in range(3) for at in range(2))


def weight_file(
    *,
    magic: bytes = b"E5S1",
    version: int = 1,
    block_values: int = 32,
    claimed: int = len(MATRIX),
    offset_shift: int = 0,
) -> bytes:
    """A file with a six-word vocabulary, a vector of three and a matrix of three rows of 64."""
    blob = "".join(PIECES).encode()
    offsets = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)]).astype("<u4")
    offsets[2] += offset_shift
    head = magic + struct.pack("<I7ifi", version, 64, 1, 2, 96, 6, 16, 2, 1e-12, block_values)
    vocabulary = struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + offsets.tobytes()
    vocabulary += np.array(SCORES, "<f4").tobytes() + blob + struct.pack("<iI", 1, 9) + bytes(9)
    names = ((b"emb.ln.w", 0, 3, 12), (b"emb.word", 1, 192, claimed))
    start = len(head + vocabulary) + 4 + sum(2 + len(name) + 21 for name, *_ in names)
    directory = struct.pack("<i", len(names))
    for name, kind, values, size in names:
        directory += struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", kind, values, start, size)
        start += size
    return head + vocabulary + directory + NORM.tobytes() + MATRIX


def opened(folder: Path, content: bytes) -> Weights:
    path = folder / "weights.bin"
    path.write_bytes(content)
    return read_weights(path)


def test_the_header_tells_the_networks_sizes(tmp_path: Path) -> None:
    weights = opened(tmp_path, weight_file())
    size = weights.dimensions
    assert (size.hidden, size.layers, size.heads, size.feed_forward) == (64, 1, 2, 96)
    assert (size.vocabulary, size.positions, size.token_types) == (6, 16, 2)
    assert weights.epsilon == pytest.approx(1e-12)


def test_pieces_and_scores_stand_at_their_token_ids(tmp_path: Path) -> None:
    vocabulary = opened(tmp_path, weight_file()).vocabulary
    assert vocabulary.pieces == PIECES
    assert vocabulary.scores.tolist() == list(SCORES)
    assert (vocabulary.beginning, vocabulary.end, vocabulary.padding, vocabulary.unknown) == (0, 2, 1, 3)


def test_a_vector_is_read_as_it_stands(tmp_path: Path) -> None:
    assert opened(tmp_path, weight_file()).vector("emb.ln.w").tolist() == NORM.tolist()


def test_a_matrix_is_unpacked_from_its_blocks(tmp_path: Path) -> None:
    weights = opened(tmp_path, weight_file())
    expected = VALUES.reshape(3, 64) * np.array([[0.5], [1.0], [1.5]])
    np.testing.assert_array_equal(weights.matrix("emb.word", 64), expected)
    assert weights.blocks("emb.word", 64).shape == (3, 2, 18)


def test_a_tensor_that_is_missing_or_of_another_kind_is_told(tmp_path: Path) -> None:
    weights = opened(tmp_path, weight_file())
    for name in ("l0.q.b", "emb.word"):
        with pytest.raises(DamagedWeights, match="missing"):
            weights.vector(name)
    with pytest.raises(DamagedWeights, match="rows"):
        weights.matrix("emb.word", 160)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (weight_file(magic=b"GGUF"), "another format"),
        (weight_file(version=2), "another format"),
        (weight_file(block_values=64), "blocks hold 64"),
        (weight_file(claimed=len(MATRIX) + 18), "not whole"),
        (weight_file(offset_shift=100), "out of order"),
        (weight_file()[:-1], "not whole"),
    ],
)
def test_a_file_of_another_kind_or_form_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(DamagedWeights, match=reason):
        opened(tmp_path, content)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = weight_file()
    for length in range(0, len(whole), 7):
        with pytest.raises(DamagedWeights):
            opened(tmp_path, whole[:length])
