"""Telling languages apart well enough to know that two texts differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.text.languages import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How high is the deductible of this plan?", "english"),
        ("Wie hoch ist die Selbstbeteiligung?", "german"),
        ("Quelle est la franchise de ce contrat ?", "french"),
        ("¿Cuál es el precio del plan?", "iberian"),
        ("Какова франшиза по плану Plus?", "cyrillic"),
        ("自己負担額はいくらですか", "japanese"),
        ("免赔额是多少？", "chinese"),
        ("공제액은 얼마입니까", "korean"),
        ("ค่าเสียหายส่วนแรกเท่าไร", "thai"),
        ("ما هو مبلغ الخصم", "arabic"),
        ("deductible", ""),
        ("1234 !?", ""),
        ("", ""),
    ],
)
def test_script_and_function_words_tell_the_language(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text())
def test_any_text_has_a_name_or_none(text: str) -> None:
    assert isinstance(language_of(text), str)
