"""What calls cost: as the provider says, else by the operator's prices, else by the provider's list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from tributary.models.metering import ModelCall, is_local

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars: of a token read, of a token written, of a call."""

    input: Decimal
    output: Decimal
    call: Decimal = Decimal(0)

    @classmethod
    def of_text(cls, *amounts: str) -> "Price":
        """The inverse of `as_text`."""
        return cls(*(Decimal(amount) for amount in amounts))

    def as_text(self) -> tuple[str, str, str]:
        """All three exactly, for what keeps only text and binary fractions."""
        return str(self.input), str(self.output), str(self.call)

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        return self.input * input_tokens + self.output * output_tokens + self.call


def listed_price(pricing: Any) -> Price | None:
    """The price in a model list's entry: `{"prompt": "0.000001", "completion": …, "request": …}`, dollars a token.
    None for what can't be read; a negative price means that it depends on where the call ends up."""
    if not isinstance(pricing, Mapping) or "prompt" not in pricing or "completion" not in pricing:
        return None
    try:
        amounts = [Decimal(str(pricing.get(name) or 0)) for name in ("prompt", "completion", "request")]
    except InvalidOperation:
        return None
    return Price(*amounts) if all(amount.is_finite() and amount >= 0 for amount in amounts) else None


class Prices:
    """`set_prices` are the operator's, by model name: dollars for a million tokens read and written. `listed` gives
    what a provider's list says of a model."""

    def __init__(
        self, set_prices: Mapping[str, tuple[float, float]], listed: Callable[[str], Price | None] = lambda _: None
    ) -> None:
        self._set = {
            name: Price(Decimal(str(read)) / _MILLION, Decimal(str(written)) / _MILLION)
            for name, (read, written) in set_prices.items()
        }
        self._listed = listed

    def of(self, model: str) -> Price | None:
        """None where nobody says it. What runs on this machine costs nothing."""
        if is_local(model):
            return Price(Decimal(0), Decimal(0))
        return self._set.get(model) or self._listed(model)

    def cost(self, call: ModelCall) -> Decimal | None:
        """The cost of a call in US dollars."""
        if call.cost is not None:
            return call.cost
        price = self.of(call.model)
        return price.cost(call.input_tokens, call.output_tokens) if price else None
