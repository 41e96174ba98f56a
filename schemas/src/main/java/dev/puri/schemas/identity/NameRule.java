package dev.puri.schemas.identity;

/**
 * The rules of the grammar. The test vectors of {@code schemas/spec} use the names of the constants. The comment of
 * each constant describes a text that breaks the rule.
 */
public enum NameRule {
    /** A pURI with fewer or more than three segments. */
    SEGMENT_COUNT,
    /** A pURI with an empty segment. */
    EMPTY_SEGMENT,
    /** An unescaped ASCII character that must be percent-encoded. */
    RAW_CHARACTER,
    /** A {@code %} that is not followed by two hexadecimal digits. */
    BAD_ESCAPE,
    /** Percent-encoded bytes that are not UTF-8, or an unpaired surrogate. */
    INVALID_UTF8,
    /** A control character U+0000–U+001F or U+007F–U+009F, unescaped or percent-encoded. */
    CONTROL_CHARACTER,
    /** A segment that exceeds its maximum length in canonical form. */
    TOO_LONG,
    /** A handle that is not a prefix, an underscore and 15 characters of {@link Handle#ALPHABET}. */
    BAD_HANDLE,
    /** A prefix that is not three letters a–z. */
    BAD_PREFIX,
    /** An owner that is empty, too long, or contains a character that {@link Owner} does not allow. */
    BAD_OWNER,
    /** A shard that is empty, too long, or contains a character that {@link Shard} does not allow. */
    BAD_SHARD
}
