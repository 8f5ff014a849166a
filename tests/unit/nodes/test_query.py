"""The enhanced search query."""

from collections.abc import Sequence

from nodes.retrieval.query import conversation_share, enhanced_query


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_a_question_without_a_conversation_stands_alone() -> None:
    assert enhanced_query("what is it?", [], count_tokens=words, max_tokens=50) == "what is it?"


def test_the_conversation_comes_before_the_question() -> None:
    query = enhanced_query(
        "and the price?", ["tell me of pumps", "a pump moves water"], count_tokens=words, max_tokens=50
    )
    assert query == "Recent conversation: tell me of pumps a pump moves water\nCurrent query: and the price?"


def test_the_oldest_part_of_the_conversation_goes_first_when_the_window_is_full() -> None:
    recent = ["old " * 40, "new " * 10]
    query = enhanced_query("the question itself", recent, count_tokens=words, max_tokens=30)
    assert query.endswith("Current query: the question itself")
    assert "new" in query
    assert sum(words([query])) <= 30


def test_a_question_that_fills_the_window_stands_alone() -> None:
    question = "long " * 40
    assert enhanced_query(question, ["before"], count_tokens=words, max_tokens=30) == question


def test_a_question_that_names_nothing_is_searched_by_the_conversation() -> None:
    assert conversation_share("And why is it?") == 1.0


def test_the_more_a_question_names_the_less_the_conversation_counts() -> None:
    questions = ["And the price?", "What is the price of pumps?", "Which price had steel pumps in Berlin last year?"]
    shares = [conversation_share(question) for question in questions]
    assert 1.0 > shares[0] > shares[1] > shares[2] > 0.0


def test_questions_in_scripts_without_spaces_name_things_too() -> None:
    assert conversation_share("北京大学在哪里?") < 0.3
