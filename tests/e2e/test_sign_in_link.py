"""Signing a browser in by the link that the command line prints."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.launching import Shared

BY_HAND = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
LED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}


@pytest.fixture
def link(shared: Shared, request: pytest.FixtureRequest) -> str:
    """The path of a link of an organisation that is this test's alone."""
    organisation = f"linked {request.node.name}"
    shared.launcher.key(organisation)
    printed = shared.launcher.command("link", "--org", organisation, "--url", f"{shared.running.url}/")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.startswith(f"{shared.running.url}/sign-in/link?secret=")
    return printed.stdout.strip().removeprefix(shared.running.url)


@pytest.fixture
def browser(shared: Shared) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared.running.url, timeout=60) as client:
        yield client


def test_a_link_signs_in_once(browser: httpx.Client, link: str, shared: Shared) -> None:
    for ahead in ({"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}):
        assert browser.get(link, headers={**BY_HAND, **ahead}).status_code == 200
    opened = browser.get(link, headers=BY_HAND)
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert opened.headers["referrer-policy"] == "no-referrer"
    session = browser.get("/api/session", headers={"Sec-Fetch-Site": "same-origin"}).json()
    assert (session["scope"], session["organisation"].startswith("linked ")) == ("full", True)
    with httpx.Client(base_url=shared.running.url) as another:
        again = another.get(link, headers=BY_HAND)
        assert again.status_code == 401
        assert "was used" in again.text
        assert "set-cookie" not in again.headers


def test_who_is_led_to_a_link_by_a_page_is_asked_first(browser: httpx.Client, link: str) -> None:
    asked = browser.get(link, headers=LED)
    assert asked.status_code == 200
    assert "set-cookie" not in asked.headers
    path, _, secret = link.partition("?secret=")
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert browser.post(path, data={"secret": secret}, headers=elsewhere).status_code == 403
    own = {"Origin": str(browser.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert browser.post(path, data={"secret": secret}, headers=own).status_code == 303
    assert browser.post(path, data={"secret": "x" * 50}, headers=own).status_code == 401


def test_an_organisation_without_a_key_has_no_link(shared: Shared) -> None:
    shared.launcher.key("chats only", scope="chat")
    printed = shared.launcher.command("link", "--org", "chats only")
    assert (printed.returncode != 0, printed.stdout) == (True, "")
    assert "no key of full scope" in printed.stderr


def test_what_is_no_secret_is_refused(browser: httpx.Client) -> None:
    assert browser.get("/sign-in/link?secret=%22%3E%3Cscript%3E", headers=LED).status_code == 422
    assert browser.get("/sign-in/link", headers=LED).status_code == 422
