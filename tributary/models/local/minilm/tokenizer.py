"""From text to the token ids of all-MiniLM-L6-v2: WordPiece over the vocabulary of bert-base-uncased."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tributary.models.local.text_model import Purpose, Tokens
from tributary.models.local.truncation import encodable, first_tokens

#: What the model was trained to read, 256 tokens, without `[CLS]` and `[SEP]`.
MAX_TOKENS = 254

_UNKNOWN = "[UNK]"
_VOCABULARY = Path(__file__).with_name("vocab.txt")

#: Words over a hundred characters are one unknown token; one that a cut makes shorter may become as many.
_LONGEST_WORD = 100


class MiniLmTokenizer:
    """A `Tokenizer`. Special tokens that a text spells out stay text: the vocabulary is used without them."""

    def __init__(self) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        words = _VOCABULARY.read_text("utf8").splitlines()
        vocabulary = {word: token for token, word in enumerate(words)}
        self._tokenizer = Tokenizer(
            models.WordPiece(vocabulary, unk_token=_UNKNOWN, max_input_chars_per_word=_LONGEST_WORD)
        )
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._beginning, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self.padding = vocabulary["[PAD]"]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self._tokenise(text)) for text in texts]

    def encode(self, text: str, purpose: Purpose) -> Tokens:  # noqa: ARG002 - questions and passages are read alike
        content = first_tokens(text, MAX_TOKENS, _LONGEST_WORD, self._tokenise)
        return np.array([self._beginning, *content, self._end], dtype=np.int32)

    def _tokenise(self, text: str) -> list[int]:
        return self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
