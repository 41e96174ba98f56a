package dev.puri.client.storage;

import dev.puri.client.Identifiers;
import dev.puri.client.PuriCollection;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;

/**
 * Mappings of one collection's pURIs to small columns. The column holds only the identifier; the mapping adds namespace and
 * collection. So a mapping must not change once rows are stored with it.
 *
 * <table>
 * <caption>The identifiers that each mapping represents, and the order of its column</caption>
 * <tr><th>mapping</th><th>identifiers</th><th>bytes</th><th>order of the column</th></tr>
 * <tr><td>{@link #asLong()}</td><td>decimal numbers from 0 to 2<sup>63</sup> - 1 without leading zeros</td><td>8</td>
 *     <td>of the numbers, not of the text</td></tr>
 * <tr><td>{@link #asSortableLong}</td><td>of one width, at most 13 characters of base 36, below 2<sup>63</sup></td>
 *     <td>8</td><td>of the text; for sortable identifiers that of creation</td></tr>
 * <tr><td>{@link #asUuid()}, {@link #asUuidBinary()}</td><td>uuids in lower case</td><td>16</td>
 *     <td>of the text; for UUIDv7 that of creation</td></tr>
 * <tr><td>{@link #asText()}</td><td>all</td><td>1 to 256</td><td>of the text</td></tr>
 * <tr><td>{@link #anyAsText()}</td><td>all, of all collections</td><td>6 to 385</td><td>of the text</td></tr>
 * </table>
 */
public final class PuriColumns {
    /** Number of characters of the greatest long in base 36, 1y2p0ij32e8e7. */
    public static final int MAX_SORTABLE_WIDTH = 13;

    private static final ColumnMapping<Puri, String> ANY = new ColumnMapping<>(
            "any pURI",
            null,
            Puri.class,
            ColumnType.text(Puri.MAX_BYTES),
            Codec.of(Puri::toString, text -> canonical(text, text)));

    private final String collection;

    private PuriColumns(String collection) {
        this.collection = collection;
    }

    /**
     * Begins a mapping.
     *
     * @param namespace a segment of a pURI in any casing
     * @param collection likewise
     * @throws InvalidNameException if one of them is no segment
     */
    public static PuriColumns of(String namespace, String collection) {
        return new PuriColumns(Puri.parse(namespace + ':' + collection + ":x").qualifiedCollection());
    }

    /** Begins a mapping of a collection. */
    public static PuriColumns of(PuriCollection collection) {
        return new PuriColumns(collection.qualifiedName());
    }

    /** Maps pURIs of any collection to their canonical texts. */
    public static ColumnMapping<Puri, String> anyAsText() {
        return ANY;
    }

    /**
     * Maps identifiers that are decimal numbers without leading zeros, up to 9223372036854775807. Refuses others, such as
     * {@code 007}.
     */
    public ColumnMapping<Puri, Long> asLong() {
        return mapping(
                "", ColumnType.BIGINT, Codec.of(PuriColumns::decimal, value -> Long.toString(notNegative(value))));
    }

    /**
     * Maps identifiers of one width in {@link Identifiers#BASE_36} to the numbers that they represent. The width is fixed, so that the
     * numbers have the order of the texts. Identifiers of 13 characters above {@code 1y2p0ij32e8e7} exceed a long and are refused.
     *
     * <p>{@code Identifiers.sortable(9, 4, Identifiers.BASE_36)} makes identifiers of 13 characters, which fit until the year 2144. They
     * have 36<sup>4</sup> random values in a millisecond: two processes that mint in the same millisecond collide with a probability
     * of about 1 : 840,000, and the registry refuses the second creation. The default of 20 characters does not fit into a
     * bigint; store it as text.
     *
     * @param width 1 to {@value #MAX_SORTABLE_WIDTH}
     * @throws IllegalArgumentException if the width is out of bounds
     */
    public ColumnMapping<Puri, Long> asSortableLong(int width) {
        if (width < 1 || width > MAX_SORTABLE_WIDTH) {
            throw new IllegalArgumentException("a width from 1 to " + MAX_SORTABLE_WIDTH + ", not " + width);
        }
        return mapping(
                " of " + width + " characters in base 36",
                ColumnType.BIGINT,
                Codec.of(identifier -> base36(identifier, width), value -> base36(notNegative(value), width)));
    }

    /**
     * Maps identifiers that are uuids of any version, in lower case, to a column of the type uuid. MySQL has no such type; use {@link
     * #asUuidBinary()} there.
     */
    public ColumnMapping<Puri, UUID> asUuid() {
        return mapping("", ColumnType.UUID, Codec.of(PuriColumns::uuid, UUID::toString));
    }

    /** Maps identifiers that are uuids, in lower case, to 16 bytes in the order of the digits. */
    public ColumnMapping<Puri, byte[]> asUuidBinary() {
        return mapping(
                "",
                ColumnType.binary(Bytes.UUID_BYTES),
                Codec.of(
                        identifier -> Bytes.ofUuid(uuid(identifier)),
                        bytes -> Bytes.uuid(bytes).toString()));
    }

    /** Maps all identifiers to their text in the pURI. */
    public ColumnMapping<Puri, String> asText() {
        return asText(Puri.MAX_IDENTIFIER_BYTES);
    }

    /**
     * Maps identifiers up to a length to their text in the pURI, in which an escaped character counts with its escapes.
     *
     * @param maxLength 1 to {@value Puri#MAX_IDENTIFIER_BYTES}
     * @throws IllegalArgumentException if it is out of bounds
     */
    public ColumnMapping<Puri, String> asText(int maxLength) {
        if (maxLength < 1 || maxLength > Puri.MAX_IDENTIFIER_BYTES) {
            throw new IllegalArgumentException(
                    "a length from 1 to " + Puri.MAX_IDENTIFIER_BYTES + ", not " + maxLength);
        }
        return mapping(
                "",
                ColumnType.text(maxLength),
                Codec.of(text -> within(text, maxLength), text -> within(text, maxLength)));
    }

    /**
     * @param detail part of the mapping's description that the column's type does not show
     * @param identifiers codec of the identifiers; need not check that they are canonical
     */
    private <C> ColumnMapping<Puri, C> mapping(String detail, ColumnType<C> column, Codec<String, C> identifiers) {
        return new ColumnMapping<>(
                collection + detail,
                collection,
                Puri.class,
                column,
                Codec.of(
                        name -> {
                            if (!name.qualifiedCollection().equals(collection)) {
                                throw new IllegalArgumentException("it is of another collection");
                            }
                            return identifiers.write(name.identifier());
                        },
                        value -> {
                            String identifier = identifiers.read(value);
                            return canonical(collection + ':' + identifier, identifier);
                        }));
    }

    /** Parses a text that must be canonical: two texts in a column must not be the same name. */
    private static Puri canonical(String text, String stored) {
        Puri puri = Puri.parse(text);
        if (!puri.toString().equals(text)) {
            throw new IllegalArgumentException("\"" + stored + "\" is not in canonical form");
        }
        return puri;
    }

    private static Long decimal(String identifier) {
        for (int i = 0; i < identifier.length(); i++) {
            if (identifier.charAt(i) < '0' || identifier.charAt(i) > '9') {
                throw new IllegalArgumentException(
                        "the identifier's character " + i + " is '" + identifier.charAt(i) + "', not a digit");
            }
        }
        if (identifier.charAt(0) == '0' && identifier.length() > 1) {
            throw new IllegalArgumentException("a number with leading zeros would come back without them");
        }
        try {
            return Long.valueOf(identifier);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("the number is over " + Long.MAX_VALUE, e);
        }
    }

    private static Long base36(String identifier, int width) {
        if (identifier.length() != width) {
            throw new IllegalArgumentException(
                    "the identifier has " + identifier.length() + " characters, not " + width);
        }
        long number = 0;
        for (int i = 0; i < width; i++) {
            int digit = Identifiers.BASE_36.indexOf(identifier.charAt(i));
            if (digit < 0) {
                throw new IllegalArgumentException("the identifier's character " + i + " is '" + identifier.charAt(i)
                        + "', not a digit of base 36");
            }
            if (number > (Long.MAX_VALUE - digit) / 36) {
                throw new IllegalArgumentException("the number is over " + Long.MAX_VALUE);
            }
            number = 36 * number + digit;
        }
        return number;
    }

    private static String base36(long value, int width) {
        String digits = Long.toString(value, 36);
        if (digits.length() > width) {
            throw new IllegalArgumentException("it has " + digits.length() + " digits in base 36, over " + width);
        }
        return "0".repeat(width - digits.length()) + digits;
    }

    private static UUID uuid(String identifier) {
        try {
            UUID uuid = UUID.fromString(identifier);
            if (uuid.toString().equals(identifier)) {
                return uuid;
            }
        } catch (IllegalArgumentException e) {
            // Reported below, as is a uuid that Java accepts but writes in another form.
        }
        throw new IllegalArgumentException("the identifier is no uuid of 36 characters");
    }

    private static String within(String identifier, int maxLength) {
        if (identifier.length() > maxLength) {
            throw new IllegalArgumentException(
                    "the identifier has " + identifier.length() + " characters, over " + maxLength);
        }
        return identifier;
    }

    private static long notNegative(long value) {
        if (value < 0) {
            throw new IllegalArgumentException("it is negative");
        }
        return value;
    }
}
