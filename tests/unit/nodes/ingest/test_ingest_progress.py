"""The shares of an ingestion's stages."""

import pytest

from nodes.ingest.progress import ENDS, share_done
from tributary.domain.knowledge import Stage


def test_every_stage_has_its_share_and_they_follow_each_other() -> None:
    assert list(ENDS) == list(Stage)
    assert list(ENDS.values()) == sorted(ENDS.values())


@pytest.mark.parametrize(
    ("stage", "within", "expected"),
    [
        (Stage.QUEUED, 0.0, 0.0),
        (Stage.PARSING, 0.0, 0.0),
        (Stage.EMBEDDING, 0.0, 0.10),
        (Stage.EMBEDDING, 0.5, 0.475),
        (Stage.EMBEDDING, 1.0, 0.85),
        (Stage.INDEXING, 0.0, 0.95),
        (Stage.READY, 0.0, 1.0),
    ],
)
def test_a_share_lies_between_the_ends_of_its_stage_and_the_one_before(
    stage: Stage, within: float, expected: float
) -> None:
    assert share_done(stage, within) == pytest.approx(expected)
