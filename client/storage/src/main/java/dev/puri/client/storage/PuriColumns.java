package dev.puri.client.storage;

import dev.puri.client.Identifiers;
import dev.puri.client.PuriCollection;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.util.UUID;

/**
 * Mappings of the pURIs of one collection to small columns. The column contains only the identifier. The mapping adds
 * namespace and collection, so the mapping of a column must not change after rows were stored. Only {@link #anyAsText}
 * maps the pURIs of all collections, and stores them whole.
 *
 * <pre>
 * mapping                  identifiers                                bytes     order of the column's values
 * asLong                   decimal numbers from 0 to 2^63 - 1         8         order of the numbers, not of the texts
 *                          without leading zeros
 * asSortableLong           texts of a fixed length up to 13, which    8         order of the texts; for sortable
 *                          are numbers in base 36 below 2^63                    identifiers the order of creation
 * asUuid, asUuidBinary     uuids in lower case                        16        order of the texts; for UUIDv7 the
 *                                                                               order of creation
 * asText                   all                                        1 to 256  order of the texts
 * anyAsText                all, of all collections                    6 to 385  order of the texts
 * </pre>
 */
public final class PuriColumns {
    /** Number of characters of 1y2p0ij32e8e7, which is the largest long in base 36. */
    public static final int MAX_SORTABLE_WIDTH = 13;

    private static final ColumnMapping<Puri, String> ANY_AS_TEXT = new ColumnMapping<>(
            "any pURI",
            null,
            Puri.class,
            ColumnType.text(Puri.MAX_BYTES),
            new Codec<>(Puri::toString, text -> parseCanonical(text, text)));

    private final String collection;

    private PuriColumns(String collection) {
        this.collection = collection;
    }

    /**
     * Returns the mappings of a collection, of which the caller chooses one.
     *
     * @param namespace first segment of the pURIs, in any case
     * @param collection second segment of the pURIs, in any case
     * @throws InvalidNameException if namespace or collection is not a valid segment
     */
    public static PuriColumns of(String namespace, String collection) {
        return new PuriColumns(Puri.parse(namespace + ':' + collection + ":x").qualifiedCollection());
    }

    /** Returns the mappings of a collection, of which the caller chooses one. */
    public static PuriColumns of(PuriCollection collection) {
        return new PuriColumns(collection.qualifiedName());
    }

    /** Maps pURIs of any collection to their canonical texts. */
    public static ColumnMapping<Puri, String> anyAsText() {
        return ANY_AS_TEXT;
    }

    /**
     * Maps identifiers that are decimal numbers without leading zeros, up to 9223372036854775807. Refuses all other
     * identifiers, such as {@code 007}.
     */
    public ColumnMapping<Puri, Long> asLong() {
        return mapping(
                "", ColumnType.BIGINT, new Codec<>(PuriColumns::decimal, value -> Long.toString(notNegative(value))));
    }

    /**
     * Maps identifiers that are numbers in {@link Identifiers#BASE_36} with a fixed number of characters to these
     * numbers. Because of the fixed number of characters, the numbers have the order of the texts. Identifiers above
     * {@code 1y2p0ij32e8e7} are refused, because they do not fit into a long.
     *
     * <p>{@code Identifiers.sortable(9, 4, Identifiers.BASE_36)} creates identifiers of 13 characters, which fit into a
     * long until the year 2144. The first identifier of a millisecond has one of 36<sup>4</sup> / 2 random values: two
     * processes that mint in the same millisecond collide with a probability of about 1 : 840,000, and the registry
     * then refuses the second creation. Two of these identifiers that a process mints in one millisecond reveal how
     * many it minted between them. The default identifiers of {@code Identifiers.sortable()} have 20 characters,
     * which do not fit into a bigint; store them as text.
     *
     * @param width number of characters, 1 to {@value #MAX_SORTABLE_WIDTH}
     * @throws IllegalArgumentException if the width is out of bounds
     */
    public ColumnMapping<Puri, Long> asSortableLong(int width) {
        if (width < 1 || width > MAX_SORTABLE_WIDTH) {
            throw new IllegalArgumentException("the width must be 1 to " + MAX_SORTABLE_WIDTH + ", not " + width);
        }
        return mapping(
                " of " + width + " characters in base 36",
                ColumnType.BIGINT,
                new Codec<>(identifier -> base36(identifier, width), value -> base36(notNegative(value), width)));
    }

    /**
     * Maps identifiers that are uuids of any version, in lower case, to a column with the type uuid. MySQL does not
     * have this type; use {@link #asUuidBinary()} for MySQL.
     */
    public ColumnMapping<Puri, UUID> asUuid() {
        return mapping("", ColumnType.UUID, new Codec<>(PuriColumns::uuid, UUID::toString));
    }

    /** Maps identifiers that are uuids, in lower case, to 16 bytes in the order of the uuid's digits. */
    public ColumnMapping<Puri, byte[]> asUuidBinary() {
        return mapping(
                "",
                ColumnType.binary(Bytes.UUID_BYTES),
                new Codec<>(
                        identifier -> Bytes.ofUuid(uuid(identifier)),
                        bytes -> Bytes.uuid(bytes).toString()));
    }

    /** Maps all identifiers to their canonical text, the third segment of the pURI. */
    public ColumnMapping<Puri, String> asText() {
        return asText(Puri.MAX_IDENTIFIER_BYTES);
    }

    /**
     * Maps identifiers up to a length to their canonical text, the third segment of the pURI.
     *
     * @param maxLength maximum number of characters of the canonical text, including escapes; 1 to {@value
     *     Puri#MAX_IDENTIFIER_BYTES}
     * @throws IllegalArgumentException if {@code maxLength} is out of bounds
     */
    public ColumnMapping<Puri, String> asText(int maxLength) {
        if (maxLength < 1 || maxLength > Puri.MAX_IDENTIFIER_BYTES) {
            throw new IllegalArgumentException(
                    "the length must be 1 to " + Puri.MAX_IDENTIFIER_BYTES + ", not " + maxLength);
        }
        return mapping(
                "",
                ColumnType.text(maxLength),
                new Codec<>(text -> requireLength(text, maxLength), text -> requireLength(text, maxLength)));
    }

    /**
     * @param detail part of the mapping's description that the column type does not include
     * @param identifiers codec of the identifiers; need not check that identifiers are canonical
     */
    private <C> ColumnMapping<Puri, C> mapping(String detail, ColumnType<C> column, Codec<String, C> identifiers) {
        return new ColumnMapping<>(
                collection + detail,
                collection,
                Puri.class,
                column,
                new Codec<>(
                        name -> {
                            if (!name.qualifiedCollection().equals(collection)) {
                                throw new IllegalArgumentException("its collection is not " + collection);
                            }
                            return identifiers.write(name.identifier());
                        },
                        value -> {
                            String identifier = identifiers.read(value);
                            return parseCanonical(collection + ':' + identifier, identifier);
                        }));
    }

    /** Parses a text that must be canonical, because two different values of a column must not be the same pURI. */
    private static Puri parseCanonical(String text, String stored) {
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
            throw new IllegalArgumentException(
                    "a number must not have leading zeros, because the column does not store them");
        }
        try {
            return Long.valueOf(identifier);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("the number is greater than " + Long.MAX_VALUE, e);
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
                throw new IllegalArgumentException("the number is greater than " + Long.MAX_VALUE);
            }
            number = 36 * number + digit;
        }
        return number;
    }

    private static String base36(long value, int width) {
        String digits = Long.toString(value, 36);
        if (digits.length() > width) {
            throw new IllegalArgumentException("it has " + digits.length() + " digits in base 36, more than " + width);
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
            // Reported below, together with uuids that Java accepts in another format.
        }
        throw new IllegalArgumentException("the identifier is not a uuid of 36 characters in lower case");
    }

    private static String requireLength(String identifier, int maxLength) {
        if (identifier.length() > maxLength) {
            throw new IllegalArgumentException(
                    "the identifier has " + identifier.length() + " characters, more than " + maxLength);
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
