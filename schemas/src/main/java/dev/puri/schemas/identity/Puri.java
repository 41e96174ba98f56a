package dev.puri.schemas.identity;

import java.nio.charset.StandardCharsets;

/**
 * A pURI, {@code namespace:collection:identifier}: the scalar name of an object. Always in canonical form; {@code
 * schemas/spec/puri.md} specifies the grammar.
 *
 * <p>Segments are case-insensitive in ASCII. Case-sensitive keys, such as base64, must be encoded in hexadecimal or
 * base32 before they are used as identifiers.
 *
 * <p>Equality, hash and order are those of the canonical text.
 */
public final class Puri implements Comparable<Puri> {
    /** Maximum bytes of a namespace, and of a collection, in canonical form. */
    public static final int MAX_NAME_BYTES = 63;

    /** Maximum bytes of an identifier in canonical form. */
    public static final int MAX_IDENTIFIER_BYTES = 255;

    /** Maximum bytes of a pURI in canonical form. */
    public static final int MAX_BYTES = 2 * (MAX_NAME_BYTES + 1) + MAX_IDENTIFIER_BYTES;

    private final String text;
    private final int firstColon;
    private final int secondColon;

    /** For {@link Canonicalizer} only; the text must be canonical. */
    Puri(String text, int firstColon, int secondColon) {
        this.text = text;
        this.firstColon = firstColon;
        this.secondColon = secondColon;
    }

    /**
     * Parses a pURI in any casing, with raw and percent-encoded characters, to canonical form.
     *
     * @throws InvalidNameException if the text is not a pURI
     */
    public static Puri parse(String text) {
        return Canonicalizer.parse(text);
    }

    /**
     * Creates a pURI from plain text. Characters that are not allowed raw in a segment are encoded, so that a natural
     * key such as {@code "a/b:c"} needs no preparation. A {@code %} means itself.
     *
     * @throws InvalidNameException if a segment is empty, too long, has a control character or is not well-formed
     *     Unicode
     */
    public static Puri of(String namespace, String collection, String identifier) {
        return Canonicalizer.ofPlain(namespace, collection, identifier);
    }

    /**
     * Returns the index of the identifier in the bytes of a canonical pURI without escapes, which most are. For code
     * that reads many pURIs without creating objects.
     *
     * @return -1 if the bytes are anything else, including a canonical pURI with escapes
     */
    public static int identifierOfPlain(byte[] text) {
        return identifierOfPlain(text, 0, text.length);
    }

    /** Like {@link #identifierOfPlain(byte[])} for {@code text[from..to)}; returns an index into {@code text}. */
    public static int identifierOfPlain(byte[] text, int from, int to) {
        return Canonicalizer.identifierOfPlain(text, from, to);
    }

    /** The canonical first segment. */
    public String namespace() {
        return text.substring(0, firstColon);
    }

    /** The canonical second segment. */
    public String collection() {
        return text.substring(firstColon + 1, secondColon);
    }

    /** The canonical third segment, percent-encoded where necessary. */
    public String identifier() {
        return text.substring(secondColon + 1);
    }

    /** The index of the third segment in the canonical text, and in its bytes. */
    public int identifierIndex() {
        return secondColon + 1;
    }

    /** The third segment, decoded; the inverse of {@link #of} except for ASCII case. */
    public String plainIdentifier() {
        return Canonicalizer.decode(identifier());
    }

    /** {@code namespace:collection}, the collection's key in {@code puri.collections.v1}. */
    public String qualifiedCollection() {
        return text.substring(0, secondColon);
    }

    /** The canonical text as ASCII bytes: the Kafka key, from which partitions and hashes are computed. */
    public byte[] toBytes() {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Puri that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public int compareTo(Puri other) {
        return text.compareTo(other.text);
    }

    /** The canonical text. */
    @Override
    public String toString() {
        return text;
    }
}
