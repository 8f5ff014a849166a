"""PDFs under AES-256 whose owner's password is empty. PDFium, which knows nothing of our code, judges the result."""

import hashlib
import struct
from pathlib import Path

import pypdfium2
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC, ECB

from tests.support.files import pdf, pdf_with_passwords
from tributary.domain.errors import DamagedFile
from tributary.files.pages import pdf_pages
from tributary.files.protection import open_to_all

FILE_KEY = bytes(range(32))
SALTS = b"validateforgekey"


def encrypted(key: bytes, data: bytes, mode: CBC | ECB) -> bytes:
    encryptor = Cipher(AES(key), mode).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def hashed(password: bytes, salt: bytes, user: bytes, revision: int) -> bytes:
    """ISO 32000-2, algorithm 2.B."""
    key = hashlib.sha256(password + salt + user).digest()
    if revision == 5:
        return key
    number, block = 0, b"\x00"
    while number < 64 or block[-1] > number - 32:
        block = encrypted(key[:16], (password + key + user) * 64, CBC(key[16:32]))
        key = [hashlib.sha256, hashlib.sha384, hashlib.sha512][int.from_bytes(block[:16]) % 3](block).digest()
        number += 1
    return key[:32]


def protected_pdf(user: bytes, owner: bytes, revision: int = 6) -> bytes:
    """A page under passwords; nothing on it needs to be encrypted."""
    no_vector = CBC(bytes(16))
    u = hashed(user, SALTS[:8], b"", revision) + SALTS
    ue = encrypted(hashed(user, SALTS[8:], b"", revision), FILE_KEY, no_vector)
    o = hashed(owner, SALTS[:8], u, revision) + SALTS
    oe = encrypted(hashed(owner, SALTS[8:], u, revision), FILE_KEY, no_vector)
    perms = encrypted(FILE_KEY, struct.pack("<i", -4) + b"\xff\xff\xff\xffTadb" + bytes(4), ECB())
    strings = {"O": o, "U": u, "OE": oe, "UE": ue, "Perms": perms}
    dictionary = "<< /Filter /Standard /V 5 /Length 256 /P -4 /StmF /StdCF /StrF /StdCF "
    dictionary += "/CF << /StdCF << /AuthEvent /DocOpen /CFM /AESV3 /Length 32 >> >> "
    dictionary += f"/R {revision} " + " ".join(f"/{name} <{value.hex()}>" for name, value in strings.items()) + " >>"
    whole = pdf()
    start = whole.rindex(b"xref\n0")
    body = whole[:start] + f"4 0 obj\n{dictionary}\nendobj\n".encode()
    trailer = f"trailer\n<< /Size 5 /Root 1 0 R /Encrypt 4 0 R /ID [<00><00>] >>\nstartxref\n{len(body)}\n%%EOF\n"
    entries = whole[start:].partition(b"trailer")[0].replace(b"0 4", b"0 5", 1)
    return body + entries + f"{start:010} 00000 n \n".encode() + trailer.encode()


@pytest.mark.parametrize("revision", [5, 6])
def test_a_pdf_with_an_empty_owner_password_opens_for_everybody(tmp_path: Path, revision: int) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(protected_pdf(b"user", b"", revision))
    with pypdfium2.PdfDocument(path, password="user") as document:
        assert len(document) == 1
    with pytest.raises(pypdfium2.PdfiumError, match="password"):
        pypdfium2.PdfDocument(path)
    assert pdf_pages(path) == 1


@pytest.mark.parametrize("revision", [5, 6])
def test_a_pdf_with_both_passwords_stays_closed(tmp_path: Path, revision: int) -> None:
    data = protected_pdf(b"user", b"owner", revision)
    assert open_to_all(data) is None
    (tmp_path / "x.pdf").write_bytes(data)
    with pytest.raises(DamagedFile, match="needs a password"):
        pdf_pages(tmp_path / "x.pdf")


def test_opening_changes_the_key_s_wrapping_and_nothing_else() -> None:
    data = protected_pdf(b"user", b"")
    opened = open_to_all(data)
    assert opened is not None
    changed = [position for position, pair in enumerate(zip(data, opened, strict=True)) if pair[0] != pair[1]]
    assert data.index(b"/U <") < min(changed)
    assert max(changed) < data.index(b"/Perms")


@pytest.mark.parametrize("data", [b"", pdf(), pdf_with_passwords("user", "owner"), b"/Encrypt 4 0 R /R 6"])
def test_other_documents_are_left_alone(data: bytes) -> None:
    assert open_to_all(data) is None
