"""Text to token ids, by the real vocabularies."""

from pathlib import Path

import pytest

from tributary.models.local.e5.prepare import prepare_model
from tributary.models.local.e5.tokenizer import E5Tokenizer
from tributary.models.local.minilm.tokenizer import MiniLmTokenizer
from tributary.models.local.text_model import Purpose


@pytest.fixture(scope="module")
def multilingual(model_cache: Path) -> E5Tokenizer:
    return E5Tokenizer(prepare_model(model_cache))


@pytest.fixture(scope="module")
def english() -> MiniLmTokenizer:
    return MiniLmTokenizer()


def test_e5_puts_the_prefix_between_beginning_and_text(multilingual: E5Tokenizer) -> None:
    # `<s>` `▁que` `ry` `:` `▁hell` `o` `▁world` `</s>`, as XLM-R numbers them.
    assert multilingual.encode("hello world", Purpose.QUERY).tolist() == [0, 41, 1294, 12, 33600, 31, 8999, 2]
    assert multilingual.encode("hello world", Purpose.DOCUMENT).tolist()[-4:] == [33600, 31, 8999, 2]


@pytest.mark.parametrize("special", ["<s>", "</s>", "<pad>", "<mask>"])
def test_e5_text_that_spells_a_special_token_stays_text(multilingual: E5Tokenizer, special: str) -> None:
    tokens = multilingual.encode(f"a{special}b", Purpose.QUERY).tolist()
    assert tokens.count(0) == tokens.count(2) == 1
    assert not {1, 250001} & set(tokens)


def test_e5_reads_any_white_space_as_one_space(multilingual: E5Tokenizer) -> None:
    plain = multilingual.encode("north cape", Purpose.QUERY).tolist()
    for text in ("  north \n\t cape ", "north\u00a0cape", "north\u3000cape", "north▁cape", "north\u200bcape"):
        assert multilingual.encode(text, Purpose.QUERY).tolist() == plain


def test_e5_reads_composed_and_decomposed_letters_alike(multilingual: E5Tokenizer) -> None:
    assert (
        multilingual.encode("cafe\u0301 ﬁn", Purpose.QUERY).tolist()
        == multilingual.encode("café fin", Purpose.QUERY).tolist()
    )


def test_e5_fills_its_512_positions_and_no_more(multilingual: E5Tokenizer) -> None:
    assert len(multilingual.encode("word " * 600, Purpose.QUERY)) == 512


def test_minilm_numbers_words_as_bert_does(english: MiniLmTokenizer) -> None:
    # `[CLS]` `hello` `world` `!` `em` `##bed` `##ding` `##s` `[SEP]`
    expected = [101, 7592, 2088, 999, 7861, 8270, 4667, 2015, 102]
    assert english.encode("Hello, world! embeddings".replace(",", ""), Purpose.QUERY).tolist() == expected


@pytest.mark.parametrize("special", ["[CLS]", "[SEP]", "[PAD]", "[MASK]"])
def test_minilm_text_that_spells_a_special_token_stays_text(english: MiniLmTokenizer, special: str) -> None:
    content = english.encode(f"a {special} b", Purpose.DOCUMENT).tolist()[1:-1]
    assert not {0, 101, 102, 103} & set(content)


def test_minilm_folds_case_and_accents(english: MiniLmTokenizer) -> None:
    assert english.encode("CAFÉ", Purpose.QUERY).tolist() == english.encode("cafe", Purpose.QUERY).tolist()


def test_minilm_reads_256_tokens_and_no_more(english: MiniLmTokenizer) -> None:
    assert len(english.encode("word " * 600, Purpose.QUERY)) == 256
