"""Files on their way to a model, over HTTP: the limits at their edges, pictures made ready, what a bot says of its
model, and conversations that go on with another one."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from tests.support import files
from tests.support.provided import Chatting

pytest_plugins = ["tests.support.provided_fixtures"]

MB = 2**20


def wav(size: int) -> bytes:
    """A recording of just so many bytes."""
    header = len(files.wav(0))
    made = files.wav((size - header) / 16_000)
    return made + b"\x00" * (size - len(made))


def sounds(chatting: Chatting) -> list[str]:
    """The parts of the last question that are audio, and the notes between them."""
    return [part.get("text") or part["type"] for part in chatting.last_question]


def picture_sent(chatting: Chatting, part: int = 1, message: int = -1) -> Image.Image:
    """The picture that went over the wire."""
    url = chatting.last_call["messages"][message]["content"][part]["image_url"]["url"]
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


def test_a_file_of_two_megabytes_is_sent_and_a_byte_more_is_not(chatting: Chatting) -> None:
    claims = chatting.upload(("fits.wav", wav(2 * MB)), ("over.wav", wav(2 * MB + 1)))
    answer = chatting.ask(chatting.bot(), "Listen.", attachments=claims)
    assert sounds(chatting) == ["Listen.", "input_audio", "[File too large: over.wav (2.0 MB)]"]
    assert answer["notSent"] == [{"id": claims[1]["id"], "filename": "over.wav", "reason": "too_large"}]


def test_five_megabytes_go_together_in_the_order_given_and_a_byte_more_does_not(chatting: Chatting) -> None:
    bot = chatting.bot()
    two, one, more = ("two.wav", wav(2 * MB)), ("one.wav", wav(MB)), ("more.wav", wav(MB + 1))
    a, b, c, d = chatting.upload(two, ("again.wav", two[1]), one, more)
    chatting.ask(bot, "Listen.", attachments=[a, b, c])
    assert sounds(chatting) == ["Listen.", *["input_audio"] * 3]
    answer = chatting.ask(bot, "Listen.", attachments=[a, b, d, c])
    assert sounds(chatting) == [
        "Listen.",
        "input_audio",
        "input_audio",
        "[File too large: more.wav (1.0 MB)]",
        "input_audio",
    ]
    assert [each["filename"] for each in answer["notSent"]] == ["more.wav"]


def test_pictures_go_upright_with_plain_colours_and_one_frame(chatting: Chatting) -> None:
    deep = Image.new("I;16", (4, 2), 0x8000)
    claims = chatting.upload(
        ("turned.jpg", files.jpeg(orientation=6)),
        ("print.jpg", files.jpeg("CMYK")),
        ("indexed.png", files.png("P")),
        ("deep.png", files.encoded(deep, "PNG")),
        ("moving.webp", files.webp(frames=3)),
    )
    bot = chatting.bot()
    first = chatting.ask(bot, "Look.", attachments=claims)
    assert first["notSent"] == []
    sent = [picture_sent(chatting, part) for part in range(1, 6)]
    assert [(each.format, each.mode) for each in sent] == [
        ("JPEG", "RGB"),
        ("JPEG", "RGB"),
        ("PNG", "RGB"),
        ("PNG", "L"),
        ("WEBP", "RGB"),
    ]
    assert sent[0].size == (30, 40)
    assert getattr(sent[4], "n_frames", 1) == 1
    asked = chatting.last_question
    chatting.ask(bot, "And now?", conversationId=first["conversationId"])
    assert chatting.last_call["messages"][0]["content"] == asked


def test_the_limits_count_a_pictures_bytes_before_it_is_made_ready(chatting: Chatting) -> None:
    noise = files.encoded(Image.effect_noise((1_000, 1_000), 90).convert("RGB"), "PNG")
    small = files.encoded(Image.open(io.BytesIO(noise)).quantize(16), "PNG")
    assert len(noise) > 2 * MB > len(small)
    answer = chatting.ask(chatting.bot(), "Look.", attachments=chatting.upload(("n.png", noise), ("s.png", small)))
    assert [(each["filename"], each["reason"]) for each in answer["notSent"]] == [("n.png", "too_large")]
    assert picture_sent(chatting, 2).mode == "RGB"


def test_a_bot_may_have_large_pictures_made_smaller(chatting: Chatting) -> None:
    noise = files.encoded(Image.effect_noise((1_100, 1_000), 90).convert("RGB"), "PNG")
    claims = chatting.upload(("big.png", noise))
    bot = chatting.bot(shrinkImages=True)
    answer = chatting.ask(bot, "Look.", attachments=claims)
    assert answer["notSent"] == []
    sent = chatting.last_question[1]["image_url"]["url"]
    assert sent.startswith("data:image/jpeg;base64,")
    assert len(base64.b64decode(sent.partition(",")[2])) <= MB
    assert picture_sent(chatting).size[0] > 300
    changed = chatting.client.patch(f"/api/bots/{bot}", json={"shrinkImages": False}).json()
    assert changed["shrinkImages"] is False
    chatting.ask(bot, "Again.", conversationId=answer["conversationId"])
    assert chatting.last_call["messages"][0]["content"] == (
        "Look.\n\n[File of an earlier message, not sent again: big.png]"
    )


def test_what_a_bot_says_of_its_model_wins_over_lists_and_defaults(chatting: Chatting) -> None:
    bot = chatting.bot("openai/some-local-model", capabilities={"image": False, "audio": True})
    claims = chatting.upload(("a.png", files.png()), ("b.wav", files.wav()), ("c.pdf", files.pdf(1)))
    answer = chatting.ask(bot, "Look.", attachments=claims)
    assert sounds(chatting) == ["Look.", "This model does not support files: a.png, c.pdf", "input_audio"]
    assert [each["reason"] for each in answer["notSent"]] == ["unsupported", "unsupported"]

    changed = chatting.client.patch(f"/api/bots/{bot}", json={"capabilities": {"pdf": True, "maxOutput": 77}}).json()
    assert changed["capabilities"] == {
        "image": None,
        "pdf": True,
        "audio": None,
        "contextWindow": None,
        "maxOutput": 77,
    }
    chatting.ask(bot, "Look.", attachments=claims)
    assert [part["type"] for part in chatting.last_question] == ["text", "text", "image_url", "file"]
    assert chatting.last_call["max_tokens"] == 77


@pytest.mark.parametrize(
    "capabilities", [{"image": "perhaps"}, {"contextWindow": 1}, {"maxOutput": 0}, {"video": True}, [], "all"]
)
def test_nonsense_about_a_model_is_refused(chatting: Chatting, capabilities: Any) -> None:
    body = {"name": "b", "model": "openai/x", "capabilities": capabilities}
    response = chatting.client.post("/api/bots", json=body)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_message_over_the_window_that_a_bot_states_is_refused_with_the_names_of_its_files(
    chatting: Chatting,
) -> None:
    bot = chatting.bot(capabilities={"contextWindow": 1_000})
    text = "word " * 1_000
    claims = chatting.upload(("long.txt", text.encode()), ("a.png", files.png()))
    refused = chatting.post(bot, "Sum up.", attachments=claims)
    assert (refused.status_code, refused.json()["code"]) == (413, "message_too_large")
    assert "long.txt" in refused.json()["detail"]
    largest = refused.json()["files"][0]
    assert (largest["filename"], largest["size"]) == ("long.txt", 5_000)
    assert chatting.provider.chats == []
    [question] = chatting.messages(chatting.conversation())
    assert (question["status"], question["error"]["code"]) == ("failed", "message_too_large")


def test_a_long_past_is_shortened_and_the_newest_turn_is_kept_whole(chatting: Chatting) -> None:
    bot = chatting.bot(prompt="Be brief.", capabilities={"contextWindow": 2_000, "maxOutput": 100})
    conversation = chatting.ask(bot, "first " * 600)["conversationId"]
    chatting.ask(bot, "second " * 400, conversationId=conversation)
    newest = "third " * 600
    chatting.ask(bot, newest, conversationId=conversation)
    asked = chatting.last_call["messages"]
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "user"]
    assert (asked[0]["content"], asked[1]["content"][:6], asked[-1]["content"]) == ("Be brief.", "second", newest)


def test_a_text_of_an_earlier_turn_is_sent_again_only_while_it_fits(chatting: Chatting) -> None:
    bot = chatting.bot(capabilities={"contextWindow": 4_000, "maxOutput": 100})
    claims = chatting.upload(("notes.txt", b"The crane is green. " * 500))
    first = chatting.ask(bot, "Which colour?", attachments=claims)
    chatting.ask(bot, "Sure?", conversationId=first["conversationId"])
    assert "The crane is green." in chatting.last_call["messages"][0]["content"]
    chatting.ask(bot, "Sure? " * 1_200, conversationId=first["conversationId"])
    assert chatting.last_call["messages"][0]["content"] == (
        "Which colour?\n\n[File of an earlier message, not sent again: notes.txt]"
    )


def test_a_conversation_goes_on_with_models_that_take_other_forms_or_none(chatting: Chatting) -> None:
    png, pdf, sound = files.png(), files.pdf(1), files.mp3()
    claims = chatting.upload(("a.png", png), ("b.pdf", pdf), ("c.mp3", sound))
    bot = chatting.bot("openrouter/stub/all")
    conversation = chatting.ask(bot, "one", attachments=claims)["conversationId"]

    chatting.client.patch(f"/api/bots/{bot}", json={"model": "google/gemini-2.5-flash"})
    chatting.ask(bot, "two", conversationId=conversation)
    parts = chatting.last_call["contents"][0]["parts"]
    sent = [
        (part["inlineData"]["mime_type"], base64.urlsafe_b64decode(part["inlineData"]["data"])) for part in parts[1:]
    ]
    assert sent == [("image/png", png), ("application/pdf", pdf), ("audio/mp3", sound)]

    chatting.client.patch(f"/api/bots/{bot}", json={"model": "openrouter/stub/hears"})
    chatting.ask(bot, "three", conversationId=conversation)
    assert [
        part.get("text") or part["input_audio"]["format"] for part in chatting.last_call["messages"][0]["content"]
    ] == [
        "one",
        "[File of an earlier message, not sent again: a.png]",
        "[File of an earlier message, not sent again: b.pdf]",
        "mp3",
    ]

    chatting.client.patch(f"/api/bots/{bot}", json={"model": "openrouter/stub/text"})
    chatting.ask(bot, "four", conversationId=conversation)
    assert chatting.last_call["messages"][0]["content"].count("not sent again") == 3
    assert [message["role"] for message in chatting.last_call["messages"]] == ["user", "assistant"] * 3 + ["user"]


@pytest.mark.parametrize("model", ["openrouter/stub/all", "google/gemini-2.5-flash"])
@pytest.mark.parametrize("text", ["", " \n "])
def test_a_question_of_a_file_alone_goes_without_a_text_then_and_later(
    chatting: Chatting, model: str, text: str
) -> None:
    bot = chatting.bot(model)
    claims = chatting.upload(("a.png", files.png()), ("b.txt", b"The crane is green."))
    first = chatting.ask(bot, text, attachments=claims)
    assert len(chatting.last_question) == 2
    chatting.ask(bot, "And?", conversationId=first["conversationId"])
    body = chatting.last_call
    earlier = body["messages"][0]["content"] if "messages" in body else body["contents"][0]["parts"]
    assert len(earlier) == 2
    assert "".join(part.get("text", "") for part in earlier) == "[File: b.txt]\nThe crane is green."
    chatting.client.patch(f"/api/bots/{bot}", json={"model": "openrouter/stub/text"})
    chatting.ask(bot, "And?", conversationId=first["conversationId"])
    assert chatting.last_call["messages"][0]["content"] == (
        "[File of an earlier message, not sent again: a.png]\n\n[File: b.txt]\nThe crane is green."
    )


def test_a_file_that_is_attached_again_goes_once(chatting: Chatting) -> None:
    claims = chatting.upload(("a.png", files.png()))
    bot = chatting.bot()
    conversation = chatting.ask(bot, "one", attachments=claims)["conversationId"]
    chatting.ask(bot, "two", conversationId=conversation, attachments=[{"id": claims[0]["id"]}])
    first, _, last = chatting.last_call["messages"]
    assert first["content"] == "one\n\n[File of an earlier message, not sent again: a.png]"
    assert [part["type"] for part in last["content"]] == ["text", "image_url"]


def test_the_description_of_the_api_tells_what_a_bot_may_say_of_its_model(chatting: Chatting) -> None:
    schemas = chatting.client.get("/openapi.json").json()["components"]["schemas"]
    assert set(schemas["CapabilitiesBody"]["properties"]) == {"image", "pdf", "audio", "contextWindow", "maxOutput"}
    for name in ("NewBot", "BotChanges", "BotShape"):
        assert {"capabilities", "shrinkImages"} <= set(schemas[name]["properties"])
