"""pURIs, handles and UUIDv7 as schemas/spec defines them. Uses only Python's standard library."""
import re
import secrets
import time
import urllib.parse
import uuid

LIMITS = (63, 63, 255)  # bytes of namespace, collection and identifier
ALPHABET = "123456789abcdefghjkmnpqrstuvwxyz"  # of handles
PUNCTUATION = "-._~!$&'()*+,;=@"  # raw in a segment, like ASCII letters and digits
RAW = re.compile("[A-Za-z0-9" + re.escape(PUNCTUATION) + "]")
ESCAPE = re.compile("%[0-9A-Fa-f]{2}")


class InvalidName(ValueError):
    """Text that is not a pURI. rule: as in schemas/spec/puri.md; position: index of the invalid character, or None."""

    def __init__(self, text, rule, position=None):
        super().__init__(f"{text!r}: {rule}" + ("" if position is None else f" at {position}"))
        self.rule = rule
        self.position = position


def puri(namespace, collection, identifier):
    """Returns the canonical pURI of plain segments, such as a natural key. Escapes characters that need it."""
    plain = (namespace, collection, identifier)
    return ":".join(_encoded(segment, enumerate(segment), limit) for segment, limit in zip(plain, LIMITS))


def canonical(text):
    """Returns the canonical form of a pURI in any casing and with any escapes."""
    segments = text.split(":")
    if len(segments) != 3:
        raise InvalidName(text, "SEGMENT_COUNT", len(":".join(segments[:3])) if len(segments) > 3 else None)
    starts = (0, len(segments[0]) + 1, len(segments[0]) + len(segments[1]) + 2)
    return ":".join(
        _encoded(text, _decoded(text, start, start + len(segment)), limit, start)
        for segment, start, limit in zip(segments, starts, LIMITS)
    )


def handle(prefix):
    """Mints a handle of the collection with a prefix."""
    if not re.fullmatch("[a-z]{3}", prefix):
        raise ValueError(f"{prefix!r}: a prefix has three letters a-z")
    return prefix + "_" + "".join(secrets.choice(ALPHABET) for _ in range(15))


def uuid7():
    """Mints a UUIDv7: 48 bits of milliseconds since 1970, the version, the variant, 74 random bits. RFC 9562."""
    value = time.time_ns() // 1_000_000 << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def _decoded(text, start, end):
    """Yields each character of a segment with its position. Decodes escapes."""
    at = start
    while at < end:
        if text[at] == "%":
            character, width = _unescaped(text, at, end)
        elif text[at] < "\x80" and not RAW.match(text[at]) and not _is_control(text[at]):
            raise InvalidName(text, "RAW_CHARACTER", at)
        else:
            character, width = text[at], 1
        yield at, character
        at += width


def _unescaped(text, at, end):
    """Decodes the escapes of one character. Returns the character and the length of its escapes."""
    encoded = b""
    length = 1
    while len(encoded) < length:
        next_at = at + 3 * len(encoded)
        if encoded and (next_at >= end or text[next_at] != "%"):
            raise InvalidName(text, "INVALID_UTF8", at)
        escape = ESCAPE.match(text, next_at, end)
        if not escape:
            raise InvalidName(text, "BAD_ESCAPE", next_at)
        byte = int(escape[0][1:], 16)
        if encoded and not 0x80 <= byte < 0xC0:
            raise InvalidName(text, "INVALID_UTF8", at)
        if not encoded:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        encoded += bytes((byte,))
    try:
        return encoded.decode(), 3 * length
    except UnicodeDecodeError:
        raise InvalidName(text, "INVALID_UTF8", at) from None


def _encoded(text, characters, limit, start=0):
    """Returns the canonical form of a segment, from its characters with their positions in text."""
    result = ""
    for at, character in characters:
        if _is_control(character):
            raise InvalidName(text, "CONTROL_CHARACTER", at)
        if "\ud800" <= character <= "\udfff":
            raise InvalidName(text, "INVALID_UTF8", at)
        # Not str.lower(), because it also changes letters beyond ASCII.
        lowered = character.lower() if character < "\x80" else character
        result += urllib.parse.quote(lowered, safe=PUNCTUATION)
        if len(result) > limit:
            raise InvalidName(text, "TOO_LONG")
    if not result:
        raise InvalidName(text, "EMPTY_SEGMENT", start)
    return result


def _is_control(character):
    return character < "\x20" or "\x7f" <= character <= "\x9f"
