"""What a call cost, as OpenRouter tells it."""

from decimal import Decimal, InvalidOperation
from typing import Any

#: Under this key of a chunk's `response_metadata` stands the cost of the call in US dollars.
COST_KEY = "tributary_cost"


def cost_of(usage: Any) -> str | None:
    """US dollars in OpenRouter's `usage`. With a key of the caller's own at the provider, OpenRouter's fee and the
    provider's bill are told apart, and both are paid."""
    if not isinstance(usage, dict) or usage.get("cost") is None:
        return None
    details = usage.get("cost_details")
    upstream = details.get("upstream_inference_cost") if usage.get("is_byok") and isinstance(details, dict) else None
    try:
        cost = Decimal(str(usage["cost"])) + Decimal(str(upstream or 0))
    except InvalidOperation:
        return None
    return str(cost) if cost.is_finite() and cost >= 0 else None
