"""The smaller text embedder."""

from tributary.models.calibration import Calibration
from tributary.models.local.minilm.model import MiniLmModel
from tributary.models.local.minilm.tokenizer import MAX_TOKENS, MiniLmTokenizer
from tributary.models.local.once import Once
from tributary.models.local.text_embedder import LocalTextEmbedder
from tributary.settings import MINILM

# Fitted by bench/embedder_calibration.py on English questions: cosines of unrelated texts lie around .1 and those of
# answers around .6. The median unrelated text becomes .02, an answer .92.
CALIBRATION = Calibration(middle=0.40, slope=12.0)


class MiniLmEmbedder(LocalTextEmbedder):
    """`local/minilm`: English, 256 tokens with its special ones. `threads`: cores for one run, by default all."""

    def __init__(self, threads: int | None = None) -> None:
        tokenizer = Once(MiniLmTokenizer)
        super().__init__(
            MINILM,
            MAX_TOKENS,
            CALIBRATION,
            tokenizer=tokenizer.get,
            model=lambda: MiniLmModel(tokenizer.get(), threads),
        )
