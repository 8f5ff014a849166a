import numpy as np
import pytest

from tributary.domain.errors import ProviderError
from tributary.models.local.text_model import padded, unit_rows


def test_a_batch_is_padded_to_its_longest_text() -> None:
    ids, lengths = padded([np.array([5, 6, 7], np.int32), np.array([8], np.int32)], padding=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert lengths.tolist() == [3, 1]


def test_rows_get_unit_length() -> None:
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 1e-20]])), [[0.6, 0.8], [0.0, 1.0]], atol=1e-6)


@pytest.mark.parametrize("row", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_row_without_a_direction_is_an_error(row: list[float]) -> None:
    with pytest.raises(ProviderError, match="direction"):
        unit_rows(np.array([[1.0, 0.0], row]))
