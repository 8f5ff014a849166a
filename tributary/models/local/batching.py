"""Which texts go through a network together."""

from collections.abc import Sequence

#: Tokens of one run, padding included. Smaller runs waste threads on short texts, larger ones leave the processor's
#: caches and keep questions waiting; at 512 a token is cheapest, and a run takes some 60 ms on two cores.
RUN_TOKENS = 512


def plan_batches(lengths: Sequence[int], *, tokens: int = RUN_TOKENS) -> list[list[int]]:
    """Positions grouped into batches of similar length, longest first. A batch padded to its longest text holds at
    most `tokens`, or one text."""
    batches: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= tokens:
            batches[-1].append(position)
        else:
            batches.append([position])
    return batches
