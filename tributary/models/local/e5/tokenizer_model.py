"""The vocabulary of the weight file as a sentencepiece model."""

from typing import Any

from sentencepiece import SentencePieceNormalizer, sentencepiece_model_pb2

from tributary.models.local.e5.weights import Vocabulary

#: The format's messages, whose classes come into being when the module is loaded.
_FORMAT: Any = sentencepiece_model_pb2
#: XLM-R's rules: NFKC, with control characters removed and every kind of white space made one.
_RULES = "nmt_nfkc"
#: A piece that texts must not turn into, although the file does not tell it apart from the others.
_MASK = "<mask>"


def build_tokenizer_model(vocabulary: Vocabulary) -> bytes:
    """The model's bytes. Special tokens are control pieces: text that spells one out does not become one."""
    model = _FORMAT.ModelProto()
    model.ParseFromString(SentencePieceNormalizer(rule_name=_RULES).serialized_model_proto())
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.remove_extra_whitespaces = True
    model.normalizer_spec.escape_whitespaces = True
    trainer = model.trainer_spec
    trainer.model_type = _FORMAT.TrainerSpec.UNIGRAM
    trainer.vocab_size = len(vocabulary.pieces)
    trainer.bos_id, trainer.eos_id = vocabulary.beginning, vocabulary.end
    trainer.pad_id, trainer.unk_id = vocabulary.padding, vocabulary.unknown
    for token, (text, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True)):
        model.pieces.add(piece=text, score=score, type=_type(vocabulary, token, text))
    return bytes(model.SerializeToString())


def _type(vocabulary: Vocabulary, token: int, text: str) -> int:
    kinds = _FORMAT.ModelProto.SentencePiece
    if token == vocabulary.unknown:
        return int(kinds.UNKNOWN)
    special = token in (vocabulary.beginning, vocabulary.end, vocabulary.padding) or text == _MASK
    return int(kinds.CONTROL if special else kinds.NORMAL)
