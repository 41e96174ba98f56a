package dev.puri.schemas.identity;

import java.nio.charset.StandardCharsets;

/**
 * A pURI, {@code namespace:collection:identifier}: one scalar name that tells whose object it is and
 * of which kind. Always in canonical form; the grammar stands in {@code schemas/spec/puri.md}.
 *
 * <p>Segments are case-insensitive in ASCII. Keys in which case counts (base64 and its kin) must be
 * encoded, in hexadecimal or base32, before they become identifiers.
 *
 * <p>Equality, hash and order are those of the canonical text.
 */
public final class Puri implements Comparable<Puri> {
    /** Most bytes of a namespace, and of a collection, in canonical form. */
    public static final int MAX_NAME_BYTES = 63;

    /** Most bytes of an identifier in canonical form. */
    public static final int MAX_IDENTIFIER_BYTES = 255;

    /** Most bytes of a whole pURI in canonical form. */
    public static final int MAX_BYTES = 2 * (MAX_NAME_BYTES + 1) + MAX_IDENTIFIER_BYTES;

    private final String text;
    private final int firstColon;
    private final int secondColon;

    /** Takes canonical text; {@link Canonicalizer} alone makes it. */
    Puri(String text, int firstColon, int secondColon) {
        this.text = text;
        this.firstColon = firstColon;
        this.secondColon = secondColon;
    }

    /**
     * Reads a pURI in any casing, with any mix of raw and percent-encoded text, into canonical form.
     *
     * @throws InvalidNameException when the text is no pURI
     */
    public static Puri parse(String text) {
        return Canonicalizer.parse(text);
    }

    /**
     * Makes a pURI of plain text: what may not stand raw in a segment is encoded, so that a natural
     * key such as {@code "a/b:c"} can be taken as it is. A {@code %} stands for itself.
     *
     * @throws InvalidNameException when a part is empty, too long, has a control character or is not
     *     well-formed Unicode
     */
    public static Puri of(String namespace, String collection, String identifier) {
        return Canonicalizer.ofPlain(namespace, collection, identifier);
    }

    /**
     * Where the identifier begins in the bytes of a pURI that is canonical and has no escape, as nearly
     * all are; for whoever reads many and needs no object of each.
     *
     * @return -1 when the bytes are anything else, a canonical pURI with escapes among it
     */
    public static int identifierOfPlain(byte[] text) {
        return identifierOfPlain(text, 0, text.length);
    }

    /** The same of text[from..to); what is returned is an index of the whole. */
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

    /** The canonical third segment, percent-encoded where it has to be. */
    public String identifier() {
        return text.substring(secondColon + 1);
    }

    /** The third segment as plain text, decoded; the inverse of {@link #of} but for ASCII case. */
    public String plainIdentifier() {
        return Canonicalizer.decode(identifier());
    }

    /** {@code namespace:collection}, the key of the collections registry. */
    public String qualifiedCollection() {
        return text.substring(0, secondColon);
    }

    /** The canonical text as bytes, which are ASCII: the Kafka key, and what partitions and hashes go by. */
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
