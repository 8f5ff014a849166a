"""What of a question weighs how much."""

import pytest

from tributary.models.local.extractive.question import (
    EARLIER_WEIGHT,
    FOLLOW_UP_WEIGHT,
    FRAME_WEIGHT,
    NAME_WEIGHT,
    read_question,
    weigh,
)


def test_frame_words_weigh_less_and_names_more_than_the_topic() -> None:
    assert weigh("Explain the deductible of Northwind") == {
        "~explai": FRAME_WEIGHT,
        "~deduct": 1.0,
        "~northw": NAME_WEIGHT,
    }


def test_a_capital_at_the_beginning_makes_no_name() -> None:
    assert weigh("Deductibles? Premiums?") == {"~deduct": 1.0, "~premiu": 1.0}


def test_function_words_of_scripts_without_spaces_leave_no_keys() -> None:
    assert list(weigh("免赔额是多少？")) == ["免赔", "赔额"]
    assert list(weigh("東京の人口はいくらですか")) == ["東京", "人口"]
    assert list(weigh("ราคาของบ้าน")) == list(weigh("ราคา บ้าน"))


def test_a_short_question_is_about_what_was_asked_before() -> None:
    question = read_question("and for families?", ["What is the deductible?"])
    assert question.own == {"~famili": 1.0}
    assert question.earlier == {"~deduct": FOLLOW_UP_WEIGHT}


def test_a_long_question_stands_mostly_by_itself() -> None:
    question = read_question("Which gyms and yoga studios are reimbursed?", ["What is the deductible?"])
    assert question.earlier == {"~deduct": EARLIER_WEIGHT}


def test_only_the_last_two_questions_are_looked_back_at() -> None:
    assert "~zebra" not in read_question("How much?", ["Zebra?", "Gym?", "Dentist?"]).earlier


@pytest.mark.parametrize("text", ["What is it?", "???", ""])
def test_a_question_without_content_has_no_keys(text: str) -> None:
    assert read_question(text, []).own == {}


@pytest.mark.parametrize(
    ("text", "overview", "quantity"),
    [
        ("Summarise the attached file", True, False),
        ("Bitte fasse zusammen: Zusammenfassung", True, False),
        ("请总结一下", True, False),
        ("How much does it cost?", False, True),
        ("Wie viele Tage?", False, True),
        ("Сколько это стоит?", False, True),
        ("Who may join?", False, False),
    ],
)
def test_cues_tell_what_kind_of_answer_is_wanted(text: str, overview: bool, quantity: bool) -> None:
    question = read_question(text, [])
    assert (question.overview, question.quantity) == (overview, quantity)


def test_a_pasted_text_is_read_at_both_its_ends_only() -> None:
    weights = weigh("Deductible? " + "Filler. " * 50_000 + "Premium?")
    assert {"~deduct", "~filler", "~premiu"} <= set(weights)
    distinct = "\n".join(f"Word{number}" for number in range(100_000))
    assert len(weigh(distinct)) < 2_000
