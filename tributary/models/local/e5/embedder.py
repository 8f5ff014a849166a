"""The default text embedder."""

from pathlib import Path

from tributary.models.calibration import Calibration
from tributary.models.local.e5.model import E5Model
from tributary.models.local.e5.prepare import prepare_model
from tributary.models.local.e5.tokenizer import MAX_TOKENS, E5Tokenizer
from tributary.models.local.once import Once
from tributary.models.local.text_embedder import LocalTextEmbedder
from tributary.settings import E5

# Fitted by bench/embedder_calibration.py on questions in English, Russian and Thai, against passages, abstracts and
# documentation: cosines of unrelated texts lie around .77 and those of answers around .87. What the curve makes of
# them: .02 for the median unrelated text, .33 for the nearest wrong one, .92 for an answer.
CALIBRATION = Calibration(middle=0.83, slope=60.0)


class E5Embedder(LocalTextEmbedder):
    """`local/multilingual-e5-small`: about a hundred languages, 512 tokens with its special ones.

    `cache`: the folder in which the prepared model is kept, or made by the first call. `threads`: cores for one run,
    by default all.
    """

    def __init__(self, cache: Path, threads: int | None = None) -> None:
        folder = Once(lambda: prepare_model(cache))
        tokenizer = Once(lambda: E5Tokenizer(folder.get()))
        super().__init__(
            E5,
            MAX_TOKENS,
            CALIBRATION,
            tokenizer=tokenizer.get,
            model=lambda: E5Model(folder.get(), tokenizer.get(), threads),
        )
