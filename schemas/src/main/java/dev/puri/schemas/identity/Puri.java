package dev.puri.schemas.identity;

import java.nio.charset.StandardCharsets;

/**
 * A pURI, {@code namespace:collection:identifier}: the scalar name of an object. An instance is always in canonical
 * form. {@code schemas/spec/puri.md} specifies the grammar.
 *
 * <p>ASCII letters of segments are case-insensitive. Case-sensitive keys, such as base64, must be encoded in
 * hexadecimal or base32 before they are used as identifiers.
 *
 * <p>Equality, hash and order are those of the canonical text.
 */
public final class Puri implements Comparable<Puri> {
    /** Maximum number of bytes of a namespace, and of a collection, in canonical form. */
    public static final int MAX_NAME_BYTES = 63;

    /** Maximum number of bytes of an identifier in canonical form. */
    public static final int MAX_IDENTIFIER_BYTES = 255;

    /** Maximum number of bytes of a pURI in canonical form. */
    public static final int MAX_BYTES = 2 * (MAX_NAME_BYTES + 1) + MAX_IDENTIFIER_BYTES;

    private final String text;
    private final int firstColon;
    private final int secondColon;

    /** Called by {@link Canonicalizer} only; the text must be canonical. */
    Puri(String text, int firstColon, int secondColon) {
        this.text = text;
        this.firstColon = firstColon;
        this.secondColon = secondColon;
    }

    /**
     * Parses a pURI in upper or lower case, with or without percent-encoded characters, and converts it to canonical
     * form.
     *
     * @throws InvalidNameException if the text is not a pURI
     */
    public static Puri parse(String text) {
        return Canonicalizer.parse(text);
    }

    /**
     * Creates a pURI from segments that are not percent-encoded. Characters that need it are percent-encoded, {@code %}
     * too, so a natural key such as {@code "a/b:c"} can be used as it is.
     *
     * @throws InvalidNameException if a segment is empty or too long, or contains a control character or an unpaired
     *     surrogate
     */
    public static Puri of(String namespace, String collection, String identifier) {
        return Canonicalizer.ofUnescaped(namespace, collection, identifier);
    }

    /**
     * Returns the index of the identifier in the bytes of a canonical pURI without escapes. It lets code read many
     * pURIs without creating objects. Most pURIs have no escapes.
     *
     * @return -1 if the bytes are not a pURI, are not canonical, or contain escapes
     */
    public static int identifierIndexIfUnescaped(byte[] text) {
        return identifierIndexIfUnescaped(text, 0, text.length);
    }

    /**
     * Like {@link #identifierIndexIfUnescaped(byte[])} for {@code text[from..to)}. The result is an index of the text.
     */
    public static int identifierIndexIfUnescaped(byte[] text, int from, int to) {
        return Canonicalizer.identifierStartOfCanonical(text, from, to);
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

    /**
     * The third segment without percent-encoding: the identifier that was passed to {@link #of}, with ASCII letters in
     * lower case.
     */
    public String plainIdentifier() {
        return Canonicalizer.decode(identifier());
    }

    /** {@code namespace:collection}: the key of the collection in {@code puri.collections.v1}. */
    public String qualifiedCollection() {
        return text.substring(0, secondColon);
    }

    /** The canonical text as ASCII bytes: the key of Kafka records, and the input of partitions and hashes. */
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
