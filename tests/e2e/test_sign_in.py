"""Signing in with a browser: the page, the cookie, and what it is worth from where."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.provided import Chatting

if TYPE_CHECKING:
    from tests.support.provided_fixtures import _Provided

pytest_plugins = ["tests.support.provided_fixtures"]

COOKIE = "tributary_session"


@pytest.fixture
def key(chatting: Chatting) -> str:
    return str(chatting.client.headers["Authorization"]).removeprefix("Bearer ")


@pytest.fixture
def browser(provided: "_Provided") -> Iterator[httpx.Client]:
    """A client that sends what browsers send with a page's own requests."""
    headers = {"Origin": provided.url, "Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=provided.url, headers=headers, timeout=60) as client:
        yield client


def sign_in(browser: httpx.Client, key: str, following: str = "/graphs/chat/playground/") -> httpx.Response:
    return browser.post("/sign-in", data={"key": key, "next": following})


def test_a_key_becomes_a_cookie_that_no_script_and_no_other_site_gets(browser: httpx.Client, key: str) -> None:
    response = sign_in(browser, key, "/graphs/retrieval/playground/?a=b")
    assert (response.status_code, response.headers["location"]) == (303, "/graphs/retrieval/playground/?a=b")
    cookie = response.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert key not in cookie


def test_the_cookie_serves_all_of_the_api(browser: httpx.Client, key: str) -> None:
    sign_in(browser, key)
    bot = browser.post("/api/bots", json={"name": "b", "model": "openrouter/stub/all"}).json()["id"]
    asked = {"message": "Why?", "botId": bot}
    assert browser.post("/graphs/chat/invoke", json={"input": asked}).json()["output"]["message"]
    assert browser.get("/api/bots").json()["items"][0]["id"] == bot
    assert browser.patch(f"/api/bots/{bot}", json={"name": "c"}).status_code == 200
    unused = browser.post("/api/bots", json={"name": "unused"}).json()["id"]
    assert browser.delete(f"/api/bots/{unused}").status_code == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
    ids=str,
)
def test_pages_of_other_sites_change_nothing_with_it(
    provided: "_Provided", chatting: Chatting, browser: httpx.Client, key: str, headers: dict[str, str]
) -> None:
    sign_in(browser, key)
    bot = chatting.bot()
    with httpx.Client(base_url=provided.url, cookies=dict(browser.cookies), headers=headers, timeout=60) as foreign:
        for method, path in (
            ("POST", "/api/bots"),
            ("PATCH", f"/api/bots/{bot}"),
            ("DELETE", f"/api/bots/{bot}"),
            ("POST", f"/api/bots/{bot}/chat"),
            ("POST", "/graphs/chat/invoke"),
            ("POST", "/sign-out"),
        ):
            response = foreign.request(method, path, json={"name": "n", "message": "m", "input": {}})
            assert (response.status_code, response.json()["code"]) == (403, "forbidden"), path
        planted = foreign.post("/sign-in", data={"key": key})
        assert (planted.status_code, "set-cookie" in planted.headers) == (403, False)
    assert browser.get(f"/api/bots/{bot}").json()["name"] == "b"


def test_pages_of_other_sites_read_nothing_with_it_either(browser: httpx.Client, key: str) -> None:
    sign_in(browser, key)
    for site in ("cross-site", "same-site"):
        assert browser.get("/api/bots", headers={"Sec-Fetch-Site": site}).status_code == 403
    followed = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}
    assert browser.get("/graphs/chat/playground/", headers=followed).status_code == 200


def test_a_key_is_asked_for_no_origin(provided: "_Provided", key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    assert httpx.post(f"{provided.url}/api/bots", json={"name": "b"}, headers=headers).status_code == 201


def test_signing_out_ends_the_sign_in_for_who_kept_the_cookie(browser: httpx.Client, key: str) -> None:
    sign_in(browser, key)
    kept = browser.cookies[COOKIE]
    assert "Sign out" in browser.get("/sign-in").text
    response = browser.post("/sign-out")
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert COOKIE not in browser.cookies
    assert 'name="key"' in browser.get("/sign-in").text
    browser.cookies.set(COOKIE, kept)
    assert browser.get("/api/bots").json()["code"] == "unauthorized"


def test_signing_in_again_ends_the_sign_in_before(browser: httpx.Client, key: str) -> None:
    sign_in(browser, key)
    first = browser.cookies[COOKIE]
    sign_in(browser, key)
    assert browser.get("/api/bots").status_code == 200
    browser.cookies.clear()
    browser.cookies.set(COOKIE, first)
    assert browser.get("/api/bots").status_code == 401


@pytest.mark.parametrize("wrong", ["", "nonsense", "é" * 40, "<script>alert(1)</script>"])
def test_a_wrong_key_is_told_on_the_page_and_gives_no_cookie(browser: httpx.Client, wrong: str) -> None:
    response = sign_in(browser, wrong)
    assert (response.status_code, 'role="alert"' in response.text) == (401, True)
    assert "set-cookie" not in response.headers
    assert "<script" not in response.text


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/a\r\nb",
        "",
    ],
)
def test_a_sign_in_leads_to_pages_of_this_server_alone(browser: httpx.Client, key: str, elsewhere: str) -> None:
    assert sign_in(browser, key, elsewhere).headers["location"] == "/"
    page = browser.get("/sign-in", params={"next": elsewhere}).text
    assert "evil" not in page
    assert "javascript:" not in page


def test_the_page_runs_no_script_and_stands_in_no_frame(browser: httpx.Client) -> None:
    response = browser.get("/sign-in", params={"next": '/"><script>alert(1)</script>'})
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["cache-control"] == "no-store"
    assert "<script" not in response.text


def test_who_opens_a_playground_unsigned_is_led_to_the_sign_in(browser: httpx.Client) -> None:
    opened = browser.get("/graphs/chat/playground/", headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"})
    assert (opened.status_code, opened.headers["location"]) == (303, "/sign-in?next=%2Fgraphs%2Fchat%2Fplayground%2F")
