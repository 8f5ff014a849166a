from collections.abc import Sequence

from tributary.models.local.truncation import encodable, first_tokens


class Words:
    """A tokenizer with a token a word, which remembers how much it has read."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, text: str) -> Sequence[int]:
        self.read += len(text)
        return [len(word) for word in text.split()]


def test_a_short_text_is_read_whole() -> None:
    assert first_tokens("one three", 5, 2, Words()) == [3, 5]


def test_only_the_first_tokens_count() -> None:
    assert first_tokens("a bb ccc dddd", 2, 1, Words()) == [1, 2]


def test_a_long_text_is_not_read_to_its_end() -> None:
    words = Words()
    assert first_tokens("word " * 1_000_000, 100, 10, words) == [4] * 100
    assert words.read < 5_000


def test_a_run_of_white_space_does_not_hide_what_comes_after_it() -> None:
    assert first_tokens(" " * 100_000 + "tail", 10, 2, Words()) == [4]


def test_a_text_whose_tokens_are_long_is_read_on_until_they_are_enough() -> None:
    text = " ".join(["w" * 1000] * 50)
    assert first_tokens(text, 10, 2, Words()) == [1000] * 10


def test_a_token_that_the_cut_would_shorten_is_whole() -> None:
    # 12 tokens a cut: the 192nd character lies within the second word.
    assert first_tokens("w" * 150 + " " + "v" * 150 + " end", 10, 2, Words()) == [150, 150, 3]


def test_what_has_no_utf8_is_replaced_and_nul_removed() -> None:
    assert encodable("a\0b \ud800 \udfff \U0001f9ff") == "ab \ufffd \ufffd \U0001f9ff"
    encodable("\ud83e\uddff").encode()
