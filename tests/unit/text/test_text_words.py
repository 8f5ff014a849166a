"""The lexical analysis: documents and questions must meet, whatever their language."""

import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.text.words import MAX_TERM_LENGTH, STEM_MARK, is_stopword, keys, term_spans, terms, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deductibles", "deductible"),
        ("policies", "policy"),
        ("applies", "apply"),
        ("families", "family"),
        ("planning", "planned"),
        ("Größe", "GRÖSSE"),
        ("Krankenversicherungen", "Krankenversicherung"),
        ("страховые", "страхового"),
        ("ёлка", "елки"),
        ("البيوت", "بيوت"),
        ("café", "cafe"),
        ("ﬁnancial", "financial"),
        ("ＡＢＣ", "abc"),
        ("soft\u00adhyphen", "softhyphen"),
        ("O'Neil's", "Neil"),
        ("getUserName", "user"),
        ("max_retry_count", "retries"),
        ("HTTPServer", "server"),
        ("v2.1.0", "2.1.0"),
        ("1,234.50", "1.234,50"),
        ("1,000,000", "1000000"),
        ("東京タワーの高さ", "東京"),
        ("서울에서", "서울"),
        ("ประกันสุขภาพ", "สุขภาพ"),
        ("ｶﾞﾗｽ", "ガラス"),
    ],
)
def test_two_ways_of_writing_a_thing_share_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("contract", "control"), ("3.14", "314"), ("C", "C++"), ("C#", "C++")],
)
def test_different_things_share_no_exact_term(one: str, other: str) -> None:
    assert not set(words(one)) & set(words(other))


def test_each_word_gives_itself_and_a_marked_stem_in_reading_order() -> None:
    assert terms("Deductibles apply twice") == ["deductibles", "~deduct", "apply", "~appli", "twice", "~twic"]


def test_keys_name_each_thing_once() -> None:
    assert keys("The plans pay 1,500 to new_member 東京都 plan") == [
        "~plan",
        "~pay",
        "1500",
        "new_member",
        "~new",
        "~member",
        "東京",
        "京都",
        "~plan",
    ]


def test_an_identifier_gives_the_whole_and_its_parts() -> None:
    assert words("parse_http2Header") == ["parse_http2header", "parse", "http", "2", "header"]


def test_function_words_of_many_languages_give_nothing_beside_content() -> None:
    questions = (
        "What is the deductible?",
        "Wie hoch ist der Selbstbehalt?",
        "Какова франшиза?",
        "¿Cuál es el deducible?",
    )
    assert [words(question) for question in questions] == [
        ["deductible"],
        ["hoch", "selbstbehalt"],
        ["франшиза"],
        ["deducible"],
    ]


def test_a_text_of_function_words_alone_can_still_be_found() -> None:
    assert words("The Who") == ["the", "who"]
    assert term_spans("The Who") == []


def test_short_function_words_in_capitals_are_names() -> None:
    assert words("the IT policy of the US") == ["it", "policy", "us"]
    assert is_stopword("It")
    assert not is_stopword("IT")
    assert not is_stopword("deductible")
    assert not is_stopword("?")


def test_what_is_no_word_is_cut_and_not_taken_apart() -> None:
    found = terms("aB3" * 5000)
    assert len(found) == 2
    assert max(map(len, found)) == MAX_TERM_LENGTH


def test_spans_show_where_the_terms_stand() -> None:
    text = "The plan’s DEDUCTIBLE is $1,500."
    assert [(text[start:end], given) for start, end, given in term_spans(text)] == [
        ("plan’s", ("plan", "~plan")),
        ("DEDUCTIBLE", ("deductible", "~deduct")),
        ("1,500", ("1500",)),
    ]


@given(st.text())
def test_any_string_gives_terms_that_a_store_can_keep(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert term.removeprefix(STEM_MARK)
        assert "\0" not in term
        assert not any(character.isspace() or "\ud800" <= character <= "\udfff" for character in term)


@given(st.text())
def test_spans_are_in_order_and_agree_with_the_terms(text: str) -> None:
    spans = term_spans(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    flat = [term for span in spans for term in span.terms]
    assert not flat or flat == terms(text)


@given(st.text(alphabet=st.characters(codec="ascii")), st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_text_is_analysed_alike_beside_other_text(left: str, right: str) -> None:
    alone = [span.terms for span in term_spans(f"{left} {right}")]
    beside = [span.terms for span in term_spans(f"{left} {right} \n漢字")]
    assert beside[: len(alone)] == alone


def test_threads_that_analyse_at_once_get_the_same_terms() -> None:
    text = " ".join(f"word{number}ing планирование{number}" for number in range(2000))
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(terms(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results)
