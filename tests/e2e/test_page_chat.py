"""Chatting in the page, in a real browser."""

import re

from playwright.sync_api import expect

from tests.support.files import pdf, png
from tests.support.provider_faults import Cut, Pause, Refuse
from tests.support.visiting import Visitor

pytest_plugins = ["tests.support.visiting_fixtures"]


def test_a_question_is_answered_as_it_is_written_and_both_stay(visitor: Visitor) -> None:
    pause = Pause(2)
    visitor.provider.answer = (
        "Paris is the *capital*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\nAnd $e^x$."
    )
    visitor.provider.next_chat(pause)
    visitor.ask("Which is the capital?")
    expect(visitor.answers.last).to_contain_text("Paris is")
    expect(visitor.answers.last).to_have_attribute("aria-busy", "true")
    expect(visitor.composer).to_have_value("")
    pause.event.set()
    answer = visitor.answered("capital")
    expect(answer.locator("em")).to_have_text("capital")
    expect(answer.get_by_role("cell", name="2")).to_be_visible()
    expect(answer.locator("code .code-number")).to_have_text("1")
    expect(answer.locator(".katex math")).to_have_count(1)
    visitor.page.reload()
    visitor.answered("Paris is the capital.")
    expect(visitor.questions).to_contain_text("Which is the capital?")
    expect(visitor.page.get_by_role("navigation", name="Conversations").get_by_role("link")).to_have_count(1)


def test_files_go_along_and_refusals_stand_beside_theirs(visitor: Visitor) -> None:
    visitor.attach(("photo.png", png()), ("notes.txt", b"The ferry leaves at seven."))
    expect(visitor.drafts).to_have_count(2)
    visitor.attach(("table.xlsx", b"PK\x03\x04" + b"\0" * 60), ("empty.txt", b""), ("cut.pdf", pdf()[:200]))
    refused = visitor.page.locator(".draft.refused")
    expect(refused).to_have_count(3)
    expect(refused.filter(has_text="table.xlsx")).to_contain_text("a ZIP archive or an Office document")
    expect(refused.filter(has_text="empty.txt")).to_contain_text("empty")
    expect(refused.filter(has_text="cut.pdf").locator(".reason")).not_to_be_empty()
    visitor.page.get_by_role("button", name="Remove empty.txt").click()
    expect(visitor.drafts).to_have_count(4)
    visitor.ask("What is in them?")
    visitor.answered("The stub answers.")
    kinds = [part["type"] for part in visitor.chatting.last_question]
    assert kinds.count("image_url") == 1
    assert "The ferry leaves at seven." in str(visitor.chatting.last_question)
    expect(visitor.questions.get_by_role("link")).to_have_text([re.compile("photo.png"), re.compile("notes.txt")])
    expect(visitor.drafts).to_have_count(0)


def test_more_files_than_a_message_takes_are_refused_one_by_one(visitor: Visitor) -> None:
    visitor.attach(*((f"{number}.txt", b"text") for number in range(7)))
    expect(visitor.page.locator(".draft.refused")).to_have_count(2)
    expect(visitor.page.locator(".draft.ready")).to_have_count(5)
    visitor.page.get_by_role("button", name="Remove 0.txt").click()
    visitor.attach(("another.txt", b"text"))
    expect(visitor.page.locator(".draft.ready")).to_have_count(5)


def test_what_the_model_did_not_get_is_told_beside_the_file(visitor: Visitor) -> None:
    bot = visitor.chatting.bot("openrouter/stub/text", name="Blind")
    visitor.choose(bot)
    visitor.attach(("photo.png", png()))
    visitor.ask("What is it?")
    visitor.answered("The stub answers.")
    expect(visitor.questions.last).to_contain_text("The model did not get it")


def test_stop_keeps_what_was_written(visitor: Visitor) -> None:
    pause = Pause(2)
    visitor.provider.answer = "One two three four five six."
    visitor.provider.next_chat(pause)
    visitor.ask("Count")
    expect(visitor.answers.last).to_contain_text("One two")
    visitor.page.get_by_role("button", name="Stop").click()
    expect(visitor.answers.last).to_contain_text("You stopped here.")
    pause.event.set()
    expect(visitor.answers.last).not_to_contain_text("six")
    visitor.page.get_by_role("button", name="Try again").click()
    visitor.answered("One two three four five six.")
    expect(visitor.questions).to_have_count(1)


def test_the_last_question_can_be_edited(visitor: Visitor) -> None:
    visitor.attach(("notes.txt", b"The ferry leaves at seven."))
    expect(visitor.page.locator(".draft.ready")).to_have_count(1)
    visitor.ask("When does it leave?")
    visitor.answered("The stub answers.")
    visitor.page.get_by_role("button", name="Edit").click()
    expect(visitor.composer).to_have_value("When does it leave?")
    expect(visitor.drafts).to_contain_text(["notes.txt"])
    visitor.provider.answer = "At seven."
    visitor.ask("And when exactly?")
    visitor.answered("At seven.")
    expect(visitor.questions).to_have_count(1)
    expect(visitor.questions).to_contain_text("And when exactly?")
    assert "The ferry leaves at seven." in str(visitor.chatting.last_question)


def test_who_leaves_in_mid_answer_comes_back_to_it(visitor: Visitor) -> None:
    pause = Pause(2)
    visitor.provider.answer = "One two three four five six."
    visitor.provider.next_chat(pause)
    visitor.ask("Count")
    expect(visitor.answers.last).to_contain_text("One two")
    visitor.page.wait_for_url(re.compile("#/chat/.+"))
    visitor.page.reload()
    expect(visitor.answers.last).to_contain_text("One two")
    expect(visitor.page.get_by_role("button", name="Stop")).to_be_visible()
    visitor.page.get_by_role("link", name="New conversation").click()
    expect(visitor.answers).to_have_count(0)
    visitor.page.go_back()
    expect(visitor.answers.last).to_contain_text("One two")
    other = visitor.another()
    other.goto(visitor.page.url)
    expect(other.get_by_role("article", name="Answer")).to_contain_text("One two")
    pause.event.set()
    for page in (visitor.page, other):
        expect(page.get_by_role("article", name="Answer")).to_contain_text("six.")
        expect(page.get_by_role("button", name="Copy", exact=True)).to_be_visible()


def test_a_failure_is_told_and_can_be_tried_again(visitor: Visitor) -> None:
    visitor.provider.next_chat(*[Refuse(400, message="no such thing")])
    visitor.ask("Why?")
    expect(visitor.page.get_by_role("alert").first).to_contain_text("failed")
    visitor.page.get_by_role("button", name="Try again").click()
    visitor.answered("The stub answers.")
    expect(visitor.questions).to_have_count(1)


def test_an_answer_that_breaks_off_is_kept_as_far_as_it_came(visitor: Visitor) -> None:
    visitor.provider.answer = "One two three four."
    visitor.provider.next_chat(Cut(2))
    visitor.ask("Count")
    expect(visitor.answers.last).to_contain_text("The answer broke off here.")
    visitor.page.get_by_role("button", name="Try again").last.click()
    visitor.answered("One two three four.")


def test_a_question_that_is_refused_comes_back_to_be_changed(visitor: Visitor) -> None:
    with visitor.page.expect_response("**/api/bot/attachments/upload") as uploaded:
        visitor.attach(("notes.txt", b"The ferry leaves at seven."))
    sent = uploaded.value.json()
    expect(visitor.page.locator(".draft.ready")).to_have_count(1)
    gone = visitor.chatting.client.delete(f"/api/bot/attachments/{sent['id']}", params={"token": sent["accessToken"]})
    assert gone.status_code == 204
    visitor.ask("When does it leave?")
    expect(visitor.page.get_by_role("alert")).to_contain_text(sent["id"])
    expect(visitor.composer).to_have_value("When does it leave?")
    expect(visitor.drafts).to_contain_text(["notes.txt"])
    expect(visitor.questions).to_have_count(0)
    visitor.page.get_by_role("button", name="Remove notes.txt").click()
    visitor.ask("When does the ferry leave?")
    visitor.answered("The stub answers.")
    expect(visitor.questions).to_have_text(re.compile("^When does the ferry leave"))
    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_a_question_that_does_not_fit_says_why_and_is_edited(visitor: Visitor) -> None:
    bot = visitor.chatting.bot(name="Short", capabilities={"contextWindow": 512, "maxOutput": 64})
    visitor.choose(bot)
    long = ("word " * 3000).strip()
    visitor.ask(long)
    expect(visitor.page.get_by_role("alert")).to_contain_text("The message needs about")
    visitor.page.get_by_role("button", name="Edit").click()
    expect(visitor.composer).to_have_value(long)
    visitor.ask("A word?")
    visitor.answered("The stub answers.")
    expect(visitor.questions).to_have_count(1)
    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_a_long_answer_grows_without_drawing_its_beginning_again(visitor: Visitor) -> None:
    pause = Pause(100)
    visitor.provider.answer = "\n\n".join(f"Paragraph {number} of many." for number in range(60))
    visitor.provider.next_chat(pause)
    visitor.ask("Go")
    live = visitor.page.locator(".answer.live .block")
    expect(live.nth(20)).to_contain_text("Paragraph 20")
    visitor.page.evaluate(
        """() => {
            window.first = document.querySelector('.answer.live .block');
            window.drawn = window.parted = 0;
            const count = (all) => (window.drawn += all.length);
            new MutationObserver(count).observe(first, { subtree: true, childList: true });
            const look = () => (window.parted += Number(!first.isConnected && document.querySelector('.answer.live')));
            new MutationObserver(look).observe(first.parentElement, { childList: true });
        }"""
    )
    pause.event.set()
    visitor.answered("Paragraph 59 of many.")
    assert visitor.page.evaluate("[first.textContent.trim(), drawn, parted]") == ["Paragraph 0 of many.", 0, 0]


def test_conversations_are_searched_renamed_and_deleted(visitor: Visitor) -> None:
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    for title in ("Ferries to Sylt", "Trains to Oslo"):
        visitor.chatting.ask(bot, title)
    listed = visitor.page.get_by_role("navigation", name="Conversations").get_by_role("listitem")
    visitor.page.reload()
    expect(listed).to_have_count(2)
    visitor.page.get_by_label("Search conversations").fill("sylt")
    expect(listed).to_have_count(1)
    listed.first.hover()
    visitor.page.get_by_role("button", name="Rename Ferries to Sylt").click()
    visitor.page.get_by_label("Title").fill("Boats to Sylt")
    visitor.page.keyboard.press("Enter")
    expect(listed).to_contain_text(["Boats to Sylt"])
    listed.first.hover()
    visitor.page.get_by_role("button", name="Delete Boats to Sylt").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(listed).to_have_count(0)
    visitor.page.get_by_label("Search conversations").fill("")
    expect(listed).to_have_count(1)
    assert len(visitor.chatting.client.get("/api/conversations").json()["items"]) == 1


def test_bots_are_made_changed_and_deleted(visitor: Visitor) -> None:
    base = visitor.chatting.client.post("/knowledge/kb", json={"name": "Ferries"}).json()["id"]
    page = visitor.page
    page.get_by_role("button", name="New bot").click()
    form = page.get_by_role("dialog", name="New bot")
    form.get_by_label("Name").fill("Grace")
    form.get_by_label("Prompt").fill("Be brief.")
    form.get_by_role("combobox", name="Model").fill("nowhere/none")
    form.get_by_label("Ferries").check()
    form.get_by_label("Words").fill("0.4")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("nowhere/none")
    form.get_by_role("combobox", name="Model").fill("openrouter/stub/all")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    [made] = [each for each in visitor.chatting.client.get("/api/bots").json()["items"] if each["name"] == "Grace"]
    assert (made["prompt"], made["knowledgeBaseIds"], made["weights"]["text"]) == ("Be brief.", [base], 0.4)
    page.get_by_role("button", name="Change bot Grace").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete bot").click()
    page.get_by_role("dialog", name="Delete this bot?").get_by_role("button", name="Delete").click()
    expect(page.get_by_label("Bot to ask")).to_contain_text("Ada")
    expect(page.get_by_label("Bot to ask")).not_to_contain_text("Grace")


def test_what_somebody_asks_elsewhere_is_seen_here(visitor: Visitor) -> None:
    visitor.ask("First?")
    visitor.answered("The stub answers.")
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    visitor.provider.answer = "From elsewhere."
    visitor.chatting.ask(bot, "Second?", conversationId=visitor.conversation)
    visitor.page.evaluate("dispatchEvent(new Event('focus'))")
    visitor.answered("From elsewhere.")
    expect(visitor.questions).to_have_count(2)
