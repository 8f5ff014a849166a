"""When names are one, and which names a question may hold."""

import pytest

from tributary.text.entity_keys import MAX_KEYS, bare_key, entity_key, near_keys, phrase_keys, plain_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Marie Curie", "MARIE CURIE"),
        ("Café", "cafe"),
        ("water filters", "Water Filter"),
        ("The Beatles", "Beatles"),
        ("O'Brien's", "O'Brien"),
        ("U.S.A.", "USA"),
        ("AC/DC", "ac dc"),
        ("self-service", "self service"),
        ("Ｆｕｌｌ", "full"),
        ("Acme Corp.", "ACME Corporation"),
        ("Foo Co., Ltd.", "Foo Company Limited"),
        ("Warner Bros.", "Warner Brothers"),
        ("Dr. Ada Lovelace", "Ada Lovelace"),
        ("DR. ADA LOVELACE", "Ada Lovelace"),
        ("Prof. Dr. Hans Müller", "Hans Muller"),
        ("Sir Elton John", "Elton John"),
        ("e-mail", "Email"),
        ("X-ray", "xray"),
        ("T\u2011shirts", "T-Shirt"),
        ("Model X-10", "Model X10"),
        ("F 16", "F-16"),
        ("Procter & Gamble", "Procter and Gamble"),
        ("lithium batteries", "Lithium Battery"),
        ("tax boxes", "tax box"),
        ("World War II", "World War 2"),
        ("Horror Movies", "horror movie"),
    ],
)
def test_forms_of_a_name_have_one_key(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C", "C#"),
        ("Paris", "Pari"),
        ("glass", "glas"),
        ("bus", "bu"),
        ("Version 1", "Version 2"),
        ("Model X10", "Model X11"),
        ("Model X1 1", "Model X11"),
        ("North Plant", "South Plant"),
        ("John Smith", "Joan Smith"),
        ("Rockies", "Rocky"),
        ("Dr. Smith", "Smith"),
        ("Mr. Smith", "Mrs. Smith"),
        ("Mrs. John Smith", "John Smith"),
        ("DR Congo National Team", "Congo National Team"),
        ("MR Imaging Scan", "Imaging Scan"),
        ("MS Office Suite", "Office Suite"),
        ("Acme Corporation", "Acme"),
        ("Acme Inc", "Acme Ltd"),
        ("therapist", "the rapist"),
        ("Model X", "Model 10"),
        ("Charles II", "Charles III"),
        ("John Smith Jr", "John Smith"),
        ("Müller", "Mueller"),
    ],
)
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


@pytest.mark.parametrize("name", ["", "?!", "--", "  "])
def test_what_has_no_letter_has_no_key(name: str) -> None:
    assert entity_key(name) == ""


@pytest.mark.parametrize("name", ["Acme Corp.", "e-mail", "Model X-10", "World War II", "Dr. Ada Lovelace", "AC/DC"])
def test_what_was_the_key_in_earlier_versions_is_a_near_name(name: str) -> None:
    assert plain_key(name) in {entity_key(name), *near_keys(name)}
    assert {entity_key(name), plain_key(name)} <= phrase_keys(f"tell me, is {name} known?").keys()


def test_a_key_is_its_own_key() -> None:
    for name in ("Acme Corp.", "Foo Co., Ltd.", "World War II", "lithium batteries", "Model X-10", "T-shirts"):
        assert entity_key(entity_key(name)) == entity_key(name)


def test_umlauts_have_a_form_written_out() -> None:
    assert "hans mueller" in near_keys("Hans Müller")
    assert "hans mueller" in phrase_keys("wer ist Hans Müller?")
    assert near_keys("Zoe Muller") == ()


@pytest.mark.parametrize(
    ("name", "bare"),
    [("Acme Corp.", "acme"), ("Foo Co., Ltd.", "foo"), ("Acme", ""), ("The Company", ""), ("Company Inc", "")],
)
def test_a_company_has_a_name_without_its_legal_form(name: str, bare: str) -> None:
    assert bare_key(entity_key(name)) == bare


@pytest.mark.parametrize("query", ["since Covid-19?", "since COVID 19?", "since Covid19?"])
def test_a_question_holds_a_number_on_its_word_and_apart(query: str) -> None:
    assert {"covid 19", "covid19"} <= phrase_keys(query).keys()


def test_places_of_a_question_are_kept_with_points_and_hyphens() -> None:
    text = "does U.S.A. send e-mail to Acme's Corp.?"
    spans = phrase_keys(text)
    assert text[slice(*spans["usa send"])].startswith("U.S.A. send")
    assert text[slice(*spans["email"])] == "e-mail"


def test_a_question_holds_each_phrase_of_it_longest_first() -> None:
    assert next(iter(phrase_keys("New York Times"))) == "new york time"
    assert {"new york", "york time", "new", "york", "time"} <= phrase_keys("New York Times").keys()


def test_the_key_of_every_name_is_found_in_a_question_that_holds_it() -> None:
    for name in ("O'Brien's Pub", "The Beatles", "C++", "北京大学", "S3", "Café Müller"):
        assert entity_key(name) in phrase_keys(f"tell me, is {name} known?")


def test_function_words_alone_name_nothing() -> None:
    assert "what" not in phrase_keys("what is the time?")


def test_a_function_word_in_capitals_is_an_acronym() -> None:
    assert "who" in phrase_keys("Does the WHO know?")
    assert "who" not in phrase_keys("who knows?")


def test_names_inside_a_run_without_spaces_are_found() -> None:
    assert "北京大学" in phrase_keys("请问北京大学在哪里")


def test_a_pasted_text_has_a_bounded_number_of_keys() -> None:
    assert len(phrase_keys(" ".join(f"word{n}" for n in range(5000)))) == MAX_KEYS
