"""Keys and tokens: their form, and what is kept of them."""

import re
from uuid import uuid4

import pytest

from stores.secrets import digest, make_key_secret, opens, organisation_of


def test_a_key_names_its_organisation() -> None:
    organisation_id = uuid4()
    secret = make_key_secret(organisation_id)
    assert re.fullmatch(rf"tributary_{organisation_id.hex}_[A-Za-z0-9_-]{{43}}", secret)
    assert organisation_of(secret) == organisation_id


def test_two_keys_of_an_organisation_differ() -> None:
    organisation_id = uuid4()
    assert make_key_secret(organisation_id) != make_key_secret(organisation_id)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "tributary",
        f"tributary_{'0' * 32}",
        f"tributary_{'0' * 32}_{'a' * 42}",
        f"tributary_{'0' * 32}_{'a' * 44}",
        f"tributary_{'0' * 32}_{'a' * 43}\n",
        f"tributary_{'g' * 32}_{'a' * 43}",
        f"tributary_{'٠' * 32}_{'a' * 43}",
        f"Tributary_{'0' * 32}_{'a' * 43}",
    ],
)
def test_what_has_not_the_form_of_a_key_names_nobody(secret: str) -> None:
    assert organisation_of(secret) is None


def test_a_secret_opens_its_own_digest_alone() -> None:
    stored = digest("secret")
    assert opens("secret", stored)
    assert not opens("Secret", stored)
    assert not opens("secret", b"")


def test_any_text_has_a_digest() -> None:
    assert len(digest("half \ud800")) == len(digest("")) == 32
