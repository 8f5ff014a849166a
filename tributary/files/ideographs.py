"""Which double-byte encoding an East Asian text is in, from the rows of the code charts that everyday text uses.

The charts are sorted: the first rows of ideographs hold the common ones, and kana, Hangul and full-width punctuation
have rows of their own. Bytes read in a wrong chart scatter over rare rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

#: Kana make up about half of a Japanese text; in Chinese and Korean there are none.
LEAST_KANA = 0.2
#: Korean puts spaces between words, Chinese does not: at least one for so many characters.
KOREAN_WORD = 12


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows by lead byte. Where `full` holds, both bytes of a common character are above 0xA0. `least` is the share
    of common characters from which on the chart is believed."""

    encoding: str
    common: frozenset[int]
    least: float = 0.93
    kana: frozenset[int] = frozenset()
    full: bool = True
    spaced: bool = False


def _rows(*spans: tuple[int, int]) -> frozenset[int]:
    return frozenset(row for first, last in spans for row in range(first, last + 1))


#: The first that is believed counts. Korean stands before Chinese, whose rows include the Korean ones; it may mix in
#: ideographs, which lie elsewhere.
CHARTS = (
    Chart("cp932", _rows((0x81, 0x83), (0x88, 0x97)), kana=_rows((0x82, 0x83)), full=False),
    Chart("euc_jp", _rows((0xA1, 0xA1), (0xA3, 0xA5), (0xB0, 0xCF)), kana=_rows((0xA4, 0xA5))),
    Chart("cp949", _rows((0xA1, 0xA1), (0xB0, 0xC8)), least=0.85, spaced=True),
    Chart("gb18030", _rows((0xA1, 0xA1), (0xA3, 0xA3), (0xB0, 0xD7))),
    Chart("big5", _rows((0xA1, 0xA1), (0xA4, 0xC6)), full=False),
)


def ideographic_encoding(sample: bytes) -> str | None:
    """The chart in which nearly all double-byte characters of `sample` are common ones; None where there is no such
    chart. `sample` may end within a character."""
    for chart in CHARTS:
        if _common_share(sample, chart) >= chart.least:
            return chart.encoding
    return None


def _common_share(sample: bytes, chart: Chart) -> float:
    total = common = kana = 0
    try:
        for lead, trail in _pairs(sample, chart.encoding):
            total += 1
            kana += lead in chart.kana
            common += lead in chart.common and (trail > 0xA0 or not chart.full)
    except UnicodeDecodeError:
        return 0.0
    if total == 0 or (chart.kana and kana < LEAST_KANA * total):
        return 0.0
    if chart.spaced and sample.count(b" ") * KOREAN_WORD < total:
        return 0.0
    return common / total


def _pairs(sample: bytes, encoding: str) -> Iterator[tuple[int, int]]:
    """Lead and trail byte of each character beyond ASCII. Raises `UnicodeDecodeError` where the sample is not in
    that encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as fault:
        if fault.start < len(sample) - 3:
            raise
        text = sample[: fault.start].decode(encoding)
    for character in text:
        if not character.isascii():
            encoded = character.encode(encoding)
            yield encoded[0], encoded[-1]
