import numpy as np

from tributary.models.local.e5.blocks import quantise_rows, unpack_blocks


def test_low_halves_of_the_bytes_come_before_the_high_ones() -> None:
    packed = np.concatenate([np.array([2.0], np.float16).view(np.uint8), np.full(16, 0x9F, np.uint8)])
    assert unpack_blocks(packed[None]).tolist() == [14.0] * 16 + [2.0] * 16


def test_rows_of_any_number_are_unpacked_at_once() -> None:
    packed = np.random.default_rng(0).integers(0, 256, (5, 7, 12, 18)).astype(np.uint8)
    packed[..., :2] = np.array([0.25], np.float16).view(np.uint8)
    unpacked = unpack_blocks(packed)
    assert unpacked.shape == (5, 7, 384)
    np.testing.assert_array_equal(unpacked[3, 2], unpack_blocks(packed[3, 2]))


def test_quantised_rows_are_within_half_a_step() -> None:
    matrix = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)
    values, scales = quantise_rows(matrix)
    assert np.abs(values.astype(np.float32) * scales[:, None] - matrix).max() <= scales.max() * 0.501


def test_two_products_with_the_largest_activation_fit_into_16_bits() -> None:
    values, _ = quantise_rows(np.random.default_rng(1).normal(size=(8, 64)).astype(np.float32))
    assert int(np.abs(values).max()) * 255 * 2 <= 32767


def test_a_row_of_zeros_stays_zero() -> None:
    values, scales = quantise_rows(np.zeros((1, 32), np.float32))
    assert not values.any()
    assert np.isfinite(scales).all()
