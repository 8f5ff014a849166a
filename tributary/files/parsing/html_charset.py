"""The encoding of an HTML page: its mark, what it declares, else what its bytes look like."""

import codecs
import re

from tributary.files.text import decode_as, detect_encoding, unicode_encoding

#: Declarations stand in the first kilobyte; pages with long comments before them are common.
_DECLARED_WITHIN = 8_192
_DECLARATION = re.compile(
    rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*(?P<meta>[\w.:-]{2,40})"
    rb"|<\?xml[^>]{0,256}?encoding\s*=\s*[\"'](?P<xml>[\w.:-]{2,40})",
    re.IGNORECASE,
)
#: What browsers read under these names is larger than what Python has under them.
_AS_BROWSERS_DO = {
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gb_2312-80", "gbk", "x-gbk", "chinese"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "korean", "windows-949"), "cp949"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "windows-874", "dos-874"), "cp874"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("big5", "x-x-big5", "cn-big5"), "big5hkscs"),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "mac_cyrillic"),
    **dict.fromkeys(("macintosh", "x-mac-roman", "mac"), "mac_roman"),
    # A declaration that can be read as ASCII is not in UTF-16, whatever it says.
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16be", "unicode", "utf-32"), "utf_8"),
    "x-user-defined": "cp1252",
}
#: A declaration is believed while it makes fewer of the bytes unreadable than this.
_MOST_UNREADABLE = 0.002


def decode_html(data: bytes) -> str:
    """The page's source as text, line ends as `\\n`.

    Raises:
        DamagedFile: these are not the bytes of a text in any encoding.
    """
    encoding = unicode_encoding(data[:4])
    if encoding is None and (declared := declared_encoding(data)):
        text = decode_as(data, declared)
        if text.count("\ufffd") <= _MOST_UNREADABLE * len(text):
            return text
    return decode_as(data, encoding or detect_encoding(data))


def declared_encoding(data: bytes) -> str | None:
    """The Python codec for what the page declares; None where it declares none that is known."""
    found = _DECLARATION.search(data, 0, _DECLARED_WITHIN)
    if found is None:
        return None
    name = (found["meta"] or found["xml"]).decode("ascii").lower()
    try:
        codec = codecs.lookup(_AS_BROWSERS_DO.get(name, name))
        "".encode(codec.name)  # some codecs are of bytes to bytes
    except LookupError:
        return None
    return codec.name
