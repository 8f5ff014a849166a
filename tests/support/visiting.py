"""People who use the page of a running server in a real browser."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from tests.support.provided import Chatting
from tests.support.provider import Provider

#: What a browser logs of each refusal of the server, which tests ask for; and hints for people who make pages.
_EXPECTED = re.compile(r"Failed to load resource|Password forms should have")


def eventually(page: Page, expression: str, argument: Any = None) -> Any:
    """What a function of the page gives as soon as that is true. The page's policy forbids playwright's own way, which
    evaluates within the page."""
    deadline = monotonic() + 20
    while not (found := page.evaluate(expression, argument)):
        assert monotonic() < deadline, f"not within 20 s: {expression}"
        page.wait_for_timeout(20)
    return found


@dataclass
class Watch:
    """What a page does that it must not."""

    #: Where the server is.
    url: str
    #: What the page logged as an error, violations of its policy included.
    errors: list[str] = field(default_factory=list)
    #: Addresses of other servers that the page asked for something.
    strangers: list[str] = field(default_factory=list)

    def over(self, page: Page) -> Page:
        page.set_default_timeout(20_000)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _EXPECTED.search(message.text):
            self.errors.append(message.text)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.url, "data:", "blob:")):
            self.strangers.append(url)


@dataclass
class Visitor:
    """Somebody who is signed in to an organisation of their own, at the page."""

    chatting: Chatting
    context: BrowserContext
    page: Page
    watch: Watch

    @property
    def provider(self) -> Provider:
        return self.chatting.provider

    @property
    def url(self) -> str:
        return self.watch.url

    @property
    def errors(self) -> list[str]:
        return self.watch.errors

    @property
    def strangers(self) -> list[str]:
        return self.watch.strangers

    def open(self, place: str = "chat") -> None:
        self.page.goto(f"{self.url}/#/{place}")

    def another(self) -> Page:
        """A second page of the same browser."""
        return self.watch.over(self.context.new_page())

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Your question")

    def choose(self, bot: str) -> None:
        """Reloads, so that new bots are known, and asks that one from now on."""
        self.page.reload()
        self.page.get_by_label("Bot to ask").select_option(bot)

    def write(self, text: str) -> None:
        self.composer.fill(text)

    def ask(self, text: str) -> None:
        self.write(text)
        self.page.keyboard.press("Enter")

    def attach(self, *files: tuple[str, bytes] | Path) -> None:
        """Picks files as people do in the browser's chooser."""
        given: list[Any] = [
            each if isinstance(each, Path) else {"name": each[0], "mimeType": "", "buffer": each[1]} for each in files
        ]
        self.page.locator("input[type=file]").set_input_files(given)

    @property
    def drafts(self) -> Locator:
        return self.page.get_by_role("list", name="Files of the question").get_by_role("listitem")

    @property
    def answers(self) -> Locator:
        return self.page.get_by_role("article", name="Answer")

    @property
    def questions(self) -> Locator:
        return self.page.get_by_role("article", name="Your question")

    def answered(self, text: str | re.Pattern[str]) -> Locator:
        """The last answer, once it is whole and has that text."""
        last = self.answers.last
        expect(last).to_contain_text(text)
        expect(last.get_by_role("button", name="Copy", exact=True)).to_be_visible()
        return last

    @property
    def conversation(self) -> str:
        """The id in the address."""
        return self.page.url.rpartition("/")[2]


def begin_visit(browser: Browser, chatting: Chatting, *, narrow: bool = False) -> Visitor:
    """A browser that is signed in with the client's key, and has not opened the page yet."""
    url = str(chatting.client.base_url).rstrip("/")
    size: Any = {"width": 375, "height": 740} if narrow else {"width": 1280, "height": 800}
    context = browser.new_context(viewport=size, has_touch=narrow, is_mobile=narrow, locale="en-GB")
    key = str(chatting.client.headers["Authorization"]).removeprefix("Bearer ")
    signed = context.request.post(f"{url}/sign-in", form={"key": key}, headers={"Origin": url}, max_redirects=0)
    assert signed.status == 303, signed.text()
    watch = Watch(url)
    return Visitor(chatting, context, watch.over(context.new_page()), watch)
