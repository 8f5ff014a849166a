"""Messages on their way past the client that would look at each again."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from tributary.models.compatible import CompatibleChat
from tributary.models.direct import DirectChat
from tributary.models.openrouter import OpenRouterChat

SAID = [HumanMessage([{"type": "text", "text": "Which pump?"}])]
WRITTEN = [{"role": "user", "content": [{"type": "text", "text": "Which pump?"}]}]


@pytest.mark.parametrize("kind", [DirectChat, CompatibleChat, OpenRouterChat])
def test_messages_stand_where_the_client_does_not_look(kind: Any) -> None:
    payload = kind(model="any", api_key="key")._get_request_payload(SAID)
    assert payload["messages"] == []
    assert payload["extra_body"] == {"messages": WRITTEN}


def test_what_else_goes_past_the_client_stays() -> None:
    model = OpenRouterChat(model="any", api_key="key", extra_body={"usage": {"include": True}})
    payload = model._get_request_payload(SAID)
    assert payload["extra_body"] == {"usage": {"include": True}, "messages": WRITTEN}
    assert model.extra_body == {"usage": {"include": True}}
