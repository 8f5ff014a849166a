"""Files on their way to a question in the page: dragged, pasted, left out with a reason, kept with what broke off."""

from pathlib import Path

from playwright.sync_api import expect

from tests.support.files import png
from tests.support.hands import Drag, paste_picture
from tests.support.provider_faults import Cut
from tests.support.visiting import Visitor

pytest_plugins = ["tests.support.visiting_fixtures"]

NOTES = b"The ferry leaves at seven."


def test_files_are_dragged_onto_the_chat(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    (tmp_path / "notes.txt").write_bytes(NOTES)
    (tmp_path / "photo.png").write_bytes(png())
    (tmp_path / "tool.exe").write_bytes(b"MZ" + bytes(200))
    hint = page.get_by_text("Drop files here")
    drag = Drag(page, *sorted(tmp_path.iterdir()))
    drag.over(page.get_by_role("main"))
    expect(hint).to_be_visible()
    drag.drop()
    expect(hint).to_have_count(0)
    expect(page.locator(".draft.ready")).to_have_count(2)
    expect(page.locator(".draft.refused")).to_contain_text("a program")
    visitor.ask("When does it leave?")
    visitor.answered("The stub answers.")
    assert "The ferry leaves at seven." in str(visitor.chatting.last_question)
    expect(visitor.questions.get_by_role("link")).to_have_count(2)


def test_a_picture_is_pasted_and_text_stays_text(visitor: Visitor) -> None:
    page = visitor.page
    expect(visitor.composer).to_be_focused()
    paste_picture(page, png(size=(64, 48)))
    expect(page.locator(".draft.ready")).to_have_count(1)
    expect(page.locator(".draft img")).to_have_js_property("naturalWidth", 64)
    page.evaluate("navigator.clipboard.writeText('What is it?')")
    page.keyboard.press("ControlOrMeta+V")
    expect(visitor.composer).to_have_value("What is it?")
    page.keyboard.press("Enter")
    visitor.answered("The stub answers.")
    expect(visitor.questions.get_by_role("img")).to_have_count(0)
    expect(visitor.questions.locator("img")).to_have_js_property("naturalWidth", 64)
    assert [part["type"] for part in visitor.chatting.last_question] == ["text", "image_url"]


def test_a_file_that_is_too_large_for_the_model_is_told_with_its_size(visitor: Visitor) -> None:
    visitor.attach(("log.txt", b"All is well. " * 250_000), ("notes.txt", NOTES))
    expect(visitor.page.locator(".draft.ready")).to_have_count(2)
    visitor.ask("What happened?")
    answer = visitor.answered("The stub answers.")
    question = visitor.questions.last.get_by_role("listitem")
    expect(question.filter(has_text="log.txt")).to_contain_text("The model did not get it")
    expect(question.filter(has_text="log.txt")).to_contain_text("3.1 MB")
    expect(question.filter(has_text="notes.txt")).not_to_contain_text("The model did not get it")
    expect(answer.get_by_role("note")).to_contain_text("log.txt")
    assert "[File too large: log.txt (3.1 MB)]" in str(visitor.chatting.last_question)


def test_a_question_whose_answer_broke_off_keeps_its_file_and_tells_the_problem(visitor: Visitor) -> None:
    page = visitor.page
    visitor.provider.answer = "One two three four."
    visitor.provider.next_chat(Cut(2, abrupt=True))
    visitor.attach(("notes.txt", NOTES))
    expect(page.locator(".draft.ready")).to_have_count(1)
    visitor.ask("When does it leave?")
    for _ in range(2):
        answer = visitor.answers.last
        expect(answer).to_contain_text("One two")
        expect(answer).to_contain_text("The answer broke off here.")
        [stored] = [each for each in visitor.chatting.messages(visitor.conversation) if each["role"] == "assistant"]
        expect(answer).to_contain_text(stored["error"]["detail"])
        expect(visitor.questions.get_by_role("link", name="notes.txt")).to_be_visible()
        page.reload()
    with page.expect_download() as download:
        visitor.questions.get_by_role("link", name="notes.txt").click()
    assert Path(download.value.path()).read_bytes() == NOTES
    page.get_by_role("button", name="Try again").last.click()
    visitor.answered("One two three four.")
    assert "The ferry leaves at seven." in str(visitor.chatting.last_question)
