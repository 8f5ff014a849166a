"""PDFs that ask for a password although everybody is their owner.

With AES-256 a PDF holds its key twice: under the user's password and under the owner's. Where the owner's is empty,
most readers open the file without asking; PDFium tries an empty password for the user only. Storing the key under an
empty user password as well gives PDFium the file that the others see. Nothing is guessed: without the empty owner
password there is no key.
"""

import hashlib
import re

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

_REFERENCE = re.compile(rb"/Encrypt\s+(\d+)\s+(\d+)\s+R")
_NO_VECTOR = bytes(16)
#: Entries as ISO 32000-2 has them: a hash of 32 bytes, then two salts of 8; the keys of 32.
_HASHED = 48
_HASH_ROUNDS = 64


def open_to_all(data: bytes) -> bytes | None:
    """The document with its key under an empty user password; None where its owner's password is not empty, or it is
    not protected by AES-256."""
    dictionary = _encryption_dictionary(data)
    if dictionary is None or not re.search(rb"/R\s+[56]\b", dictionary):
        return None
    revision = 6 if re.search(rb"/R\s+6\b", dictionary) else 5
    entries = {name: _hexadecimal(dictionary, name) for name in (b"O", b"U", b"OE", b"UE")}
    owner, user, owner_key, user_key = (entries[name] for name in (b"O", b"U", b"OE", b"UE"))
    if owner is None or user is None or owner_key is None or user_key is None:
        return None
    user_hash = user[:_HASHED]
    if _hash(revision, owner[32:40], user_hash) != owner[:32]:
        return None
    key = _decrypt(_hash(revision, owner[40:48], user_hash), owner_key[:32])
    opened_user = _hash(revision, user[32:40]) + user[32:]
    opened_key = _encrypt(_hash(revision, user[40:48]), key) + user_key[32:]
    changed = _replaced(_replaced(dictionary, b"U", opened_user), b"UE", opened_key)
    return data.replace(dictionary, changed, 1)


def _encryption_dictionary(data: bytes) -> bytes | None:
    references = _REFERENCE.findall(data)
    if not references:
        return None
    number, generation = references[-1]
    found = re.search(rb"(?<!\d)%s\s+%s\s+obj(.*?)endobj" % (number, generation), data, re.DOTALL)
    return found.group(1) if found else None


def _entry(name: bytes) -> bytes:
    return rb"(/%s\s*<)([0-9A-Fa-f\s]*)(>)" % name


def _hexadecimal(dictionary: bytes, name: bytes) -> bytes | None:
    found = re.search(_entry(name), dictionary)
    return bytes.fromhex(found.group(2).decode("ascii")) if found and len(found.group(2)) % 2 == 0 else None


def _replaced(dictionary: bytes, name: bytes, value: bytes) -> bytes:
    """With another value of the same length: the offsets of the file stay as they are."""
    return re.sub(_entry(name), lambda found: found[1] + value.hex().encode() + found[3], dictionary, count=1)


def _hash(revision: int, salt: bytes, user_hash: bytes = b"") -> bytes:
    """Algorithm 2.B of ISO 32000-2 for the empty password; revision 5 knew its first step only."""
    key = hashlib.sha256(salt + user_hash).digest()
    if revision == 5:
        return key
    rounds = 0
    last = 0
    while rounds < _HASH_ROUNDS or last > rounds - 32:
        encrypted = _cipher(key[:16], key[16:32], (key + user_hash) * 64)
        algorithm = (hashlib.sha256, hashlib.sha384, hashlib.sha512)[sum(encrypted[:16]) % 3]
        key = algorithm(encrypted).digest()
        last = encrypted[-1]
        rounds += 1
    return key[:32]


def _cipher(key: bytes, vector: bytes, data: bytes) -> bytes:
    encryptor = Cipher(AES(key), CBC(vector)).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def _encrypt(key: bytes, data: bytes) -> bytes:
    return _cipher(key, _NO_VECTOR, data)


def _decrypt(key: bytes, data: bytes) -> bytes:
    decryptor = Cipher(AES(key), CBC(_NO_VECTOR)).decryptor()
    return decryptor.update(data) + decryptor.finalize()
