package dev.puri.schemas.identity;

/** The rules of the grammar, with the names used in the test vectors of {@code schemas/spec}. */
public enum NameRule {
    /** A pURI has exactly three segments. */
    SEGMENT_COUNT,
    /** No segment is empty. */
    EMPTY_SEGMENT,
    /** A raw ASCII character that must be percent-encoded. */
    RAW_CHARACTER,
    /** A {@code %} that two hexadecimal digits do not follow. */
    BAD_ESCAPE,
    /** Percent-encoded bytes, or raw text, that are not well-formed Unicode. */
    INVALID_UTF8,
    /** A control character U+0000–U+001F or U+007F–U+009F, raw or encoded. */
    CONTROL_CHARACTER,
    /** A segment longer than its limit in canonical form. */
    TOO_LONG,
    /** A handle is {@code prefix_} and 15 characters of its alphabet. */
    BAD_HANDLE,
    /** A prefix is three letters a–z. */
    BAD_PREFIX,
    /** An owner is 1 to 63 visible ASCII characters of its alphabet. */
    BAD_OWNER,
    /** A shard is 1 to 63 visible ASCII characters of its alphabet. */
    BAD_SHARD
}
