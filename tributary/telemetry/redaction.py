"""What must not reach the log: secrets, by their form and by their value, and the words of errors that quote data."""

import re
from collections.abc import Iterable
from typing import Final

from tributary.domain.errors import DependencyError, ProviderError, TributaryError

REPLACEMENT: Final = "[redacted]"
#: Shorter values are words of the language, and not worth hiding.
_SHORTEST_SECRET = 6

#: Each with what may stay in front of the secret as its first group, and behind it as its second.
_FORMS = re.compile(
    r"(?P<scheme>(?i:\b(?:bearer|basic)\s+))[\w~+/.=-]{6,}"
    # Keys, sign-ins and links of ours: what they are, the organisation, and 32 random bytes.
    r"|\b[a-z]+_[0-9a-f]{32}_[\w-]{20,}"
    r"|\b(?:sk-|AIza|lsv2_|ghp_|xox[abp]-)[\w*-]{6,}"
    # Parameters of an address, and settings of a connection.
    r"|(?P<parameter>(?i:[?&;\s](?:access_?token|token|secret|api_?key|key|code|sig|signature|password|x-amz-[a-z-]+)=))"
    r"[^&\s\"'#;]+"
    r"|(?P<user>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+(?=@)"
    # An access token of an attachment: 48 random bytes.
    r"|(?<![\w-])[\w-]{64}(?![\w-])"
)

#: Errors whose words come from code, and never from what the code was given.
_OF_CODE = (AssertionError, AttributeError, ImportError, NameError, NotImplementedError, TypeError)


class Redactor:
    """Strikes secrets from a text: whatever has the form of one, and the values that this process was given."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({each for each in secrets if len(each) >= _SHORTEST_SECRET}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(REPLACEMENT, text)
        return _FORMS.sub(_keep_around, text)


def _keep_around(found: re.Match[str]) -> str:
    kept = found["scheme"] or found["parameter"] or found["user"] or ""
    return f"{kept}{REPLACEMENT}"


def words_of(error: BaseException) -> str:
    """What the log may say of an error beside its class: nothing where its message may quote what was worked on."""
    if isinstance(error, ProviderError):
        # Behind the colon stand the provider's own words, and a provider may quote the prompt.
        return f"{error.code}: {error.detail.partition(': ')[0]}"
    if isinstance(error, DependencyError) or type(error) is TributaryError:
        return f"{error.code}: {error.detail}"
    if isinstance(error, TributaryError):
        return error.code
    if isinstance(error, OSError):
        return error.strerror or ""
    if isinstance(error, _OF_CODE) or type(error) is RuntimeError:
        return str(error)
    state = getattr(error, "sqlstate", None)
    # Of class 22 are errors in values, which their message quotes; the others speak of statements and connections.
    if isinstance(state, str) and not state.startswith("22"):
        return f"{state}: {getattr(getattr(error, 'diag', None), 'message_primary', None) or ''}"
    return ""
