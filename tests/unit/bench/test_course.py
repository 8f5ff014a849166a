"""What a server's course under load says."""

import pytest

from bench.load import Course


def test_growth_while_a_server_warms_up_does_not_count() -> None:
    assert Course([0, 100, 200, 300, 400, 500], [100, 150, 180, 190, 190, 190]).slope == pytest.approx(0)


def test_steady_growth_is_told_by_a_thousand_requests() -> None:
    assert Course([0, 500, 1000, 1500], [100, 101, 102, 103]).slope == pytest.approx(2.0)


def test_a_course_that_has_hardly_begun_has_no_slope() -> None:
    assert Course([0], [100]).slope == 0.0
