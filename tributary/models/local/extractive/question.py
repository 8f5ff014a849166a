"""What a question asks for, as weighted keys."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tributary.text.words import keys, term_spans

#: A word that frames a question ("what are the key points of …") says little about its topic; a name says much.
FRAME_WEIGHT = 0.3
NAME_WEIGHT = 1.5
#: What the questions before this one weigh: they are what a short question like "and for families?" is about.
FOLLOW_UP_WEIGHT = 0.5
EARLIER_WEIGHT = 0.15
#: A question of at most so many keys is a follow-up if there was one before it.
_SHORT = 2
#: Characters of a question that are read: what is asked stands before or behind what was pasted.
_LONGEST = 4_000
#: Questions before this one that are looked at.
_EARLIER = 2

_FRAME = frozenset(
    key
    for words in (
        """answer aspect associated available benefit consider consideration define describe detail difference document
        entail example exist explain feature file find following give handle happen help implication important include
        inform information kind know list main key mean mention method need offer overview please point possible process
        provide purpose question reason regard relation relate require role say show specific step summary summarise
        summarize tell text think tip topic type understand use way work according""",
        """antwort arbeitet bedeutet beispiel beschreibe datei dokument erklare frage funktioniert gibt grund heisst
        liste nenne sage schritt text unterschied vorteil wichtig zeige zusammenfassung""",
        """avantage difference document donne exemple explique fichier fonctionne liste moyen raison reponse resume
        signifie texte""",
        """archivo beneficio diferencia documento ejemplo explica funciona lista manera razon respuesta resumen
        significa texto ventaja""",
        """вопрос документ значит объясни ответ перечисли пример причина работает разница расскажи список способ
        текст файл""",
    )
    for word in words.split()
    for key in keys(word)
)
#: Function words of scripts without spaces: n-grams over their edges would only be noise.
_FUNCTION_WORDS = re.compile(
    "什么|怎么|怎样|如何|哪里|哪些|哪个|哪家|为什么|为何|何时|何人|多少|是否|可以|能否|因为|所以|请问|时候|甚麼|什麼|怎麼"
    "|[的了是在和与與及对對为為以其之也而但或被把从從到于於有这這那你我他她它们們个個不就都很哪谁誰几幾吗嗎呢由何]"
    "|[\u3041-\u309f]+"
    "|เมื่อไหร่|เมื่อใด|เท่าไหร่|เท่าไร|อย่างไร|อย่าง|อะไร|ทำไม|เมื่อ|เป็น|ของ|และ|ใคร|ไหน|ที่|ใน|ได้|ให้|จาก|มี|การ|ความ|ว่า"
    "|กับ|โดย|คือ|อยู่|ใด|เท่า|กี่|ไร|หรือ|ไม่|นี้|นั้น|ถูก|จะ|ต้อง|แก่|ต่อ|ซึ่ง|เพื่อ|เพราะ|บ้าง|แล้ว|ก็|กัน|แห่ง|ด้วย|ตาม|ถึง"
)
_WORD = re.compile(r"[^\W_][\w-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]\s{1,4}|\n)[\"'“„«¿¡(]{0,2}$")
_LOOK_BACK = 8
_OVERVIEW = re.compile(
    r"\b(?:summar\w+|overview|tl;?dr|gist|main points|key points|about\s*\?|zusammenfass\w*|überblick|worum geht"
    r"|résum\w+|de quoi|resum\w+|riassu\w+|de qué trata|кратк\w+|обобщи\w*|перескаж\w*|о чём|о чем)\b"
    r"|总结|總結|摘要|概括|概要|要約|まとめ|สรุป|ملخص|لخص",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\b(?:how (?:much|many|long|often|old|far|big|large|high)|costs?|price|amount|percent\w*|when|date|year|number"
    r"|wie ?(?:viel\w*|lange?|hoch|oft|groß)|wann|kosten|preis|combien|quand|prix|cu[aá]nt[oa]s?|cu[aá]ndo|precio"
    r"|quant[oaie]|quando|prezzo|preço|сколько|когда|цена|стоимость)\b|多少|几|什么时候|いくら|いつ|何年|เท่าไ|เมื่อไ|กี่|كم|متى",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """`own` are the weights of the question's keys, `earlier` those of the conversation's that it does not have.
    Where it has none of its own, the earlier ones are what it asks for."""

    text: str
    own: dict[str, float]
    earlier: dict[str, float]
    #: It asks what a text says as a whole.
    overview: bool
    #: A number or date is likely to be the answer.
    quantity: bool


def read_question(text: str, earlier: Sequence[str]) -> Question:
    """A question in its conversation; `earlier` are the user's questions before it, oldest first."""
    own = weigh(text)
    before = weigh("\n".join(earlier[-_EARLIER:]))
    is_follow_up = sum(weight > FRAME_WEIGHT for weight in own.values()) <= _SHORT
    factor = FOLLOW_UP_WEIGHT if is_follow_up else EARLIER_WEIGHT
    return Question(
        text=text,
        own=own,
        earlier={key: factor * weight for key, weight in before.items() if key not in own},
        overview=_OVERVIEW.search(text, 0, _LONGEST) is not None,
        quantity=_QUANTITY.search(text, 0, _LONGEST) is not None,
    )


def weigh(text: str) -> dict[str, float]:
    """The keys of a question with their weights, in reading order. Of a pasted text its two ends are read."""
    text = text.strip()
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    content = _FUNCTION_WORDS.sub(" ", text)
    # What the removal leaves alone of a script without spaces meets no n-gram of a document.
    asked = [key for key in _content_keys(content) if len(key) > 1 or key.isascii()] or _content_keys(text)
    names = _names(text)
    return {
        key: FRAME_WEIGHT if key in _FRAME else NAME_WEIGHT if key in names else 1.0 for key in dict.fromkeys(asked)
    }


def _content_keys(text: str) -> list[str]:
    """`keys`, but none for a text of function words alone."""
    return keys(text) if term_spans(text) else []


def _names(text: str) -> frozenset[str]:
    """Keys of numbers, and of words in capitals where no sentence begins."""
    return frozenset(
        key
        for word in _WORD.finditer(text)
        if word[0].isdigit() or (word[0][0].isupper() and not _begins_sentence(text, word.start()))
        for key in keys(word[0])
    )


def _begins_sentence(text: str, at: int) -> bool:
    return _SENTENCE_START.search(text[max(0, at - _LOOK_BACK) : at]) is not None
